package dev.quipu.testkit.scenario;

import dev.quipu.HoldReading.State;
import dev.quipu.RequestId;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The answers to callers of holds, and the values that the counters had in the store at each
 * moment. Knows nothing of the items of holds.
 */
final class HoldLedger {
  private final Map<String, List<long[]>> history = new TreeMap<>(); // {nanos, value}
  private LongSupplier nowNanos = () -> 0;
  private StoreDriver store = new MemoryDriver();

  /** A hold that a caller has asked for. */
  static final class Asked {
    final RequestId id;
    final Map<String, Long> amounts;
    boolean isLateApplied;
    int placedFirst;
    @Nullable State ended;
    long @Nullable [] kept;

    Asked(RequestId id, Map<String, Long> amounts, boolean isLateApplied) {
      this.id = id;
      this.amounts = amounts;
      this.isLateApplied = isLateApplied;
    }

    /**
     * Notes how the hold ended; returns a contradiction to an earlier answer, or null.
     *
     * @param isStale whether the answer may be older than the last one
     */
    @Nullable String endedAs(State state, long @Nullable [] deltas, boolean isStale) {
      boolean isLate = ended == State.EXPIRED && state == State.SETTLED && isLateApplied;
      boolean wasLate = ended == State.SETTLED && state == State.EXPIRED && isLateApplied;
      if (wasLate && isStale) {
        return null;
      }
      if (ended != null && !isLate && (ended != state || !Arrays.equals(kept, deltas))) {
        return "%s ended as %s %s, and as %s %s"
            .formatted(id, ended, Arrays.toString(kept), state, Arrays.toString(deltas));
      }
      ended = state;
      kept = deltas;
      return null;
    }
  }

  /** Begins to record. */
  void record(StoreDriver driver, LongSupplier now) {
    store = driver;
    nowNanos = now;
  }

  /** Returns the driver whose writes are recorded. */
  StoreDriver over(StoreDriver driver) {
    return new InterceptingDriver(
        driver,
        new InterceptingDriver.Interceptor() {
          @Override
          public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
            WriteResult result = call.get();
            history.keySet().forEach(HoldLedger.this::note);
            return result;
          }
        });
  }

  /** Records the values of a counter from now on. */
  void watch(String counter) {
    history.put(counter, new ArrayList<>());
    note(counter);
  }

  private void note(String counter) {
    List<long[]> values = history.get(counter);
    long value = value(counter);
    if (values != null && (values.isEmpty() || values.getLast()[1] != value)) {
      values.add(new long[] {nowNanos.getAsLong(), value});
    }
  }

  /** Returns the value of a counter in the store now. */
  long value(String counter) {
    return number(counter, Item.VALUE);
  }

  /** Returns a field of the item of a counter. */
  long number(String counter, String field) {
    Key key = new Key("counter/" + counter, "value");
    return store.get(key, Consistency.STRONG).map(item -> item.number(field)).orElse(0L);
  }

  /** Returns the lowest value that a counter had from a moment until now. */
  long lowestSince(String counter, long nanos) {
    long lowest = Long.MAX_VALUE;
    List<long[]> values = history.getOrDefault(counter, List.of());
    for (int i = values.size() - 1; i >= 0; i--) {
      lowest = Math.min(lowest, values.get(i)[1]);
      if (values.get(i)[0] < nanos) { // it had this value at that moment
        break;
      }
    }
    return lowest;
  }

  /** Returns the lowest value that any counter ever had. */
  long lowest() {
    return history.keySet().stream()
        .mapToLong(counter -> lowestSince(counter, Long.MIN_VALUE))
        .min()
        .orElse(0);
  }
}
