package dev.quipu.store;

import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreProfile.Capability;
import java.util.List;
import java.util.Optional;

/**
 * A driver that keeps the items of a partition sorted, implemented by each driver that declares
 * {@link Capability#ORDERED_SCAN} or {@link Capability#EVENTUAL_SCAN}.
 */
public interface ScanDriver extends StoreDriver {
  /** Returns one page of one partition, in order of sort. */
  Page scan(Scan scan);

  /**
   * Returns the number of items in a range of one partition; {@link Scan#descending} and {@link
   * Scan#itemsMax} do not change the result. Counts expired items that are still stored.
   */
  default long count(Scan scan) {
    long count = 0;
    Optional<String> resume = Optional.empty();
    do {
      Page page = scan(resume.map(scan::resumedAt).orElse(scan));
      count += page.items().size();
      resume = page.resumeAt();
    } while (resume.isPresent());
    return count;
  }

  /**
   * Returns the names of partitions that begin with a prefix, in {@link Key#ORDER}.
   *
   * @param after only names after this one; empty for all
   * @param namesMax maximum number of names, 1 to {@link Scan#ITEMS_MAX}
   * @throws UnsupportedOperationException if the store does not have its partitions in order
   */
  default List<String> partitions(String prefix, String after, int namesMax) {
    throw new UnsupportedOperationException(
        "store %s does not list its partitions; the engine does".formatted(profile().name()));
  }

  /**
   * Returns the driver as a {@link ScanDriver}.
   *
   * @throws UnsupportedOperationException if it does not support scans
   */
  static ScanDriver of(StoreDriver driver) {
    if (driver instanceof ScanDriver scans) {
      return scans;
    }
    throw driver.profile().lacks(Capability.ORDERED_SCAN);
  }
}
