package dev.quipu.engine;

import dev.quipu.CounterPage;
import dev.quipu.Reading;
import dev.quipu.store.Key;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Lists counters by name: those that are numbers, and no members of a family. */
final class ListTask extends Task {
  private final String prefix;
  private final String after;
  private final int limit;
  private CounterPage page = new CounterPage(List.of(), Optional.empty());

  ListTask(String prefix, String after, int limit) {
    this.prefix = prefix;
    this.after = after;
    this.limit = limit;
  }

  CounterPage page() {
    return page;
  }

  @Override
  boolean run(State state, Group group) {
    boolean fromPrefix = Key.ORDER.compare(after, prefix) < 0;
    Map<String, Integer> names = state.counters.from(fromPrefix ? prefix : after, fromPrefix);
    List<CounterPage.Entry> found = new ArrayList<>();
    for (Map.Entry<String, Integer> each : names.entrySet()) {
      if (!each.getKey().startsWith(prefix)) {
        break;
      }
      if (found.size() == limit) {
        page = new CounterPage(found, Optional.of(found.getLast().name()));
        return true;
      }
      if (!state.counters.isAlive(each.getValue(), state.wallMillis)
          || state.counters.text(each.getValue()) != null
          || CounterTurn.isMember(each.getKey())) {
        continue;
      }
      long value = state.counters.value(each.getValue());
      found.add(new CounterPage.Entry(each.getKey(), Reading.exact(value)));
    }
    page = new CounterPage(found, Optional.empty());
    return true;
  }
}
