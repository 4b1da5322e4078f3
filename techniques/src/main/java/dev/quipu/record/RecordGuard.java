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

/**
 * Rejects writes to a store whose record differs from the configuration of this process, or could
 * not be read recently. Thread-safe.
 *
 * <pre>{@code
 * Two processes that use one store with different techniques, or within different bounds, each
 * maintain their own guarantees and violate those of the other. So the store itself contains the
 * configuration of its counters, in one item, the record. A process reads it before its first
 * write, and again every INTERVAL. It writes only until LEASE after it began to read a matching
 * record.
 *
 * Protocol
 *   1. Read the record. If it exists, compare: continue, or stop writing.
 *   2. If it is missing, and the store has counters, stop: their configuration is unknown.
 *   3. Else write the record if it is still missing, and read it again: if two processes start at
 *      the same time, one writes it, and the other compares.
 *   With several regions, 2 also queries the replica of each other region, before and after 3: the
 *   record is replicated like any item, with a delay. A replica gets its first record only if
 *   another has an equal one, or if all of them respond that they have none.
 *
 * To change the record while processes may run, adopt() replaces it by one that matches none, waits
 * until every lease and all writes sent under it have ended, and then writes the new record. If it
 * crashes in between, nothing is written to the store until it is repeated.
 *
 * | crash, loss | then |
 * |---|---|
 * | before or after the record is written | the next start compares, or writes it |
 * | the record cannot be read for LEASE | writes are rejected, not applied, until it can |
 * | the store loses all its data | it is empty: the record is written again, and that is logged |
 * | only the record is lost | writes are rejected: the store has counters but no record |
 *
 * Not covered: a write that is in flight for longer than PATIENCE when its lease ends; a machine
 * that is suspended while its monotonic clock stands still; a store without scans (memcached),
 * which cannot report that it holds counters, and is treated as empty; with several regions, a
 * replica that the record of adopt() has not reached when the wait ends: stop the servers first.
 *
 * Cost: one read per INTERVAL and process.
 * }</pre>
 */
public final class RecordGuard implements AutoCloseable {
  /** How long a process may write after it began to read the record. */
  public static final Duration LEASE = Duration.ofSeconds(15);

  /** Time between two reads of the record. */
  public static final Duration INTERVAL = Duration.ofSeconds(1);

  /** Longest time that a write is assumed to be in flight. */
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
   * Creates a guard that has not read the record yet, and so rejects all writes.
   *
   * @param store read and written without the guard
   * @param record the configuration of this process
   * @param adopt the command that replaces the store's record by {@code record}, for messages
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
   * Reads the record, writes it if the store is empty, and admits writes if it matches.
   *
   * @return why writes are rejected; empty if they are not
   * @throws QuipuException if that could not be determined; a running lease continues
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
   * Reads the record without writing one, for a process that may still fail to start. Admits writes
   * if the record exists and matches; on an empty store, only {@link #check} does.
   *
   * @return why writes are rejected; empty if they are not, or will not be
   * @throws QuipuException if that could not be determined
   */
  public Optional<String> compare() {
    long begin = store.clock().nanoTime();
    Optional<Item> found = store.get(StoreRecord.KEY);
    if (found.isEmpty()) {
      return withoutRecord();
    }
    Optional<String> differs = compared(found.get(), "the store");
    if (differs.isEmpty()) {
      untilNanos = begin + LEASE.toNanos();
    }
    return differs;
  }

  /** Starts checking every {@link #INTERVAL}. Each change of the result is logged once. */
  public void start() {
    running = new Periodic("quipu-record", INTERVAL, this::round);
  }

  private void round() {
    try {
      Optional<String> wrong = check();
      logOnce(wrong.map(why -> "Writes are rejected: " + why).orElse(""));
    } catch (QuipuException e) {
      logOnce("Store record cannot be read; retrying: " + e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("Store record could not be checked; retrying", e);
    }
  }

  /** Logs a change of the state once, not every second. */
  private void logOnce(String now) {
    if (!now.equals(said)) {
      if (now.isEmpty()) {
        LOGGER.info("Store record matches");
      } else {
        LOGGER.warn(now);
      }
    }
    said = now;
  }

  private Optional<String> find() {
    Optional<Item> found = store.get(StoreRecord.KEY);
    if (found.isPresent()) {
      return compared(found.get(), "the store");
    }
    return withoutRecord().or(this::found);
  }

  /** Returns why the first record must not be written; empty if it may. */
  private Optional<String> withoutRecord() {
    if (CounterItems.areIn(store)) {
      return Optional.of(
          "the store has counters but no record of their configuration. If this process is"
              + " configured like those that wrote them, run: "
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
      } // else reading shows whether it was written
    }
    Optional<Item> found = store.get(StoreRecord.KEY);
    if (found.isEmpty()) {
      throw new NotAppliedException(
          Reason.UNAVAILABLE, "the store record was written but cannot be read back");
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
          "the record of %s is being replaced by quipu adopt; wait until it has ended. If it was"
                  .formatted(where)
              + " interrupted, run it again");
    }
    String remedy =
        record.dropsBounds(found)
            ? ". Adopting the options of this process would drop the bounds of the record"
            : "; or, if that is wrong, stop all servers of the store and run: " + adopt;
    return Optional.of(
        "configuration of this process differs from the record of %s: %s. Start it with the values of"
                .formatted(where, String.join("; ", differences))
            + " the record"
            + StoreRecord.options(found)
            + remedy);
  }

  /** Returns why the first record must not be written to this region; empty if it may. */
  private Optional<String> elsewhere() {
    List<String> silent = new ArrayList<>();
    boolean isKnown = false;
    for (Map.Entry<String, Store> each : others.entrySet()) {
      Optional<Item> there;
      try {
        there = each.getValue().get(StoreRecord.KEY);
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
        "the store of this region has no record, no other region has one, and these do not"
            + " respond: %s. Retry when they do".formatted(String.join(", ", silent)));
  }

  /**
   * Passes if the process may write.
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

  /** Returns why writes are currently rejected; empty if they are not. */
  public Optional<String> impediment() {
    String wrong = disagreement;
    if (wrong != null) {
      return Optional.of("writes are rejected: " + wrong);
    }
    if (store.clock().nanoTime() - untilNanos < 0) {
      return Optional.empty();
    }
    return Optional.of(
        "writes are rejected: the store record could not be read for %d s, the limit;"
                .formatted(LEASE.toSeconds())
            + " they resume when it can be read");
  }

  /**
   * Returns a driver that rejects writes when this guard does. Close it before the underlying
   * driver.
   */
  public StoreDriver over(StoreDriver driver) {
    return new GuardedDriver(driver, this);
  }

  /**
   * Sets the record of a store, whether or not it has another one. If it replaces another, this
   * waits until no process writes under that: {@link #LEASE} and {@link #PATIENCE}.
   *
   * @return the replaced record, as text; empty if there was none
   * @throws QuipuException if it failed, or its outcome is unknown: repeat it
   */
  public static Optional<String> adopt(Store store, StoreRecord record)
      throws InterruptedException {
    Optional<Item> before = store.get(StoreRecord.KEY);
    if (before.isEmpty()) {
      require(store.write(put(record.fields(), new Condition.Absent())));
      return Optional.empty();
    }
    String old = record.text(before.get());
    if (record.differences(before.get()).isEmpty()) {
      return Optional.of(old);
    }
    StoreRecord none =
        new StoreRecord(REPLACING, Optional.empty(), 1, record.bounds(), List.of(), Map.of());
    require(store.write(put(none.fields(), Condition.unchanged(before))));
    Optional<Item> between = store.get(StoreRecord.KEY);
    store.clock().sleep(LEASE.plus(PATIENCE));
    require(store.write(put(record.fields(), Condition.unchanged(between))));
    return Optional.of(old);
  }

  private static void require(WriteResult result) {
    if (!(result instanceof WriteResult.Applied)) {
      throw new NotAppliedException(
          Reason.THROTTLED, "another process changed the store record; run it again");
    }
  }

  private static Write put(Map<String, Field> fields, Condition condition) {
    return new Write.Put(StoreRecord.KEY, fields, condition);
  }

  /**
   * Checks that the record of a store matches {@code record}, for a process without a guard. The
   * window may differ. A store without a record passes.
   *
   * @throws IllegalArgumentException if it differs
   */
  public static void require(Store store, StoreRecord record) {
    Optional<Item> found = store.get(StoreRecord.KEY);
    List<String> differences = found.map(record::differencesBesideWindow).orElseGet(List::of);
    if (!differences.isEmpty()) {
      throw new IllegalArgumentException(
          "configuration of this process differs from the store record: "
              + String.join("; ", differences));
    }
  }

  /**
   * Checks that a store is not one of several regions, for a process that writes items which two
   * regions must not both write.
   *
   * @throws IllegalArgumentException if its record lists several regions
   */
  public static void requireOneRegion(Store store) {
    store
        .get(StoreRecord.KEY)
        .flatMap(found -> found.text("technique"))
        .filter(StoreRecord::isRegional)
        .ifPresent(technique -> {
          throw new IllegalArgumentException(
              "according to its record, the store is the replica of one of several regions, where"
                  + " only counters are supported");
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
