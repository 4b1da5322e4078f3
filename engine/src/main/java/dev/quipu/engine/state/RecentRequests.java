package dev.quipu.engine.state;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.RequestId;
import dev.quipu.backend.RecentRequest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The last requests with ids that were answered since the start, of all counters together: for
 * people who look at a counter. Not thread-safe.
 *
 * <p>An applied one is kept as numbers, with the ordinal of its counter, which is not given to
 * another one while the id is remembered. Others are kept with the name: nothing remembers them.
 */
public final class RecentRequests {
  /** How many are kept: 250 KiB, and the adds that did not apply. */
  static final int SIZE = 1 << 12;

  private static final int STRIDE = 5;

  private final long[] numbers = new long[SIZE * STRIDE]; // id, delta, value, time
  private final int[] ordinals = new int[SIZE];
  private final @Nullable Add[] adds = new @Nullable Add[SIZE];
  private final @Nullable AddResult[] results = new @Nullable AddResult[SIZE];
  private long count;

  /** Notes an add that was applied. */
  public void applied(int ordinal, long high, long low, long delta, long value, long wallMillis) {
    int slot = next(wallMillis);
    int at = slot * STRIDE;
    numbers[at] = high;
    numbers[at + 1] = low;
    numbers[at + 2] = delta;
    numbers[at + 3] = value;
    ordinals[slot] = ordinal;
    adds[slot] = null;
    results[slot] = null;
  }

  /** Notes an add that was rejected or repeated, if it has an id. */
  public AddResult answered(Add add, AddResult result, long wallMillis) {
    if (add.id() != null) {
      int slot = next(wallMillis);
      adds[slot] = add;
      results[slot] = result;
    }
    return result;
  }

  private int next(long wallMillis) {
    int slot = (int) (count++ & (SIZE - 1));
    numbers[slot * STRIDE + 4] = wallMillis;
    return slot;
  }

  /** Whether an id of a counter is remembered. */
  public interface Memory {
    boolean has(long high, long low);
  }

  /**
   * Returns the last requests to a counter, the newest first.
   *
   * @param memory decides which of the ordinal are of this counter: it may have been another's
   */
  public List<RecentRequest> of(String counter, int ordinal, int scale, int limit, Memory memory) {
    List<RecentRequest> found = new ArrayList<>();
    for (long i = count - 1; i >= Math.max(0, count - SIZE) && found.size() < limit; i--) {
      int slot = (int) (i & (SIZE - 1));
      int at = slot * STRIDE;
      Instant time = Instant.ofEpochMilli(numbers[at + 4]);
      Add add = adds[slot];
      if (add != null && add.counter().equals(counter)) {
        RequestId id = Objects.requireNonNull(add.id());
        AddResult result = Objects.requireNonNull(results[slot]);
        found.add(new RecentRequest(id, add.delta(), Math.max(0, add.scale()), result, time));
      } else if (add == null
          && ordinals[slot] == ordinal
          && memory.has(numbers[at], numbers[at + 1])) {
        RequestId id = RequestId.of(numbers[at], numbers[at + 1]);
        long delta = numbers[at + 2];
        OptionalLong value = OptionalLong.of(numbers[at + 3]);
        AddResult result = new AddResult.Applied(delta, value, scale);
        found.add(new RecentRequest(id, delta, scale, result, time));
      }
    }
    return found;
  }
}
