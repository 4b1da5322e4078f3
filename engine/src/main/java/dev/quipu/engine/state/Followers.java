package dev.quipu.engine.state;

import java.util.Arrays;

/** Those who want to know which counters changed; mostly nobody. Not thread-safe. */
public final class Followers {
  private static final ChangedCounters[] NOBODY = {};

  private ChangedCounters[] all = NOBODY;

  public void add(ChangedCounters follower) {
    ChangedCounters[] more = Arrays.copyOf(all, all.length + 1);
    more[all.length] = follower;
    all = more;
  }

  public void remove(ChangedCounters follower) {
    all = Arrays.stream(all).filter(each -> each != follower).toArray(ChangedCounters[]::new);
  }

  /** Records a change of a counter. */
  void changed(int ordinal) {
    for (ChangedCounters each : all) {
      each.changed(ordinal);
    }
  }

  /** Records that an ordinal is no longer that of a name. */
  void forgotten(int ordinal, String name) {
    for (ChangedCounters each : all) {
      each.forgotten(ordinal, name);
    }
  }
}
