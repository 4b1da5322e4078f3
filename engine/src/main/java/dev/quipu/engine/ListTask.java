package dev.quipu.engine;

import dev.quipu.CounterPage;
import dev.quipu.Reading;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.Watches;
import dev.quipu.store.Key;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.PrimitiveIterator;
import java.util.function.Consumer;

/**
 * Lists counters by name: numbers only, without members of families.
 *
 * <pre>{@code
 * A listing that returns little may visit much: expired counters, texts, families. So it seeks past
 * all members of a family at once, and yields to other calls after a number of visits. Each value
 * is read at some moment during the call.
 * }</pre>
 */
final class ListTask extends Task {
  /** Names that are visited before the task yields to others. */
  static final int VISITS_MAX = 4_096;

  private final String prefix;
  private final int limit;
  private final List<CounterPage.Entry> found = new ArrayList<>();
  private final Consumer<CounterPage.Entry> expired;
  private String from;
  private boolean isInclusive;
  private CounterPage page = new CounterPage(List.of(), Optional.empty());

  ListTask(String prefix, String after, int limit) {
    this(prefix, after, limit, each -> {});
  }

  /** Creates a listing that passes on counters that have expired and are not removed yet. */
  ListTask(String prefix, String after, int limit, Consumer<CounterPage.Entry> expired) {
    this.prefix = prefix;
    this.limit = limit;
    this.expired = expired;
    this.isInclusive = Key.ORDER.compare(after, prefix) < 0;
    this.from = isInclusive ? prefix : after;
  }

  CounterPage page() {
    return page;
  }

  @Override
  public boolean run(State state, Group group) {
    PrimitiveIterator.OfInt next = state.counters.from(from, isInclusive);
    for (int visits = 0; next.hasNext(); visits++) {
      int ordinal = next.nextInt();
      String name = state.nameOf(ordinal);
      if (!name.startsWith(prefix)) {
        break;
      }
      if (found.size() == limit) {
        page = new CounterPage(found, Optional.of(found.getLast().name()));
        return true;
      }
      if (visits == VISITS_MAX) {
        goOnAt(name);
        return false;
      }
      int end = Watches.familyEnd(name);
      if (end >= 0) {
        goOnAt(name.substring(0, end) + (char) (name.charAt(end) + 1));
        next = state.counters.from(from, isInclusive);
      } else {
        add(state, name, ordinal);
      }
    }
    page = new CounterPage(found, Optional.empty());
    return true;
  }

  private void goOnAt(String name) {
    from = name;
    isInclusive = true;
  }

  private void add(State state, String name, int ordinal) {
    if (state.counters.isWritten(ordinal) && state.counters.text(ordinal) == null) {
      long value = state.counters.value(ordinal);
      Reading reading = Reading.exact(value, state.counters.scale(ordinal));
      CounterPage.Entry entry = new CounterPage.Entry(name, reading);
      if (state.counters.isAlive(ordinal, state.wallMillis)) {
        found.add(entry);
      } else {
        expired.accept(entry);
      }
    }
  }
}
