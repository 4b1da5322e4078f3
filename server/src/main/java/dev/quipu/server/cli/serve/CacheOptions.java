package dev.quipu.server.cli.serve;

import dev.quipu.Quipu;
import dev.quipu.display.CacheFirst;
import dev.quipu.display.DisplayCounters;
import dev.quipu.display.DurableFirst;
import dev.quipu.display.WriteBack;
import dev.quipu.layer.Store;
import dev.quipu.server.cli.access.OpenedStore;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for the cache of display counters. */
final class CacheOptions {
  @Option(
      names = "--cache",
      paramLabel = "URI",
      description =
          "Read display counters (/v1/display) from this cache, and keep presence there:"
              + " memcached://HOST:PORT, or another store.")
  private @Nullable String cache;

  @Option(
      names = "--cache-first",
      description =
          "Count views of display counters in the cache, and write them to the store"
              + " periodically (default: each view is durable immediately).")
  private boolean cacheFirst;

  @Option(
      names = "--unflushed",
      paramLabel = "N",
      description =
          "With --cache-first: maximum number of views of a counter that may be lost with the"
              + " cache, 1 to"
              + " 1000000 (default "
              + CacheFirst.UNFLUSHED_DEFAULT
              + ").")
  private @Nullable Long unflushed;

  @Option(
      names = "--write-back",
      paramLabel = "TIME",
      description = "With --cache-first: interval between writes to the store (default 5s).")
  private @Nullable Duration writeBack;

  @Option(
      names = "--age",
      paramLabel = "TIME",
      description = "Without --cache-first: maximum age of a value from the cache (default 1s).")
  private @Nullable Duration age;

  private static final Duration WRITE_BACK = Duration.ofSeconds(5);

  /**
   * The display counters.
   *
   * @param store the cache, if there is one
   */
  record Shown(DisplayCounters counters, Optional<Store> store, Runnable onClose) {}

  /**
   * Checks the options, before a store is opened.
   *
   * @throws IllegalArgumentException for conflicting options
   */
  void check() {
    boolean ofCacheFirst = unflushed != null || writeBack != null;
    if (cache == null && (cacheFirst || ofCacheFirst || age != null)) {
      throw new IllegalArgumentException(
          "--cache-first, --unflushed, --write-back and --age need --cache");
    }
    if (cacheFirst ? age != null : ofCacheFirst) {
      throw new IllegalArgumentException(
          "--unflushed and --write-back need --cache-first; --age conflicts with it");
    }
  }

  /** Opens the cache. */
  Shown open(Quipu quipu) {
    if (cache == null) {
      return new Shown(quipu.part(DisplayCounters.class), Optional.empty(), () -> {});
    }
    OpenedStore opened = OpenedStore.of("--cache", cache);
    try {
      Store store = opened.store();
      Store durable = quipu.part(Store.class);
      if (!cacheFirst) {
        Duration ageMax = age == null ? DurableFirst.AGE_DEFAULT : age;
        DisplayCounters counters =
            new DurableFirst(store.operations(), quipu.counters(), durable.clock(), ageMax);
        return new Shown(counters, Optional.of(store), opened::close);
      }
      if (quipu.isRegional()) {
        throw new UnsupportedOperationException("--cache-first is not supported with regions");
      }
      CacheFirst counters =
          new CacheFirst(
              store.operations(),
              durable,
              quipu.counters(),
              unflushed == null ? CacheFirst.UNFLUSHED_DEFAULT : unflushed);
      WriteBack running = new WriteBack(counters, writeBack == null ? WRITE_BACK : writeBack);
      return new Shown(
          counters,
          Optional.of(store),
          () -> {
            running.close();
            opened.close();
          });
    } catch (RuntimeException e) {
      opened.close();
      throw e;
    }
  }
}
