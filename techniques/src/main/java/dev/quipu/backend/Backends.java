package dev.quipu.backend;

import static dev.quipu.technique.AtomicAdd.AfterUnknown.GIVE_UP;

import dev.quipu.Counters;
import dev.quipu.Holds;
import dev.quipu.Quipu;
import dev.quipu.ScaleRules;
import dev.quipu.Transactions;
import dev.quipu.display.DisplayCounters;
import dev.quipu.display.DurableFirst;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTreeOptions;
import dev.quipu.layer.Store;
import dev.quipu.presence.Presence;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.RegionalCollection;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
import dev.quipu.sequence.RangeJobs;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.sequence.UniqueValues;
import dev.quipu.store.StoreClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.RequestTokens;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import dev.quipu.transaction.HoldSweeper;
import dev.quipu.transaction.StoredHolds;
import dev.quipu.transaction.StoredTransactions;
import dev.quipu.view.ViewAggregates;
import dev.quipu.view.ViewCounter;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/** Opens counters on a store: the only class that depends on all techniques. */
public final class Backends {
  private Backends() {}

  /**
   * Opens counters on an engine that was opened with its own options; closing them closes the
   * engine.
   */
  public static Quipu on(EmbeddedEngine engine) {
    return Quipu.on(backend(engine));
  }

  /** Returns the backend of an engine, which is closed with it. */
  public static Quipu.Backend backend(EmbeddedEngine engine) {
    Store store = new Store(engine.driver(), Clock.system());
    OneStore backend = new OneStore(engine, store, engine::close);
    backend.parts.put(Transactions.class, engine.transactions());
    backend.parts.put(Holds.class, engine.holds());
    return backend;
  }

  /**
   * Opens counters on a store, with the technique that has the strongest guarantees there: {@link
   * MarkerItem}, with markers kept forever, if the store has batches; otherwise {@link AtomicAdd},
   * which does not support request ids. The caller closes the driver.
   *
   * @throws IllegalArgumentException if no technique works on the store, or its record has another
   *     configuration
   * @throws dev.quipu.QuipuException if the record cannot be read
   */
  public static Quipu on(StoreDriver driver) {
    return Quipu.on(
        backend(driver, Optional.empty(), Optional.empty(), ScaleRules.none(), () -> {}));
  }

  /** Returns counters by the named or the best technique, if the store's record agrees. */
  static Quipu.Backend backend(
      StoreDriver driver,
      Optional<String> name,
      Optional<Duration> keep,
      ScaleRules scales,
      Runnable onClose) {
    TechniqueSpec spec =
        name.map(Techniques::named).orElseGet(() -> Techniques.bestFor(driver.profile()));
    spec.requireWorksOn(driver.profile());
    StoreRecord record = StoreRecord.of(spec, keep).scaled(scales);
    RecordGuard.require(new Store(driver, Clock.system()), record);
    return backend(
        driver,
        store -> new ScaledCounters(technique(spec, store, Randomness.secure(), keep), scales),
        onClose);
  }

  /** Opens counters on a store with a technique. The caller closes the driver. */
  public static Quipu on(StoreDriver driver, Function<Store, Counters> technique) {
    return Quipu.on(backend(driver, technique, () -> {}));
  }

  private static Quipu.Backend backend(
      StoreDriver driver, Function<Store, Counters> technique, Runnable onClose) {
    Store store = new Store(driver, StoreClock.of(driver, Clock.system()));
    return new OneStore(scaled(technique.apply(store)), store, onClose);
  }

  /**
   * Opens counters in one of several regions, each with its own replica of one table. Counters are
   * exact over all regions; other services would lose writes, and are rejected. The caller closes
   * the replicas and the leases.
   */
  public static Quipu inRegions(Regions regions, RegionOptions options, RegionLeases leases) {
    Counters counters = new RegionalCounters(regions, options, leases);
    return Quipu.on(new OneRegion(scaled(counters), regions.here()));
  }

  /**
   * Opens counters in one of several regions, which store each change as an item: any id in any
   * region, and no bounds. Other services are rejected. The caller closes the replicas.
   *
   * @param window how long changes stay, at least, before they are merged; empty to merge none
   */
  public static Quipu collectionInRegions(Regions regions, Optional<Duration> window) {
    Counters counters = new RegionalCollection(regions, Randomness.secure(), window);
    return Quipu.on(new OneRegion(scaled(counters), regions.here()));
  }

  /** Returns counters that check the digits of decimals, which a technique does not know. */
  private static Counters scaled(Counters counters) {
    return counters.as(ScaledCounters.class).isPresent()
        ? counters
        : new ScaledCounters(counters, ScaleRules.none());
  }

  /**
   * Creates a technique on a store.
   *
   * @param random the source of randomness of ids and tags
   * @param keep how long {@link MarkerItem}, {@link ItemCollection} and {@link HitLog} remember
   *     request ids; empty for the default: {@link HitLogOptions#DEFAULT} for {@link HitLog},
   *     forever for the others
   * @throws IllegalArgumentException if the store lacks a capability that the technique requires
   */
  public static Technique technique(
      TechniqueSpec spec, Store store, RandomGenerator random, Optional<Duration> keep) {
    return technique(spec, store, random, TechniqueOptions.keeping(keep));
  }

  /**
   * Creates a technique on a store, with its options.
   *
   * @throws IllegalArgumentException if the store lacks a capability that the technique requires,
   *     or an option applies to another technique
   */
  public static Technique technique(
      TechniqueSpec spec, Store store, RandomGenerator random, TechniqueOptions options) {
    options.requireFor(spec);
    Optional<Duration> keep = options.keep();
    return switch (spec.name()) {
      case "atomic-add" -> new AtomicAdd(store, options.afterUnknown().orElse(GIVE_UP));
      case "optimistic" -> new Optimistic(store, random);
      case "optimistic-with-history" -> Optimistic.withHistory(store, random);
      case "request-token" -> new RequestTokens(store, random);
      case "marker-item" -> new MarkerItem(store, random, keep, options.markers());
      case "item-collection" -> new ItemCollection(store, random, keep);
      case "token-set" -> new TokenSet(store, random, options.slots().orElse(TokenSet.SLOTS));
      case "hit-log" ->
          new HitLog(
              store,
              random,
              keep.map(HitLogOptions.DEFAULT::keeping).orElse(HitLogOptions.DEFAULT));
      case "version-tree" -> new VersionTree(store, random, VersionTreeOptions.DEFAULT);
      default -> throw new IllegalArgumentException("cannot open technique " + spec.name());
    };
  }

  /**
   * The backend on one store.
   *
   * @param parts the services created so far
   */
  private record OneStore(
      Counters counters, Store store, Runnable onClose, Map<Class<?>, Object> parts)
      implements Quipu.Backend {
    OneStore(Counters counters, Store store, Runnable onClose) {
      this(counters, store, onClose, new ConcurrentHashMap<>());
    }

    @Override
    public <T> T part(Class<T> type) {
      Object part = parts.computeIfAbsent(type, this::newPart);
      if (part instanceof ScaledHolds scaled && scaled.inUnits() instanceof StoredHolds holds) {
        // Those of dead processes expire, too.
        parts.computeIfAbsent(HoldSweeper.class, sweeper -> new HoldSweeper(holds));
      }
      return type.cast(part);
    }

    private Object newPart(Class<?> type) {
      return switch (type.getSimpleName()) {
        case "Store" -> store;
        case "ViewCounter" -> new ViewCounter(store);
        case "ViewAggregates" -> new ViewAggregates(store, Optional.empty());
        case "SequenceOfRecords" -> new SequenceOfRecords(store);
        case "RevisionLog" -> new RevisionLog(store);
        case "RangeJobs" -> new RangeJobs(store);
        case "UniqueValues" -> new UniqueValues(store);
        case "Presence" -> Presence.on(store);
        case "DisplayCounters" -> DurableFirst.withoutCache(counters, store.clock());
        case "Transactions" ->
            new ScaledTransactions(
                new StoredTransactions(counters, store, Randomness.secure()),
                ScaledCounters.rules(counters));
        case "Holds" ->
            new ScaledHolds(
                new StoredHolds(counters, store, Randomness.secure()),
                ScaledCounters.rules(counters));
        default ->
            throw new UnsupportedOperationException(
                type.getName()
                    + " is not a service of a store; services: Store, ViewCounter, ViewAggregates,"
                    + " SequenceOfRecords, RevisionLog, RangeJobs, UniqueValues, Presence,"
                    + " DisplayCounters, Transactions, Holds");
      };
    }

    @Override
    public boolean isRegional() {
      return false;
    }

    @Override
    public void close() {
      if (parts.get(HoldSweeper.class) instanceof HoldSweeper sweeper) {
        sweeper.close();
      }
      onClose.run();
    }
  }

  /** The backend in one of several regions. */
  private record OneRegion(Counters counters, Store store) implements Quipu.Backend {
    @Override
    public <T> T part(Class<T> type) {
      if (type == Store.class) {
        return type.cast(store);
      }
      if (type == DisplayCounters.class) {
        return type.cast(DurableFirst.withoutCache(counters, store.clock()));
      }
      throw new UnsupportedOperationException(
          "with several regions, only counters are supported: if two regions write to the same"
              + " item, one of the writes is lost");
    }

    @Override
    public boolean isRegional() {
      return true;
    }

    @Override
    public void close() {
      // the replicas are the caller's
    }
  }
}
