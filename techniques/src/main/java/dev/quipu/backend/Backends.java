package dev.quipu.backend;

import dev.quipu.Counters;
import dev.quipu.Quipu;
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
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
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
import dev.quipu.view.ViewCounter;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/** Puts counters on a store: the one place that knows all techniques. */
public final class Backends {
  private Backends() {}

  /** Counts on an engine that was opened with its own options; it is closed with this. */
  public static Quipu on(EmbeddedEngine engine) {
    return Quipu.on(backend(engine));
  }

  /** Returns the backend of an engine, which is closed with it. */
  public static Quipu.Backend backend(EmbeddedEngine engine) {
    Store store = new Store(engine.driver(), Clock.system());
    return new OneStore(engine, store, engine::close);
  }

  /**
   * Counts on a store, by the technique with the strongest guarantees there: {@link MarkerItem},
   * with markers kept forever, if the store has batches; otherwise {@link AtomicAdd}, which keeps
   * no request ids. The caller closes the driver.
   *
   * @throws IllegalArgumentException if no technique works on the store, or its record says that it
   *     is counted on otherwise
   * @throws dev.quipu.QuipuException if the record cannot be read
   */
  public static Quipu on(StoreDriver driver) {
    return Quipu.on(backend(driver, Optional.empty(), Optional.empty(), () -> {}));
  }

  /** Returns counters by the named or the best technique, if the store's record agrees. */
  static Quipu.Backend backend(
      StoreDriver driver, Optional<String> name, Optional<Duration> keep, Runnable onClose) {
    TechniqueSpec spec =
        name.map(Techniques::named).orElseGet(() -> Techniques.bestFor(driver.profile()));
    spec.requireWorksOn(driver.profile());
    RecordGuard.require(new Store(driver, Clock.system()), StoreRecord.of(spec, keep));
    return backend(driver, store -> technique(spec, store, Randomness.secure(), keep), onClose);
  }

  /** Counts on a store by a technique. The driver stays the caller's to close. */
  public static Quipu on(StoreDriver driver, Function<Store, Counters> technique) {
    return Quipu.on(backend(driver, technique, () -> {}));
  }

  private static Quipu.Backend backend(
      StoreDriver driver, Function<Store, Counters> technique, Runnable onClose) {
    Store store = new Store(driver, StoreClock.of(driver, Clock.system()));
    return new OneStore(technique.apply(store), store, onClose);
  }

  /**
   * Counts in one of several regions, each with its own replica of one table. Counters are exact
   * over all; what else there is would lose writes, and is rejected. The replicas and the leases
   * stay the caller's.
   */
  public static Quipu inRegions(Regions regions, RegionOptions options, RegionLeases leases) {
    Counters counters = new RegionalCounters(regions, options, leases);
    return Quipu.on(new OneRegion(counters, regions.here()));
  }

  /**
   * Counts on a store by a technique.
   *
   * @param random the source of randomness of ids and tags
   * @param keep how long {@link MarkerItem} and {@link HitLog} remember request ids; empty for the
   *     default, which is forever for the former
   * @throws IllegalArgumentException if the store lacks what the technique needs
   */
  public static Technique technique(
      TechniqueSpec spec, Store store, RandomGenerator random, Optional<Duration> keep) {
    return switch (spec.name()) {
      case "atomic-add" -> new AtomicAdd(store);
      case "optimistic" -> new Optimistic(store, random);
      case "optimistic-with-history" -> Optimistic.withHistory(store, random);
      case "request-token" -> new RequestTokens(store, random);
      case "marker-item" -> new MarkerItem(store, random, keep);
      case "item-collection" -> new ItemCollection(store, random);
      case "token-set" -> new TokenSet(store, random);
      case "hit-log" ->
          new HitLog(
              store,
              random,
              keep.map(HitLogOptions.DEFAULT::keeping).orElse(HitLogOptions.DEFAULT));
      case "version-tree" -> new VersionTree(store, random, VersionTreeOptions.DEFAULT);
      default -> throw new IllegalArgumentException("no way to open " + spec.name());
    };
  }

  /**
   * What counts on one store.
   *
   * @param parts that were asked for
   */
  private record OneStore(
      Counters counters, Store store, Runnable onClose, Map<Class<?>, Object> parts)
      implements Quipu.Backend {
    OneStore(Counters counters, Store store, Runnable onClose) {
      this(counters, store, onClose, new ConcurrentHashMap<>());
    }

    @Override
    public <T> T part(Class<T> type) {
      return type.cast(parts.computeIfAbsent(type, this::newPart));
    }

    private Object newPart(Class<?> type) {
      return switch (type.getSimpleName()) {
        case "Store" -> store;
        case "ViewCounter" -> new ViewCounter(store);
        case "SequenceOfRecords" -> new SequenceOfRecords(store);
        case "UniqueValues" -> new UniqueValues(store);
        case "Presence" -> Presence.on(store);
        case "DisplayCounters" -> DurableFirst.withoutCache(counters, store.clock());
        default -> throw new UnsupportedOperationException("a store has no " + type.getName());
      };
    }

    @Override
    public boolean isRegional() {
      return false;
    }

    @Override
    public void close() {
      onClose.run();
    }
  }

  /** Counters of one of several regions. */
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
          "only counters are kept over regions: of what two regions write to one item, one is lost");
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
