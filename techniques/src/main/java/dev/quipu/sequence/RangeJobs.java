package dev.quipu.sequence;

import dev.quipu.Limits;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.util.Map;
import java.util.Optional;

/**
 * The range jobs of a store, whose highest number and ranges are stored, so that no worker divides
 * a job differently. Thread-safe.
 *
 * <p>Stored: the item {@code plan} in the partition of the job, which is never changed.
 */
public final class RangeJobs {
  private static final String PLAN = "plan";
  private static final String LAST = "last";
  private static final String RANGES = "ranges";

  private final Store store;

  /**
   * Creates jobs on {@code store}.
   *
   * @throws IllegalArgumentException if the store has no strong reads
   */
  public RangeJobs(Store store) {
    store.profile().require(Capability.STRONG_READ);
    this.store = store;
  }

  /**
   * Opens a job, and creates it if it does not exist.
   *
   * @param last the highest number: 1 or more
   * @param ranges the number of ranges: 1 to {@link RangeJob#RANGES_MAX}
   * @throws IllegalArgumentException if an argument is outside its limits, or the job exists with
   *     other arguments
   * @throws dev.quipu.QuipuException if the outcome is unknown; repeating the call is safe
   */
  public RangeJob open(String name, long last, int ranges) {
    RangeJob job = new RangeJob(store, name, last, ranges);
    Map<String, Field> plan =
        Map.of(LAST, new Field.Number(last), RANGES, new Field.Number(job.ranges()));
    Write create = new Write.Put(key(name), plan, new Condition.Absent());
    WriteResult result =
        IdempotentRetry.result(store, "the plan of " + name, () -> store.write(create));
    if (result instanceof WriteResult.ConditionFailed failed) {
      Item found = failed.found().orElseThrow();
      if (found.number(LAST) != last || found.number(RANGES) != job.ranges()) {
        throw new IllegalArgumentException(
            "job %s exists with last %d and ranges %d; use these, or another name"
                .formatted(name, found.number(LAST), found.number(RANGES)));
      }
    }
    return job;
  }

  /** Returns a job that was opened before; empty if there is none. */
  public Optional<RangeJob> find(String name) {
    Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    return store
        .get(key(name))
        .map(plan ->
            new RangeJob(store, name, plan.number(LAST), Math.toIntExact(plan.number(RANGES))));
  }

  private static Key key(String name) {
    return new Key(RangeJob.PARTITION + name, PLAN);
  }
}
