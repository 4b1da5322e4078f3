package dev.quipu.memcached;

import dev.quipu.Counters;
import dev.quipu.store.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.OptimisticWithHistory;
import dev.quipu.technique.TokenSet;
import dev.quipu.verify.contract.TechniqueContract;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Nested;

/** All techniques on memcached: the same answers as anywhere. */
final class MemcachedTechniquesTest {
  abstract static class OnStore extends TechniqueContract {
    OnStore(Function<Store, Counters> technique) {
      super(technique);
    }

    @Override
    protected StoreDriver openStore() {
      return StoreProvider.open(Caches.uri(Caches.emptyServer().port(), Duration.ofSeconds(5)));
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
}
