package dev.quipu.engine.state;

import dev.quipu.engine.past.Recorder;
import java.util.Arrays;

/** Those who want to know which counters changed; mostly nobody. Not thread-safe. */
public final class Followers {
  private static final ChangedCounters[] NOBODY = {};

  /** Records values before changes. */
  final Recorder history = new Recorder();

  private ChangedCounters[] all = NOBODY;

  public void add(ChangedCounters follower) {
    ChangedCounters[] more = Arrays.copyOf(all, all.length + 1);
    more[all.length] = follower;
    all = more;
  }

  public void remove(ChangedCounters follower) {
    all = Arrays.stream(all).filter(each -> each != follower).toArray(ChangedCounters[]::new);
  }

  /** Records that a counter is about to change. */
  void changing(CounterTable counters, int ordinal) {
    if (history.isNew(ordinal)) {
      String name = counters.name(ordinal);
      boolean isCounter = name != null && Watches.familyEnd(name) < 0;
      boolean exists = counters.isWritten(ordinal) && counters.text(ordinal) == null;
      history.first(
          ordinal,
          isCounter ? name : null,
          exists ? counters.scale(ordinal) : Recorder.ABSENT,
          counters.value(ordinal));
    }
    for (ChangedCounters each : all) {
      each.changed(ordinal);
    }
  }

  /** Records that an ordinal is no longer that of a name. */
  void forgotten(int ordinal, String name) {
    history.forgotten(ordinal);
    for (ChangedCounters each : all) {
      each.forgotten(ordinal, name);
    }
  }
}
