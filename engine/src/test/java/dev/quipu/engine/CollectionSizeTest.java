package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.layer.Store;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.technique.ItemCollection;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Clock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An item collection with many changes: its reads, and its compaction. With {@code
 * -Dcollection.changes=1000000 -Xmx6g}, with 1,000,000.
 */
final class CollectionSizeTest {
  private static final int CHANGES =
      Integer.getInteger("collection.changes", Soak.size(10_000, 400_000));
  private static final int WRITERS = 64;
  private static final int COMPACTORS = 3;

  @TempDir Path directory;

  @Test
  void aReadCostsTheChangesSinceTheLastCompaction() throws Exception {
    EngineOptions options = EngineOptions.defaults().withDurability(Durability.NONE);
    try (Engine engine = Engine.open(directory, options);
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      AtomicInteger items = new AtomicInteger();
      ItemCollection counters = counting(engine.driver(), items);
      add(counters, executor);
      long before = readNanos(counters);
      assertEquals(CHANGES, items.get());

      AtomicBoolean isDone = new AtomicBoolean();
      Future<Integer> reader =
          executor.submit(() -> {
            int reads = 0;
            while (!isDone.get() || reads == 0) {
              assertEquals(Optional.of(Reading.exact(CHANGES)), counters.read("a"));
              reads++;
            }
            return reads;
          });
      long start = Clock.system().nanoTime();
      List<Future<Integer>> compactors = new ArrayList<>();
      for (int i = 0; i < COMPACTORS; i++) {
        compactors.add(executor.submit(() -> counters.compact("a", Duration.ZERO)));
      }
      int folded = 0;
      for (Future<Integer> each : compactors) {
        folded += each.get();
      }
      folded += counters.compact("a", Duration.ZERO);
      long compaction = Clock.system().nanoTime() - start;
      isDone.set(true);
      assertEquals(CHANGES, folded);
      assertTrue(reader.get() > 0);

      items.set(0);
      long after = readNanos(counters);
      assertEquals(0, items.get());
      System.out.printf(
          "CollectionSizeTest: %,d changes: read in %,d ms, compacted by %d in %,d ms with %d reads"
              + " meanwhile, then read in %,d us%n",
          CHANGES,
          before / 1_000_000,
          COMPACTORS,
          compaction / 1_000_000,
          reader.get(),
          after / 1_000);
    }
  }

  private static long readNanos(ItemCollection counters) {
    long start = Clock.system().nanoTime();
    assertEquals(Optional.of(Reading.exact(CHANGES)), counters.read("a"));
    return Clock.system().nanoTime() - start;
  }

  private static void add(ItemCollection counters, ExecutorService executor) throws Exception {
    AtomicInteger next = new AtomicInteger();
    List<Future<?>> writers = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      writers.add(
          executor.submit(() -> {
            while (next.getAndIncrement() < CHANGES) {
              counters.add(new Add("a", 1, null));
            }
          }));
    }
    for (Future<?> each : writers) {
      each.get();
    }
  }

  private static ItemCollection counting(StoreDriver driver, AtomicInteger items) {
    return new ItemCollection(
        new Store(
            new InterceptingDriver(
                driver,
                new InterceptingDriver.Interceptor() {
                  @Override
                  public <T> T call(Supplier<T> call) {
                    T result = call.get();
                    if (result instanceof Scan.Page page) {
                      items.addAndGet(page.items().size());
                    }
                    return result;
                  }
                }),
            Clock.system()));
  }
}
