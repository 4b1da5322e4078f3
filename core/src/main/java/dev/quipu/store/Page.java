package dev.quipu.store;

import java.util.List;
import java.util.Optional;

/**
 * One page of a {@link Scan}.
 *
 * @param resumeAt what to hand to {@link Scan#resumedAt} for the next page; empty on the last one.
 *     Ascending it is the first sort of the next page, descending the last sort of this one.
 */
public record Page(List<Item> items, Optional<String> resumeAt) {
  /** Copies the items. */
  public Page {
    items = List.copyOf(items);
  }

  /**
   * The page of a scan.
   *
   * @param found in the order of the scan; one more than the scan asks for where there are more
   */
  public static Page of(Scan scan, List<Item> found) {
    if (found.size() <= scan.itemsMax()) {
      return new Page(found, Optional.empty());
    }
    List<Item> items = found.subList(0, scan.itemsMax());
    Item border = scan.descending() ? items.getLast() : found.get(scan.itemsMax());
    return new Page(items, Optional.of(border.key().sort()));
  }
}
