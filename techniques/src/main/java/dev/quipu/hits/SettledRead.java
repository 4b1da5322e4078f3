package dev.quipu.hits;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Reads several items of which the later ones go only a settled age after the earlier ones have
 * changed: right if it is quick, and else done again.
 */
final class SettledRead {
  private static final int READS_MAX = 20;

  private SettledRead() {}

  /**
   * Reads.
   *
   * @param settle the age; a read may take half of it
   * @throws QuipuException if it takes longer each time
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
        "a read of counter %s takes longer than half of %s".formatted(counter, settle));
  }
}
