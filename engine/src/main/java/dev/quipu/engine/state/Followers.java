package dev.quipu.engine.state;

import dev.quipu.engine.past.Recorder;
import dev.quipu.engine.threshold.Matching;
import dev.quipu.engine.threshold.Thresholds;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Those who want to know which counters changed; mostly nobody. Not thread-safe. */
public final class Followers {
  private static final ChangedCounters[] NOBODY = {};

  /** Records values before changes. */
  final Recorder history = new Recorder();

  /** Looks for thresholds that values cross. */
  final Thresholds thresholds = new Thresholds();

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
      boolean exists = counters.isWritten(ordinal) && counters.text(ordinal) == null;
      history.first(
          ordinal,
          counterName(counters, ordinal),
          exists ? counters.scale(ordinal) : Recorder.ABSENT,
          counters.value(ordinal));
    }
    for (ChangedCounters each : all) {
      each.changed(ordinal);
    }
  }

  /** Returns the name of an ordinal; null if it has none, or is a member of a family. */
  private static @Nullable String counterName(CounterTable counters, int ordinal) {
    String name = counters.name(ordinal);
    return name != null && Watches.familyEnd(name) < 0 ? name : null;
  }

  /** Records that the number of a counter is about to change. */
  void changing(CounterTable counters, int ordinal, long before, long after) {
    changing(counters, ordinal);
    if (thresholds.isOn()) {
      Matching matching = thresholds.known(ordinal);
      if (matching == null) {
        matching = thresholds.find(ordinal, counterName(counters, ordinal));
      }
      int scale = counters.scale(ordinal);
      if (matching.isCrossed(scale, before, after)) {
        String name = Objects.requireNonNull(counters.name(ordinal));
        thresholds.cross(matching, name, scale, before, after);
      }
    }
  }

  /** Returns the most bytes that {@link #log} will write. */
  public int unloggedBytes() {
    return history.unloggedBytes() + thresholds.unloggedBytes();
  }

  /** Writes what a replay of the frame could not know. */
  public void log(ByteBuffer out) {
    history.log(out);
    thresholds.log(out);
  }

  /** Records that an ordinal is no longer that of a name. */
  void forgotten(int ordinal, String name) {
    history.forgotten(ordinal);
    thresholds.forgotten(ordinal);
    for (ChangedCounters each : all) {
      each.forgotten(ordinal, name);
    }
  }
}
