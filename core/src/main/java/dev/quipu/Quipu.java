package dev.quipu;

import dev.quipu.display.CacheFirst;
import dev.quipu.display.DisplayCounters;
import dev.quipu.display.DurableFirst;
import dev.quipu.presence.Presence;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.sequence.SequenceWithGaps;
import dev.quipu.sequence.UniqueValues;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Store;
import dev.quipu.store.StoreClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.RecordGuard;
import dev.quipu.technique.RegionLeases;
import dev.quipu.technique.RegionOptions;
import dev.quipu.technique.RegionalCounters;
import dev.quipu.technique.Regions;
import dev.quipu.technique.StoreRecord;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.technique.ViewCounter;
import dev.quipu.technique.ViewOptions;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Function;

/**
 * Where counting starts.
 *
 * <pre>{@code
 * try (Quipu quipu = Quipu.open(Path.of("data"))) {
 *   Counter likes = quipu.counter("article/42");
 *   likes.add(1, RequestId.of("order-981"));
 *   Counter seats = quipu.counter("event/7", Bounds.atLeast(0));
 *   seats.add(-2, RequestId.of("order-982"));
 * }
 * }</pre>
 */
public final class Quipu implements AutoCloseable {
  private final Counters counters;
  private final Store store;
  private final ViewCounter views;
  private final SequenceOfRecords sequences;
  private final boolean isOneOfSeveral;
  private final Runnable onClose;

  private Quipu(Counters counters, Store store, boolean isOneOfSeveral, Runnable onClose) {
    this.counters = counters;
    this.store = store;
    this.isOneOfSeveral = isOneOfSeveral;
    this.views = new ViewCounter(store);
    this.sequences = new SequenceOfRecords(store);
    this.onClose = onClose;
  }

  /**
   * Counts on the embedded engine, in files under {@code directory}.
   *
   * @throws dev.quipu.store.StoreException if the directory is locked, damaged or not writable
   * @throws IllegalStateException if {@code quipu-engine} is not on the class path
   */
  public static Quipu open(Path directory) {
    EmbeddedEngine.Provider provider =
        ServiceLoader.load(EmbeddedEngine.Provider.class)
            .findFirst()
            .orElseThrow(
                () -> new IllegalStateException("dev.quipu:quipu-engine is not on the class path"));
    return on(provider.open(directory));
  }

  /** Counts on an engine that was opened with its own options; it is closed with this. */
  public static Quipu on(EmbeddedEngine engine) {
    return new Quipu(engine, new Store(engine.driver(), Clock.system()), false, engine::close);
  }

  /**
   * Counts on a store, by the technique that promises most on it: {@link MarkerItem}, with markers
   * kept for ever, wherever the store has batches; else {@link dev.quipu.technique.AtomicAdd},
   * which keeps no request ids. The driver stays the caller's to close.
   *
   * @throws IllegalArgumentException if no technique works on the store, or its record says that it
   *     is counted on otherwise
   * @throws dev.quipu.store.StoreException if the record cannot be read
   */
  public static Quipu on(StoreDriver driver) {
    TechniqueSpec best = Techniques.bestFor(driver.profile());
    Store read = new Store(driver, Clock.system());
    RecordGuard.require(read, StoreRecord.of(best, Optional.empty()));
    return on(driver, store -> Techniques.open(best, store, Randomness.secure(), Optional.empty()));
  }

  /** Counts on a store by a technique. The driver stays the caller's to close. */
  public static Quipu on(StoreDriver driver, Function<Store, Counters> technique) {
    Store store = new Store(driver, StoreClock.of(driver, Clock.system()));
    return new Quipu(technique.apply(store), store, false, () -> {});
  }

  /**
   * Counts in one of several regions, each with its own replica of one table. Counters are exact
   * over all; what else there is here would lose writes, and is refused. The replicas and the
   * leases stay the caller's.
   */
  public static Quipu inRegions(Regions regions, RegionOptions options, RegionLeases leases) {
    Counters counters = new RegionalCounters(regions, options, leases);
    return new Quipu(counters, regions.here(), true, () -> {});
  }

  private <T> T inOneRegion(T what) {
    if (isOneOfSeveral) {
      throw new UnsupportedOperationException(
          "only counters are kept over regions: of what two regions write to one item, one is lost");
    }
    return what;
  }

  /** A counter without bounds. */
  public Counter counter(String name) {
    return counter(name, Bounds.none());
  }

  /** A counter that stays within bounds. */
  public Counter counter(String name, Bounds bounds) {
    return new Counter(counters, name, bounds);
  }

  /** All counters, by name. */
  public Counters counters() {
    return counters;
  }

  /** Values that have one owner each, as a unique constraint has them. */
  public UniqueValues uniqueValues() {
    return new UniqueValues(inOneRegion(store));
  }

  /** Distinct numbers with gaps, drawn so many at a time; see {@link SequenceWithGaps}. */
  public SequenceWithGaps sequenceWithGaps(int block) {
    return new SequenceWithGaps(inOneRegion(store), block);
  }

  /** Whether it counts in one of several regions, and refuses all but counters. */
  public boolean isOneOfSeveral() {
    return isOneOfSeveral;
  }

  /** Exact unique views. */
  public ViewCounter views() {
    return inOneRegion(views);
  }

  /** Views, counted in another way. */
  public ViewCounter views(ViewOptions options) {
    return new ViewCounter(inOneRegion(store), options);
  }

  /** The store itself, for what is not a counter: locks, online users, atomic operations. */
  public Store store() {
    return store;
  }

  /** How many were online within the last five minutes, by the variant that promises most. */
  public Presence presence() {
    return Presence.on(inOneRegion(store));
  }

  /** Records that are numbered 1, 2, 3 … without a gap. */
  public SequenceOfRecords sequences() {
    return inOneRegion(sequences);
  }

  /** Counters to be shown, straight from the store. */
  public DisplayCounters display() {
    return DurableFirst.withoutCache(counters, store.clock());
  }

  /**
   * Counters to be shown from a cache. No view is lost.
   *
   * @param ageMax the oldest number that is shown
   */
  public DisplayCounters display(AtomicOperations cache, Duration ageMax) {
    return new DurableFirst(cache, counters, store.clock(), ageMax);
  }

  /**
   * Counters that are counted in a cache first. A cache that is lost takes at most {@code
   * unflushedMax} views a counter with it. Start a {@link dev.quipu.display.WriteBack} for them.
   *
   * @throws IllegalArgumentException if the counters keep no request ids, or the store has no
   *     ordered scan
   */
  public CacheFirst displayCacheFirst(AtomicOperations cache, long unflushedMax) {
    return new CacheFirst(cache, inOneRegion(store), counters, unflushedMax);
  }

  @Override
  public void close() {
    onClose.run();
  }
}
