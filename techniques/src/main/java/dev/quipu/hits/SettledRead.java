package dev.quipu.hits;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Reads several items, of which later ones may change only a settle time after earlier ones have:
 * correct if it is quick, and retried otherwise.
 */
final class SettledRead {
  private static final int READS_MAX = 20;

  private SettledRead() {}

  /**
   * Reads, with retries.
   *
   * @param settle the settle time; a read may take half of it
   * @throws QuipuException if every attempt takes longer
   */
  static <T> T of(Store store, Duration settle, String counter, Supplier<T> read) {
    for (int attempt = 0; attempt < READS_MAX; attempt++) {
      long start = store.clock().nanoTime();
      T found = read.get();
      if (store.clock().nanoTime() - start <= settle.toNanos() / 2) {
        return found;
      }
    }
    throw new NotAppliedException(
        Reason.TIMEOUT,
        "read of counter %s takes longer than half of the settle time %s"
            .formatted(counter, settle));
  }
}
