package dev.quipu.record;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.CounterItems;
import dev.quipu.time.Periodic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Two processes that count on one store by different techniques, or within different bounds, each
 * keep their own promises and break those of the other. So the store itself says how it is counted
 * on, in one item, the record. A process reads it before its first write, and again every
 * INTERVAL. It writes only until LEASE after it began to read the record and found that it agrees.
 *
 * Protocol
 *   1. Read the record. If it is there, compare: go on, or stop writing.
 *   2. If it is not, and the store holds counters, stop: unknown how they were counted.
 *   3. Else write the record if there still is none, and read it again: of two processes that
 *      begin at once, one wrote it, and the other compares.
 *   Over regions, 2 also asks the replica of each other region, before and after 3: the record is
 *   an item like others, so it comes to all replicas, but later. A replica gets its first record
 *   only if another has an equal one, or if all of them answer that they have none.
 *
 * To change the record under processes that may run, adopt() puts one in its place that agrees
 * with none, waits until every lease has ended and what was sent under it has ended too, and then
 * writes the new one. If it dies in between, nothing is written to the store until it is repeated.
 *
 * | crash, loss | then |
 * |---|---|
 * | before or after the record is written | the next start compares, or writes it |
 * | the record cannot be read for LEASE | writes are rejected, not applied, until it can |
 * | the store loses all it holds | it is empty: the record is written again, and that is logged |
 * | a record alone is lost | writes are rejected: the store holds counters and no record |
 *
 * Not covered: a write that is under way for longer than PATIENCE when its lease ends; a machine
 * that is suspended while its monotonic clock stands still; a store without an order (memcached),
 * which cannot say that it holds counters, and is taken for empty; over regions, a replica that the
 * record of adopt() has not reached when the wait ends: stop the servers first.
 *
 * Cost: one read every INTERVAL and process.
 */

/**
 * Rejects writes to a store whose record says something else than the process was started with, or
 * could not be read lately. Thread-safe.
 */
public final class RecordGuard implements AutoCloseable {
  /** How long a process may write after it began to read the record. */
  public static final Duration LEASE = Duration.ofSeconds(15);

  /** Time between two reads of the record. */
  public static final Duration INTERVAL = Duration.ofSeconds(1);

  /** Longest time that a write is assumed to be under way. */
  public static final Duration PATIENCE = Duration.ofSeconds(15);

  private static final String REPLACING = "(being replaced by quipu adopt)";
  private static final Logger LOGGER = LoggerFactory.getLogger(RecordGuard.class);

  private final Store store;
  private final Map<String, Store> others;
  private final StoreRecord record;
  private final String adopt;
  private volatile @Nullable String disagreement;
  private volatile long untilNanos;
  private @Nullable Periodic running;
  private String said = "";

  /**
   * Creates a guard that has not read the record, and so rejects all writes.
   *
   * @param store read and written without the guard
   * @param record what the process was started with
   * @param adopt the command that makes {@code record} the store's, for messages
   */
  public RecordGuard(Store store, StoreRecord record, String adopt) {
    this(store, Map.of(), record, adopt);
  }

  /**
   * Creates a guard in one of several regions.
   *
   * @param others the replicas of the other regions, by name
   */
  public RecordGuard(Store store, Map<String, Store> others, StoreRecord record, String adopt) {
    this.store = store;
    this.others = Map.copyOf(others);
    this.record = record;
    this.adopt = adopt;
    this.untilNanos = store.clock().nanoTime() - 1;
  }

  /**
   * Reads the record, writes it if the store is empty, and lets writes through if it agrees.
   *
   * @return why they are rejected; empty if they are not
   * @throws QuipuException if that could not be found out; a lease that runs goes on
   */
  public Optional<String> check() {
    long begin = store.clock().nanoTime();
    Optional<String> found = find();
    disagreement = found.orElse(null);
    if (found.isEmpty()) {
      untilNanos = begin + LEASE.toNanos();
    }
    return found;
  }

  /**
   * Reads the record, and writes none: for a process that may yet fail to start. Lets writes
   * through if there is one and it agrees; if the store is empty, only {@link #check} does.
   *
   * @return why they are rejected; empty if they are not, or will not be
   * @throws QuipuException if that could not be found out
   */
  public Optional<String> compare() {
    long begin = store.clock().nanoTime();
    Optional<Item> found = store.get(StoreRecord.KEY, Consistency.STRONG);
    if (found.isEmpty()) {
      return withoutRecord();
    }
    Optional<String> differs = compared(found.get(), "the store");
    if (differs.isEmpty()) {
      untilNanos = begin + LEASE.toNanos();
    }
    return differs;
  }

  /** Begins to check every {@link #INTERVAL}. What it finds is logged once. */
  public void start() {
    running = new Periodic("quipu-record", INTERVAL, this::round);
  }

  private void round() {
    try {
      Optional<String> wrong = check();
      say(wrong.map(why -> "Writes are rejected: " + why).orElse(""));
    } catch (QuipuException e) {
      say("Store record cannot be read; retrying: " + e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("Store record could not be checked; retrying", e);
    }
  }

  /** Once, not each second. */
  private void say(String now) {
    if (!now.equals(said)) {
      if (now.isEmpty()) {
        LOGGER.info("Store record agrees");
      } else {
        LOGGER.warn(now);
      }
    }
    said = now;
  }

  private Optional<String> find() {
    Optional<Item> found = store.get(StoreRecord.KEY, Consistency.STRONG);
    if (found.isPresent()) {
      return compared(found.get(), "the store");
    }
    return withoutRecord().or(this::found);
  }

  /** Why the first record must not be written; empty if it may. */
  private Optional<String> withoutRecord() {
    if (CounterItems.areIn(store)) {
      return Optional.of(
          "the store holds counters and has no record of how they are counted. If this process is"
              + " configured as those that counted so far, run: "
              + adopt);
    }
    return elsewhere();
  }

  private Optional<String> found() {
    try {
      if (store.write(put(record.fields(), new Condition.Absent()))
          instanceof WriteResult.Applied) {
        LOGGER.atInfo().addKeyValue("record", record).log("Store is empty; record written");
      }
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        throw e;
      } // else it is read whether it was written
    }
    Optional<Item> found = store.get(StoreRecord.KEY, Consistency.STRONG);
    if (found.isEmpty()) {
      throw new NotAppliedException(
          Reason.UNAVAILABLE, "the record of the store was written, and is not there");
    }
    return compared(found.get(), "the store").or(this::elsewhere);
  }

  private Optional<String> compared(Item found, String where) {
    List<String> differences = record.differences(found);
    if (differences.isEmpty()) {
      return Optional.empty();
    }
    if (found.text("technique").orElse("").equals(REPLACING)) {
      return Optional.of(
          "the record of %s is being replaced by quipu adopt; wait until that has ended. If it was"
                  .formatted(where)
              + " interrupted, run it again");
    }
    String remedy =
        record.dropsBounds(found)
            ? ". To adopt the options of this process would drop the bounds of the record"
            : "; or, if that is wrong, stop all servers of the store and run: " + adopt;
    return Optional.of(
        "this process is not configured as the record of %s says: %s. Start it with the values of"
                .formatted(where, String.join("; ", differences))
            + " the record"
            + StoreRecord.options(found)
            + remedy);
  }

  /** Why the first record must not be written to this region; empty if it may. */
  private Optional<String> elsewhere() {
    List<String> silent = new ArrayList<>();
    boolean isKnown = false;
    for (Map.Entry<String, Store> each : others.entrySet()) {
      Optional<Item> there;
      try {
        there = each.getValue().get(StoreRecord.KEY, Consistency.STRONG);
      } catch (QuipuException e) {
        silent.add("%s (%s)".formatted(each.getKey(), e.getMessage()));
        continue;
      }
      if (there.isPresent()) {
        isKnown = true;
        Optional<String> differs = compared(there.get(), "region " + each.getKey());
        if (differs.isPresent()) {
          return differs;
        }
      }
    }
    if (isKnown || silent.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        "the store of this region has no record, no other region has shown one, and these do not"
            + " answer: %s. Start it when they do".formatted(String.join(", ", silent)));
  }

  /**
   * Passes while the process may write.
   *
   * @throws QuipuException if it may not; nothing was written
   */
  void requireMayWrite() {
    Optional<String> why = impediment();
    if (why.isPresent()) {
      boolean isFinal = disagreement != null;
      throw new NotAppliedException(isFinal ? Reason.DENIED : Reason.UNAVAILABLE, why.get());
    }
  }

  /** Why writes are rejected now; empty if they are not. */
  public Optional<String> impediment() {
    String wrong = disagreement;
    if (wrong != null) {
      return Optional.of("writes are rejected: " + wrong);
    }
    if (store.clock().nanoTime() - untilNanos < 0) {
      return Optional.empty();
    }
    return Optional.of(
        "writes are rejected: the record of the store was not read for %d s, which is the limit;"
                .formatted(LEASE.toSeconds())
            + " they go on when it can be read");
  }

  /** A driver that rejects writes when this does. It must be closed before the other is. */
  public StoreDriver over(StoreDriver driver) {
    return new GuardedDriver(driver, this);
  }

  /**
   * Makes a record that of a store, whatever is stored there. If it replaces another, this waits
   * until no process writes under that: {@link #LEASE} and {@link #PATIENCE}.
   *
   * @return the record that was there, as text; empty if there was none
   * @throws QuipuException if that is not done, or not known to be: repeat it
   */
  public static Optional<String> adopt(Store store, StoreRecord record)
      throws InterruptedException {
    Optional<Item> before = store.get(StoreRecord.KEY, Consistency.STRONG);
    if (before.isEmpty()) {
      require(store.write(put(record.fields(), new Condition.Absent())));
      return Optional.empty();
    }
    String old = record.text(before.get());
    if (record.differences(before.get()).isEmpty()) {
      return Optional.of(old);
    }
    StoreRecord none = new StoreRecord(REPLACING, Optional.empty(), 1, record.bounds(), List.of());
    require(store.write(put(none.fields(), Condition.unchanged(before))));
    Optional<Item> between = store.get(StoreRecord.KEY, Consistency.STRONG);
    store.clock().sleep(LEASE.plus(PATIENCE));
    require(store.write(put(record.fields(), Condition.unchanged(between))));
    return Optional.of(old);
  }

  private static void require(WriteResult result) {
    if (!(result instanceof WriteResult.Applied)) {
      throw new NotAppliedException(
          Reason.THROTTLED, "another process changed the record of the store; run it again");
    }
  }

  private static Write put(Map<String, Field> fields, Condition condition) {
    return new Write.Put(StoreRecord.KEY, fields, Optional.empty(), condition);
  }

  /**
   * Rejects to count on a store whose record says something else than {@code record}, for a process
   * that keeps no guard. The window may differ. A store without a record is not rejected.
   *
   * @throws IllegalArgumentException if it says something else
   */
  public static void require(Store store, StoreRecord record) {
    Optional<Item> found = store.get(StoreRecord.KEY, Consistency.STRONG);
    List<String> differences = found.map(record::differencesBesideWindow).orElseGet(List::of);
    if (!differences.isEmpty()) {
      throw new IllegalArgumentException(
          "this process would not count as the record of the store says: "
              + String.join("; ", differences));
    }
  }

  /**
   * Rejects a replica of several regions, for a process that writes items which two regions would
   * write both.
   *
   * @throws IllegalArgumentException if its record says that it is one
   */
  public static void requireOneRegion(Store store) {
    store
        .get(StoreRecord.KEY, Consistency.STRONG)
        .flatMap(found -> found.text("technique"))
        .filter(StoreRecord.REGIONAL::equals)
        .ifPresent(technique -> {
          throw new IllegalArgumentException(
              "the record of the store says that it is the replica of one of several regions, where"
                  + " only counters are kept");
        });
  }

  @Override
  public void close() {
    Periodic periodic = running;
    if (periodic != null) {
      periodic.close();
    }
  }
}
