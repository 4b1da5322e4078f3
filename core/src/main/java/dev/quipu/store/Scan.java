package dev.quipu.store;

import dev.quipu.store.StoreDriver.Consistency;
import java.util.List;
import java.util.Optional;

/**
 * A look through one partition in order of sort.
 *
 * @param from first sort to return; empty text for the start of the partition
 * @param until first sort no longer to return; empty for the end of the partition
 * @param descending from the end towards the start
 * @param itemsMax most items to return in one page, 1 to {@link #ITEMS_MAX}
 */
public record Scan(
    String partition,
    String from,
    Optional<String> until,
    boolean descending,
    int itemsMax,
    Consistency consistency) {
  /** Most items in one page. */
  public static final int ITEMS_MAX = 1_000;

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException if {@code itemsMax} is outside them
   */
  public Scan {
    if (itemsMax < 1 || itemsMax > ITEMS_MAX) {
      throw new IllegalArgumentException(
          "itemsMax is %d, the limits are 1 and %d".formatted(itemsMax, ITEMS_MAX));
    }
  }

  /** All of a partition, ascending, by the largest pages. */
  public static Scan all(String partition) {
    return new Scan(partition, "", Optional.empty(), false, ITEMS_MAX, Consistency.STRONG);
  }

  /** The first {@link Key#place} to return. */
  public String fromPlace() {
    return Key.group(partition) + "/" + from;
  }

  /** The first {@link Key#place} no longer to return. */
  public String untilPlace() {
    String group = Key.group(partition);
    return until.map(sort -> group + "/" + sort).orElse(group + "0"); // which is behind a slash
  }

  /** The same look, going on at {@code sort}: what {@link Page#resumeAt} gave. */
  public Scan resumedAt(String sort) {
    return descending
        ? new Scan(partition, from, Optional.of(sort), true, itemsMax, consistency)
        : new Scan(partition, sort, until, false, itemsMax, consistency);
  }

  /**
   * One page of a {@link Scan}.
   *
   * @param resumeAt what to hand to {@link Scan#resumedAt} for the next page; empty on the last
   *     one. Ascending it is the first sort of the next page, descending the last sort of this one.
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
}
