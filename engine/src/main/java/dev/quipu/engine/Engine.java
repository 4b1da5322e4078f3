package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.Holds;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetRequest;
import dev.quipu.SetResult;
import dev.quipu.Transactions;
import dev.quipu.backend.CounterFeed;
import dev.quipu.backend.CounterHistory;
import dev.quipu.backend.CounterThresholds;
import dev.quipu.backend.EmbeddedEngine;
import dev.quipu.backend.RecentRequest;
import dev.quipu.engine.commit.Checkpointer;
import dev.quipu.engine.commit.Committer;
import dev.quipu.engine.commit.ExpirySweeper;
import dev.quipu.engine.environment.Closer;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.HeldLock;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.environment.Ticker;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.Sealer;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.measure.EngineObserver;
import dev.quipu.engine.recovery.FormatFile;
import dev.quipu.engine.recovery.Recovered;
import dev.quipu.engine.recovery.Recovery;
import dev.quipu.engine.recovery.Snapshot;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.StateSizes;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.TechniqueSpec.Cost;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The embedded durable store. Counts exactly once natively, and is a {@link StoreDriver} for every
 * technique. The two are separate: a native counter is not visible to techniques, nor the reverse.
 *
 * <p>Counters, items and the newest request ids are in memory; everything is on disk. A call
 * returns when everything that it wrote or read is on disk, unless the {@link Durability} is
 * weaker. Thread-safe; concurrent callers share a sync (group commit).
 */
public final class Engine implements EmbeddedEngine {
  /** Guarantees and costs of the engine as a technique. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "engine",
          "The embedded engine: number and request id in one record of its log.",
          "an add repeated under its id counts exactly once; the repeat gets the first answer",
          Set.of(),
          Atomicity.ITEM,
          Set.of(
              Guarantee.AT_MOST_ONCE,
              Guarantee.IDEMPOTENT_WITHIN_WINDOW,
              Guarantee.BOUNDED,
              Guarantee.ADD_AND_GET,
              Guarantee.LINEARIZABLE_READ),
          new Cost(1, 1, 0),
          new Cost(1, 0, 0),
          "Quipu");

  private static final Logger LOGGER = LoggerFactory.getLogger(Engine.class);

  /** Interval between expiry sweeps. */
  private static final Duration SWEEP_EVERY = Duration.ofSeconds(1);

  private final Environment environment;
  private final Path directory;
  private final Settings settings;
  private final Failure failure;
  private final Log log;
  private final Committer committer;
  private final Checkpointer checkpointer;
  private final ExpirySweeper sweeper;
  private final EngineDriver driver;
  private final EngineHistory history;
  private final Durability durability;
  private final Closer opened;
  private final ReentrantLock closing = new ReentrantLock();
  private boolean closed; // guarded by closing

  private Engine(
      Closer opened,
      HeldLock lock,
      Environment environment,
      Path directory,
      EngineOptions options,
      Recovered found,
      Failure failure)
      throws IOException {
    this.opened = opened;
    this.environment = environment;
    this.directory = directory;
    this.settings = options.settings();
    this.failure = failure;
    Disk disk = environment.disk();
    State state = found.state();
    found.prepare(disk, directory);
    state.scaleRules = options.scales();
    for (Path each : List.of(directory, Log.directory(directory), IdFiles.directory(directory))) {
      disk.syncDirectory(each); // what was read may not be durable yet: see Log.writeAgain
    }
    this.log =
        opened.add(
            Log.open(
                environment,
                directory,
                found.identity(),
                options.segmentBytes(),
                found.segments(),
                found.end(),
                found.syncedEnd(),
                found.isTailStale(),
                state.frame + 1,
                failure));
    HighWater.Mark kept = found.highWater();
    HighWater.Mark mark =
        new HighWater.Mark(state.frame, state.commands, kept.ageMillis(), kept.wallMillis());
    HighWater highWater = opened.add(HighWater.open(disk, directory, found.identity(), mark));
    Sealer sealer = opened.add(new Sealer(environment, directory, failure));
    this.committer =
        new Committer(
            environment, state, log, highWater, found.identity(), kept, settings, sealer, failure);
    opened.add(committer::close);
    this.sweeper = new ExpirySweeper(committer, options.segmentBytes());
    this.history = EngineHistory.begin(committer, sweeper, state, disk, directory, options);
    this.checkpointer =
        new Checkpointer(
            environment,
            directory,
            found.identity(),
            settings,
            committer,
            failure,
            log,
            highWater,
            history.keeping(),
            found.logBytes());
    opened.add(checkpointer::closeForFastStart);
    opened.add(
        new Ticker(
            environment,
            failure,
            "quipu-sweeper",
            SWEEP_EVERY,
            () -> {
              lock.require(failure);
              sweeper.sweepPart();
            }));
    opened.add(HoldSweep.periodic(this, environment, failure));
    opened.add(history.periodic(environment, failure));
    this.driver = new EngineDriver(committer);
    this.durability = options.durability();
    if (durability instanceof Durability.Interval interval) {
      opened.add(
          new Ticker(environment, failure, "quipu-log-syncer", interval.every(), committer::sync));
    }
  }

  /** Returns the capabilities of an engine as a store. */
  public static StoreProfile storeProfile() {
    return EngineDriver.PROFILE;
  }

  /**
   * Opens an engine on a directory, which is created if it does not exist.
   *
   * @throws dev.quipu.engine.damage.DamageException if the stored data is damaged
   * @throws QuipuException if the directory is in use, or the disk cannot be written or is full
   */
  public static Engine open(Path directory, EngineOptions options) {
    return open(directory, options, Environment.ofMachine());
  }

  static Engine open(Path directory, EngineOptions options, Environment environment) {
    Closer opened = new Closer();
    Engine engine = null;
    try {
      engine = open(opened, directory, options, environment);
      return engine;
    } catch (IOException e) {
      throw OpenFailure.of(environment.disk(), directory, e);
    } catch (OutOfMemoryError e) { // while the data were read, which are now garbage
      throw OpenFailure.tooLarge(directory, e);
    } finally {
      if (engine == null) {
        opened.close();
      }
    }
  }

  private static Engine open(
      Closer opened, Path directory, EngineOptions options, Environment environment)
      throws IOException {
    Disk disk = environment.disk();
    disk.createDirectories(directory);
    FormatFile.requireOwn(disk, directory);
    HeldLock lock = opened.add(disk.lock(directory));
    disk.createDirectories(Log.directory(directory));
    disk.createDirectories(IdFiles.directory(directory));
    if (FormatFile.isNew(disk, directory)) {
      FormatFile.create(disk, directory, Randomness.secure().nextLong());
      disk.syncDirectory(directory);
    }
    Recovered found = Recovery.read(disk, directory, options.settings(), false);
    for (String note : found.notes()) {
      LOGGER.atWarn().addKeyValue("directory", directory).log(note);
    }
    // Versions are not kept on disk: they start above those of all earlier runs.
    found.state().counters.startVersions(Randomness.secure().nextLong() >>> 33 << 32);
    found.state().thresholds.begin(Randomness.secure().nextLong() | 1);
    Path unsynced = directory.resolve(Recovery.UNSYNCED_FILE);
    boolean syncsEach = options.durability() instanceof Durability.Fsync;
    if (!syncsEach && !disk.exists(unsynced)) {
      disk.create(unsynced).close();
      disk.syncDirectory(directory);
    }
    Failure failure = new Failure();
    Engine engine = new Engine(opened, lock, environment, directory, options, found, failure);
    if (syncsEach && disk.exists(unsynced)) { // stale frames follow the end of the log
      disk.delete(unsynced);
      disk.syncDirectory(directory);
    }
    return engine;
  }

  @Override
  public TechniqueSpec spec() {
    return SPEC;
  }

  @Override
  public AddResult add(Add add) {
    return addAll(List.of(add)).getFirst().result();
  }

  @Override
  public List<ItemResult> addAll(List<Add> adds, BooleanSupplier begin, BooleanSupplier wait) {
    return addAll(adds); // fast, and limited by the call deadline
  }

  @Override
  public List<ItemResult> addAll(List<Add> adds) {
    Limits.checkBatch(adds.size());
    AddTask task = new AddTask(adds);
    try {
      committer.run(task);
    } catch (QuipuException e) { // properties of the commit, hence of each operation
      return Collections.nCopies(adds.size(), new ItemResult.Failed(e));
    }
    return task.results();
  }

  @Override
  public Optional<Reading> read(String counter) {
    return readAll(List.of(counter)).getFirst();
  }

  @Override
  public List<Optional<Reading>> readAll(List<String> counters) {
    Limits.checkReads(counters.size());
    counters.forEach(each -> Limits.checkText("name", each, Limits.NAME_BYTES_MAX));
    return committer.get(
        (state, group) -> counters.stream().map(new CounterAccess(state, group)::reading).toList());
  }

  @Override
  public SetResult set(String counter, long value, OptionalLong ifValue) {
    return run(CounterOperation.set(counter, value, ifValue));
  }

  @Override
  public SetResult set(SetRequest request) {
    return run(CounterOperation.set(request));
  }

  @Override
  public void delete(String counter) {
    run(CounterOperation.delete(counter));
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    Limits.checkPage(limit, Limits.PAGE_COUNTERS_MAX);
    ListTask task = new ListTask(prefix, after, limit);
    committer.run(task);
    return task.page();
  }

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    return run(CounterOperation.outcome(counter, id));
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    return run(CounterOperation.cancel(counter, id));
  }

  private <T> T run(CounterOperation<T> operation) {
    run(List.of(operation));
    return operation.result();
  }

  @Override
  public List<RecentRequest> recentRequests(String counter, int limit) {
    return committer.get(
        (state, group) -> new CounterAccess(state, group).recentRequests(counter, limit));
  }

  /**
   * Runs several operations in order, each atomically, and returns when all are on disk.
   *
   * @throws QuipuException if the outcome is unknown: some of them may be on disk, and none was
   *     notified of a failure
   */
  public void run(List<? extends Operation> operations) {
    committer.run(new OperationTask(operations));
  }

  @Override
  public Transactions transactions() {
    return new EngineTransactions(this);
  }

  @Override
  public Holds holds() {
    return new EngineTransactions(this);
  }

  @Override
  public StoreDriver driver() {
    return driver;
  }

  @Override
  public CounterHistory history() {
    return history.reader();
  }

  @Override
  public CounterThresholds thresholds() {
    return new EngineThresholds(committer);
  }

  @Override
  public CounterFeed follow() {
    return new EngineFeed(committer);
  }

  /**
   * Takes a snapshot now, so that the next start has no log to read. Does not block writes.
   *
   * @throws QuipuException if the disk is full or fails; the log is still complete
   */
  public void checkpoint() {
    try {
      checkpointer.checkpoint();
    } catch (IOException e) {
      throw new NotAppliedException(
          Reason.UNAVAILABLE, "cannot take a snapshot: " + e.getMessage(), e);
    }
  }

  /**
   * Removes expired counters and items, and ends expired holds, now rather than periodically.
   *
   * @throws QuipuException if the disk is full or the engine has stopped
   */
  public void sweep() {
    sweeper.sweep();
    HoldSweep.run(this);
  }

  /**
   * Stops the engine permanently: no call is acknowledged any more, and the state on disk is known
   * only after reopening the directory. Lets the embedding process report a {@link
   * VirtualMachineError} in one of its own threads. Later causes are ignored.
   */
  public void stop(Throwable cause) {
    failure.stop(cause);
  }

  /**
   * Returns the failure that stopped the engine; empty while it runs, and after a regular {@link
   * #close}.
   */
  public Optional<Throwable> failure() {
    return failure.cause();
  }

  /**
   * Registers a listener that is called once when the engine stops on a failure; immediately if it
   * already has. It runs on the failed thread, and must neither block nor throw.
   */
  public void onFailure(Consumer<Throwable> listener) {
    failure.onStop(listener);
  }

  /**
   * Returns the position up to which the log is on disk: the number of its last frame, each of
   * which has the changes of a group of calls. A {@link dev.quipu.engine.backup.Backup} restores
   * positions.
   */
  public long position() {
    return committer.durableFrame();
  }

  /** Keeps up to 1 GiB of log after this position for the next run of a backup. */
  public void keepLogAfter(long position) {
    log.keepFrom(position + 1);
  }

  /** Returns when acknowledged writes reach the disk. */
  public Durability durability() {
    return durability;
  }

  /** Returns statistics of the engine's content and work. */
  public EngineStatistics statistics() {
    StatisticsTask task = new StatisticsTask();
    committer.run(task);
    return statistics(Objects.requireNonNull(task.sizes), task.counters);
  }

  /**
   * Returns statistics without waiting for the disk: their content is that of the last commit or
   * expiry sweep, and includes expired counters that are still stored.
   */
  public EngineStatistics latestStatistics() {
    StateSizes sizes = committer.latest();
    return statistics(sizes, sizes.counters());
  }

  private EngineStatistics statistics(StateSizes sizes, long counters) {
    return EngineStatistics.of(sizes, counters, settings, committer, checkpointer, log);
  }

  /** Returns the bytes that can still be written to the disk of the directory. */
  public long usableBytes() throws IOException {
    return environment.disk().usableBytes(directory);
  }

  /** Returns the size of the newest snapshot and its file of counters; 0 if there is none. */
  public long snapshotBytes() throws IOException {
    return Snapshot.bytes(environment.disk(), directory);
  }

  /** Reports the work of the engine to an observer from now on, in addition to others. */
  public void observe(EngineObserver observer) {
    environment.stopwatch().observe(observer);
  }

  /** Ends all calls, and writes what makes the next start fast. */
  @Override
  public void close() {
    closing.lock();
    try {
      if (!closed) {
        closed = true;
        opened.close();
      }
    } finally {
      closing.unlock();
    }
  }
}
