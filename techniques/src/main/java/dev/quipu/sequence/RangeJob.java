package dev.quipu.sequence;

import dev.quipu.Limits;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.lock.Locks;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * RANGE JOB
 *
 * Problem. Numbered records 1..N are to be worked through by many workers at once. Workers die, and
 * each record must be processed once.
 *
 * Stored. For each range of numbers, how far it is: the next number to process. A lock for each, so
 * that two workers do not do the same for nothing.
 *
 * Protocol.
 *   1. Take the lock of a range that is not done.
 *   2. Process its next record: whatever that writes to the store, and the step to the number
 *      behind, in one transaction, if the range is still at this number.
 *   3. It was not: another is ahead. Leave the range.
 *   4. Unknown: read how far the range is. It is behind the number: the transaction was applied.
 *      Else send the same again.
 *   Where the store has no transactions, processing must be harmless to repeat under the number's
 *   request id, and comes before the step.
 *
 * Why it is right. A number is passed once, by a write on condition that it is the next: what is
 * written with it is written once. The lock spares work; nothing rests on it.
 *
 * Crash table.
 *   | broken off       | stored                  | then                                 |
 *   | before 2         | nothing of this record  | the lease ends, another goes on      |
 *   | reply to 2 lost  | the record is processed | 4                                    |
 *
 * Cost. One write for each range that is taken, one transaction for each record.
 *
 * Source. "Sequence numbers for records without a counter" (App Engine), ranges for parallel tasks.
 */

/** Works through numbers 1..N in ranges, each number once. Thread-safe. */
public final class RangeJob {
  /** Most ranges of a job. */
  public static final int RANGES_MAX = 10_000;

  private static final Logger LOGGER = LoggerFactory.getLogger(RangeJob.class);
  private static final String PARTITION = "job/";
  private static final String NEXT = "next";

  private final Store store;
  private final Locks locks;
  private final RandomGenerator random;
  private final String name;
  private final long last;
  private final int ranges;

  /**
   * A job; all workers give the same.
   *
   * @param last the highest number: 1 or more
   * @param ranges into how many ranges it is divided: 1 to {@link #RANGES_MAX}
   * @throws IllegalArgumentException if it is outside the limits, or the store has no strong reads
   */
  public RangeJob(Store store, String name, long last, int ranges) {
    this(store, Randomness.secure(), name, last, ranges);
  }

  /** As {@link #RangeJob(Store, String, long, int)}, with the caller's chance. */
  public RangeJob(Store store, RandomGenerator random, String name, long last, int ranges) {
    store.profile().require(Capability.STRONG_READ);
    Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    if (last < 1 || ranges < 1 || ranges > RANGES_MAX) {
      throw new IllegalArgumentException(
          "last is %d, the least is 1; ranges is %d, the limits are 1 and %d"
              .formatted(last, ranges, RANGES_MAX));
    }
    this.store = store;
    this.locks = new Locks(store, random);
    this.random = random;
    this.name = name;
    this.last = last;
    this.ranges = (int) Math.min(ranges, last);
  }

  /** A range of numbers that this worker works through. Not thread-safe. */
  public final class Task implements AutoCloseable {
    private final int range;
    private final Locks.Lease lease;
    private long next;

    private Task(int range, Locks.Lease lease, long next) {
      this.range = range;
      this.lease = lease;
      this.next = next;
    }

    /** The number to process; empty if the range is done. */
    public OptionalLong next() {
      return next > end(range) ? OptionalLong.empty() : OptionalLong.of(next);
    }

    /** The id of the request to process the next number: the same for every worker. */
    public RequestId request() {
      return RequestId.of("%s %d".formatted(RequestId.of(name).bits(), next));
    }

    /**
     * The next number is processed.
     *
     * @param effects what processing it writes, under no condition of theirs; needs a store with
     *     transactions over all items, unless there are none
     * @return whether to go on; if not, another worker is ahead, and this number was its
     * @throws QuipuException if the outcome is not known; calling again with the same is harmless
     */
    public boolean done(List<Write> effects) {
      if (!effects.isEmpty() && store.profile().atomicity() != Atomicity.STORE) {
        throw store.profile().lacks(Capability.ATOMIC_BATCH);
      }
      Write step = step(range, next);
      List<Write> all = new ArrayList<>(List.of(step));
      all.addAll(effects);
      boolean isLost = false;
      RetryPolicy.Attempts attempts = store.attempts();
      while (true) {
        try {
          WriteResult result = effects.isEmpty() ? store.write(step) : store.writeAll(all, null);
          boolean isPassed =
              !(result instanceof WriteResult.ConditionFailed failed)
                  || (isLost && isJustBehind(failed));
          next += isPassed ? 1 : 0;
          return isPassed;
        } catch (QuipuException e) {
          isLost |= e.outcome() == Outcome.UNKNOWN;
          if (!e.reason().isTemporary() || !attempts.again()) {
            throw isLost ? new OutcomeUnknownException(e.reason(), "number " + next, e) : e;
          }
        }
      }
    }

    /** Whether the range is just behind this number: by this call, whose reply was lost. */
    private boolean isJustBehind(WriteResult.ConditionFailed failed) {
      return failed.found().map(item -> item.number(NEXT) == next + 1).orElse(false);
    }

    /** Lets others have the range. */
    @Override
    public void close() {
      try {
        locks.release(lease);
      } catch (QuipuException e) {
        LOGGER.debug("a range stays locked until its lease ends", e);
      }
    }
  }

  /**
   * A range that is not done and that nobody has.
   *
   * @param lease how long others leave it alone: longer than a range takes
   * @return empty if there is none now; {@link #isDone} tells whether there will be
   */
  public Optional<Task> take(Duration lease) {
    int first = random.nextInt(ranges);
    for (int i = 0; i < ranges; i++) {
      int range = (first + i) % ranges;
      if (next(range) <= end(range)) {
        Optional<Locks.Lease> held = locks.acquire(lockName(range), lease);
        if (held.isPresent()) {
          return Optional.of(new Task(range, held.get(), next(range)));
        }
      }
    }
    return Optional.empty();
  }

  /** Whether every number is processed. */
  public boolean isDone() {
    return processed() == last;
  }

  /** How many numbers are processed. */
  public long processed() {
    long sum = 0;
    for (int range = 0; range < ranges; range++) {
      sum += next(range) - begin(range);
    }
    return sum;
  }

  private String lockName(int range) {
    return "job %s %d".formatted(RequestId.of(name).bits(), range);
  }

  /** Ranges differ by one number at most. */
  private long begin(int range) {
    long size = last / ranges;
    return 1 + range * size + Math.min(range, last % ranges);
  }

  private long end(int range) {
    return begin(range + 1) - 1;
  }

  private Key key(int range) {
    return new Key(PARTITION + name, "%06d".formatted(range));
  }

  private long next(int range) {
    return store
        .get(key(range), Consistency.STRONG)
        .map(item -> item.number(NEXT))
        .orElse(begin(range));
  }

  private Write step(int range, long number) {
    Condition isNext =
        number == begin(range)
            ? new Condition.Absent()
            : new Condition.FieldIs(NEXT, new Field.Number(number));
    Map<String, Field> fields = Map.of(NEXT, new Field.Number(number + 1));
    return new Write.Put(key(range), fields, Optional.empty(), isNext);
  }
}
