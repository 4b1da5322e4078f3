package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.hits.VersionTree;
import dev.quipu.layer.Store;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.RequestTokens;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.TokenSet;
import dev.quipu.testkit.ConcurrentClients;
import dev.quipu.time.Randomness;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/**
 * {@link CountersContract} for every technique on one store: the same results as on any other.
 * Techniques that do not work on the store are skipped.
 */
public abstract class TechniquesContract {
  /** For subclasses. */
  protected TechniquesContract() {}

  /** Opens an empty store. */
  protected abstract StoreDriver openStore() throws Exception;

  /** Returns whether a sweep sees all expired items; otherwise it sees some of them only later. */
  protected boolean isSweptAtOnce() {
    return true;
  }

  /** One technique on the store. */
  public abstract class OnStore extends CountersContract {
    private final TechniqueSpec spec;
    private final Function<Store, Counters> technique;
    private @Nullable StoreDriver driver;

    OnStore(TechniqueSpec spec, Function<Store, Counters> technique) {
      this.spec = spec;
      this.technique = technique;
    }

    @Override
    protected final Counters open(ManualClock clock) throws Exception {
      StoreDriver opened = openStore();
      driver = opened;
      assumeTrue(
          spec.worksOn(opened.profile()),
          () -> spec.name() + " does not work on " + opened.profile().name());
      return technique.apply(
          new Store(opened, clock, Randomness.secure(), ConcurrentClients.RETRIES));
    }

    /** Returns the specification of the technique. */
    public final TechniqueSpec spec() {
      return spec;
    }

    final StoreProfile profile() {
      return Objects.requireNonNull(driver).profile();
    }

    @Override
    protected final void close() {
      if (driver != null) {
        driver.close();
      }
    }
  }

  @Nested
  final class ByAtomicAdd extends OnStore {
    ByAtomicAdd() {
      super(AtomicAdd.SPEC, AtomicAdd::new);
    }
  }

  @Nested
  final class ByAtomicAddThatRepeats extends OnStore {
    ByAtomicAddThatRepeats() {
      super(AtomicAdd.SPEC_REPEATING, store -> new AtomicAdd(store, AtomicAdd.AfterUnknown.REPEAT));
    }
  }

  @Nested
  final class ByOptimistic extends OnStore {
    ByOptimistic() {
      super(Optimistic.SPEC, Optimistic::new);
    }
  }

  @Nested
  final class ByOptimisticWithHistory extends OnStore {
    ByOptimisticWithHistory() {
      super(Optimistic.WITH_HISTORY, Optimistic::withHistory);
    }
  }

  @Nested
  final class ByRequestToken extends OnStore {
    ByRequestToken() {
      super(RequestTokens.SPEC, RequestTokens::new);
    }
  }

  @Nested
  final class ByMarkerItem extends OnStore {
    ByMarkerItem() {
      super(MarkerItem.SPEC, MarkerItem::new);
    }

    @Test
    void theValueAfterAnAddIsPromisedWhereBatchesReturnIt() {
      assertEquals(
          profile().has(Capability.BATCH_RETURNS), counters.promises(Guarantee.ADD_AND_GET));
    }
  }

  @Nested
  final class ByMarkerItemThatExpires extends OnStore {
    ByMarkerItemThatExpires() {
      super(MarkerItem.SPEC, store -> new MarkerItem(store, WINDOW));
    }
  }

  @Nested
  final class ByItemCollection extends OnStore {
    ByItemCollection() {
      super(ItemCollection.SPEC, ItemCollection::new);
    }
  }

  @Nested
  final class ByShardsAlone extends OnStore {
    ByShardsAlone() {
      super(
          MarkerItem.SPEC,
          store -> new Sharded(store, new MarkerItem(store), ShardOptions.fixed(3)));
    }
  }

  @Nested
  final class ByShardsTogether extends OnStore {
    ByShardsTogether() {
      super(
          MarkerItem.SPEC.over(Atomicity.STORE),
          store -> new Sharded(store, new MarkerItem(store), ShardOptions.growing(1, 8).hotAt(3)));
    }
  }

  @Nested
  final class ByTokenSet extends OnStore {
    ByTokenSet() {
      super(TokenSet.SPEC, TokenSet::new);
    }
  }

  @Nested
  final class ByHitLog extends OnStore {
    ByHitLog() {
      super(
          HitLog.SPEC,
          store -> new HitLog(store, Randomness.secure(), HitLogOptions.DEFAULT.keeping(WINDOW)));
    }
  }

  @Nested
  final class ByVersionTree extends OnStore {
    ByVersionTree() {
      super(VersionTree.SPEC, VersionTree::new);
    }
  }

  @Nested
  final class OfOperations extends OperationsContract {
    @Override
    protected StoreDriver openStore() throws Exception {
      return TechniquesContract.this.openStore();
    }
  }

  @Nested
  final class OfLocks extends LocksContract {
    @Override
    protected StoreDriver openStore() throws Exception {
      return TechniquesContract.this.openStore();
    }
  }

  @Nested
  final class OfTransactions extends TransactionsContract {
    @Override
    protected StoreDriver openStore() throws Exception {
      return TechniquesContract.this.openStore();
    }
  }

  @Nested
  final class OfHolds extends HoldsContract {
    @Override
    protected StoreDriver openStore() throws Exception {
      return TechniquesContract.this.openStore();
    }
  }

  @Nested
  final class OfPresence extends PresenceContract {
    @Override
    protected StoreDriver openStore() throws Exception {
      return TechniquesContract.this.openStore();
    }
  }

  @Nested
  final class OfSequences extends SequencesContract {
    @Override
    protected StoreDriver openStore() throws Exception {
      return TechniquesContract.this.openStore();
    }
  }

  @Nested
  final class OfAggregates extends AggregatesContract {
    @Override
    protected StoreDriver openStore() throws Exception {
      return TechniquesContract.this.openStore();
    }
  }

  @Nested
  final class OfRevisions extends RevisionsContract {
    @Override
    protected StoreDriver openStore() throws Exception {
      return TechniquesContract.this.openStore();
    }
  }

  @Nested
  final class OfRangeJobs extends RangeJobsContract {
    @Override
    protected StoreDriver openStore() throws Exception {
      return TechniquesContract.this.openStore();
    }
  }

  @Nested
  final class OfViews extends ViewsContract {
    @Override
    protected boolean isSweptAtOnce() {
      return TechniquesContract.this.isSweptAtOnce();
    }

    @Override
    protected StoreDriver openStore() throws Exception {
      return TechniquesContract.this.openStore();
    }
  }
}
