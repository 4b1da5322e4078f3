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
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes the numbers 1..N in ranges, each number exactly once. Thread-safe.
 *
 * <pre>{@code
 * RANGE JOB
 *
 * Problem. Numbered records 1..N must be processed by many workers in parallel. Workers die, and
 * each record must be processed exactly once.
 *
 * Stored. Each range of numbers has an item with its progress: the next number to process. Each
 * range also has a lock, so that two workers do not process the same range.
 *
 * Protocol.
 *   1. Acquire the lock of a range that is not done.
 *   2. Process its next record: in one transaction, apply the writes of the processing and advance
 *      the progress to the following number, under the condition that the range is still at this
 *      number.
 *   3. If the condition failed, another worker is ahead. Leave the range.
 *   4. If the outcome is unknown, send the same transaction again. If its condition fails now, and
 *      the range is at the following number, the number has been processed: continue with that one.
 *   On a store without transactions, the processing must be idempotent under the request id of the
 *   number, and is done before the progress is advanced.
 *
 * Why it is correct. A number is passed exactly once, by a write under the condition that it is the
 * next: so the writes in that transaction are applied exactly once. The lock only saves work;
 * correctness does not depend on it.
 *
 * Crash table.
 *   | crash           | stored                  | then                                     |
 *   | before 2        | nothing of this record  | the lease ends, another worker continues |
 *   | reply to 2 lost | the record is processed | 4                                        |
 *
 * Cost. Acquiring a range and releasing it each take one write; processing a record takes one
 * transaction.
 *
 * Source. "Sequence numbers for records without a counter" (App Engine), ranges for parallel tasks.
 * }</pre>
 */
public final class RangeJob {
  /** Maximum number of ranges of a job. */
  public static final int RANGES_MAX = 10_000;

  private static final Logger LOGGER = LoggerFactory.getLogger(RangeJob.class);
  private static final Pattern HANDLE = Pattern.compile("([0-9]{1,5}) ([0-9]{1,18}) ([!-~]{1,64})");
  static final String PARTITION = "job/";
  private static final String NEXT = "next";

  private final Store store;
  private final Locks locks;
  private final RandomGenerator random;
  private final String name;
  private final long last;
  private final int ranges;

  /**
   * Creates a job; all workers use the same arguments.
   *
   * @param last the highest number: 1 or more
   * @param ranges the number of ranges: 1 to {@link #RANGES_MAX}
   * @throws IllegalArgumentException if an argument is outside its limits, or the store has no
   *     strong reads
   */
  public RangeJob(Store store, String name, long last, int ranges) {
    this(store, Randomness.secure(), name, last, ranges);
  }

  /** Creates a job with the given source of randomness. */
  public RangeJob(Store store, RandomGenerator random, String name, long last, int ranges) {
    store.profile().require(Capability.STRONG_READ);
    Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    if (last < 1 || ranges < 1 || ranges > RANGES_MAX) {
      throw new IllegalArgumentException(
          "last is %d and ranges is %d; last must be 1 or more, ranges from 1 to %d"
              .formatted(last, ranges, RANGES_MAX));
    }
    this.store = store;
    this.locks = new Locks(store, random);
    this.random = random;
    this.name = name;
    this.last = last;
    this.ranges = (int) Math.min(ranges, last);
  }

  /** A range of numbers that this worker processes. Not thread-safe. */
  public final class Task implements AutoCloseable {
    private final int range;
    private final Locks.Lease lease;
    private long next;

    private Task(int range, Locks.Lease lease, long next) {
      this.range = range;
      this.lease = lease;
      this.next = next;
    }

    /** Returns the number to process; empty if the range is done. */
    public OptionalLong next() {
      return next > end(range) ? OptionalLong.empty() : OptionalLong.of(next);
    }

    /**
     * Returns the request id for processing the next number, which is the same for every worker.
     */
    public RequestId request() {
      return RequestId.of("%s %d".formatted(RequestId.of(name).bits(), next));
    }

    /**
     * Marks the next number as processed.
     *
     * @param effects the writes of the processing, without conditions; unless empty, they need a
     *     store with transactions over all items
     * @return whether to continue; if not, another worker is ahead and has processed this number
     * @throws QuipuException if the outcome is unknown; repeating the call is safe
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

    /**
     * Returns whether the range is at the following number because of this call, whose reply was
     * lost.
     */
    private boolean isJustBehind(WriteResult.ConditionFailed failed) {
      return failed.found().map(item -> item.number(NEXT) == next + 1).orElse(false);
    }

    /** Renews the lease; returns false if the range was lost to another worker. */
    public boolean renew(Duration length) {
      return locks.renew(lease, length).isPresent();
    }

    /** Returns the highest number of the range. */
    public long last() {
      return end(range);
    }

    /** Returns a text with which {@link RangeJob#resume} continues this task in any process. */
    public String handle() {
      return "%d %d %s".formatted(range, lease.fence(), lease.owner());
    }

    /** Releases the range. */
    @Override
    public void close() {
      try {
        locks.release(lease);
      } catch (QuipuException e) {
        LOGGER.debug("Range not released; it stays locked until its lease ends", e);
      }
    }
  }

  /**
   * Takes a range that is neither done nor taken.
   *
   * @param lease how long the range is reserved: longer than it takes to process
   * @return empty if there is none now; {@link #isDone} returns whether the job has ended
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

  /**
   * Continues a task, at the next number of its range. It may have lost the range, as any task
   * whose lease has ended.
   *
   * @param handle of {@link Task#handle}
   * @throws IllegalArgumentException if the handle is malformed
   */
  public Task resume(String handle) {
    Matcher parts = HANDLE.matcher(handle);
    if (!parts.matches() || Integer.parseInt(parts.group(1)) >= ranges) {
      throw new IllegalArgumentException(
          "malformed task '%s' of job %s; use the task that was taken".formatted(handle, name));
    }
    int range = Integer.parseInt(parts.group(1));
    long fence = Long.parseLong(parts.group(2));
    // The end of the lease is not needed: a release compares the owner and the fencing token.
    Locks.Lease lease = new Locks.Lease(lockName(range), parts.group(3), fence, Instant.EPOCH);
    return new Task(range, lease, next(range));
  }

  private String lockName(int range) {
    return "job %s %d".formatted(RequestId.of(name).bits(), range);
  }

  /** Returns the highest number of the job. */
  public long last() {
    return last;
  }

  /** Returns the number of ranges, at most one for each number. */
  public int ranges() {
    return ranges;
  }

  /** Returns whether every number is processed. */
  public boolean isDone() {
    return processed() == last;
  }

  /** Returns the number of processed numbers. */
  public long processed() {
    return IntStream.range(0, ranges).mapToLong(range -> next(range) - begin(range)).sum();
  }

  /** Returns the first number of a range. The sizes of ranges differ by one at most. */
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
    return store.get(key(range)).map(item -> item.number(NEXT)).orElse(begin(range));
  }

  private Write step(int range, long number) {
    Condition isNext =
        number == begin(range)
            ? new Condition.Absent()
            : new Condition.FieldIs(NEXT, new Field.Number(number));
    Map<String, Field> fields = Map.of(NEXT, new Field.Number(number + 1));
    return new Write.Put(key(range), fields, isNext);
  }
}
