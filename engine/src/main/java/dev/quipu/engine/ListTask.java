package dev.quipu.engine;

import dev.quipu.CounterPage;
import dev.quipu.Reading;
import dev.quipu.store.Key;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/*
 * A listing that finds little may look at much: expired counters, texts, families. So it seeks past
 * all members of a family at once, and lets others have their turn after a while. Each value is
 * that of some moment of the call.
 */

/** Lists counters by name: those that are numbers, and no members of a family. */
final class ListTask extends Task {
  /** Names that are looked at before others have their turn. */
  static final int VISITS_MAX = 4_096;

  private final String prefix;
  private final int limit;
  private final List<CounterPage.Entry> found = new ArrayList<>();
  private String from;
  private boolean isInclusive;
  private CounterPage page = new CounterPage(List.of(), Optional.empty());

  ListTask(String prefix, String after, int limit) {
    this.prefix = prefix;
    this.limit = limit;
    this.isInclusive = Key.ORDER.compare(after, prefix) < 0;
    this.from = isInclusive ? prefix : after;
  }

  CounterPage page() {
    return page;
  }

  @Override
  boolean run(State state, Group group) {
    int visits = 0;
    boolean isSought = true; // another place than the next
    while (isSought) {
      isSought = false;
      for (Map.Entry<String, Integer> each : state.counters.from(from, isInclusive).entrySet()) {
        String name = each.getKey();
        if (!name.startsWith(prefix)) {
          break;
        }
        if (found.size() == limit) {
          page = new CounterPage(found, Optional.of(found.getLast().name()));
          return true;
        }
        if (visits++ == VISITS_MAX) {
          from = name;
          isInclusive = true;
          return false;
        }
        int end = CounterTurn.familyEnd(name);
        if (end >= 0) {
          from = name.substring(0, end) + (char) (name.charAt(end) + 1);
          isInclusive = true;
          isSought = true;
          break;
        }
        add(state, name, each.getValue());
      }
    }
    page = new CounterPage(found, Optional.empty());
    return true;
  }

  private void add(State state, String name, int ordinal) {
    if (state.counters.isAlive(ordinal, state.wallMillis) && state.counters.text(ordinal) == null) {
      found.add(new CounterPage.Entry(name, Reading.exact(state.counters.value(ordinal))));
    }
  }
}
