package dev.quipu.redis;

import dev.quipu.Counters;
import dev.quipu.store.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.OptimisticWithHistory;
import dev.quipu.technique.TokenSet;
import dev.quipu.testservers.RedisCluster;
import dev.quipu.verify.contract.TechniqueContract;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Nested;

/** All techniques on Redis Cluster: the same answers as anywhere. */
final class RedisClusterTechniquesTest {
  private static final RedisCluster CLUSTER = RedisCluster.start();

  abstract static class OnStore extends TechniqueContract {
    OnStore(Function<Store, Counters> technique) {
      super(technique);
    }

    @Override
    protected StoreDriver openStore() {
      return StoreProvider.open(
          Stores.newUri("redis-cluster", CLUSTER.ports().getFirst(), Duration.ofSeconds(5)));
    }
  }

  @Nested
  final class ByAtomicAdd extends OnStore {
    ByAtomicAdd() {
      super(AtomicAdd::new);
    }
  }

  @Nested
  final class ByOptimisticWithHistory extends OnStore {
    ByOptimisticWithHistory() {
      super(OptimisticWithHistory::new);
    }
  }

  @Nested
  final class ByTokenSet extends OnStore {
    ByTokenSet() {
      super(TokenSet::new);
    }
  }

  @Nested
  final class ByOptimistic extends OnStore {
    ByOptimistic() {
      super(Optimistic::new);
    }
  }

  @Nested
  final class ByMarkerItem extends OnStore {
    ByMarkerItem() {
      super(MarkerItem::new);
    }
  }

  @Nested
  final class ByMarkerItemWithin extends OnStore {
    ByMarkerItemWithin() {
      super(store -> new MarkerItem(store, WINDOW));
    }
  }
}
