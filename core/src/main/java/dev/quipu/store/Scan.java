package dev.quipu.store;

import dev.quipu.store.StoreDriver.Consistency;
import java.util.List;
import java.util.Optional;

/**
 * A range of one partition, in order of sort.
 *
 * @param from first sort to return, inclusive; an empty text for the start of the partition
 * @param until end of the range, exclusive; empty for the end of the partition
 * @param descending whether to scan from the end towards the start
 * @param itemsMax maximum number of items to return in one page, 1 to {@link #ITEMS_MAX}
 */
public record Scan(
    String partition,
    String from,
    Optional<String> until,
    boolean descending,
    int itemsMax,
    Consistency consistency) {
  /** Maximum number of items in one page. */
  public static final int ITEMS_MAX = 1_000;

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException if {@code itemsMax} is outside them
   */
  public Scan {
    if (itemsMax < 1 || itemsMax > ITEMS_MAX) {
      throw new IllegalArgumentException(
          "itemsMax is %d; it must be from 1 to %d".formatted(itemsMax, ITEMS_MAX));
    }
  }

  /** Returns an ascending scan of a whole partition, with pages of the largest size. */
  public static Scan all(String partition) {
    return new Scan(partition, "", Optional.empty(), false, ITEMS_MAX, Consistency.STRONG);
  }

  /** Returns an ascending scan from one sort, inclusive, to another, exclusive. */
  public static Scan range(String partition, String from, String until) {
    return new Scan(partition, from, Optional.of(until), false, ITEMS_MAX, Consistency.STRONG);
  }

  /** Returns this scan with pages of another size. */
  public Scan withPages(int itemsOfPage) {
    return new Scan(partition, from, until, descending, itemsOfPage, consistency);
  }

  /** Returns the inclusive start of the range as a {@link Key#place}. */
  public String fromPlace() {
    return Key.group(partition) + "/" + from;
  }

  /** Returns the exclusive end of the range as a {@link Key#place}. */
  public String untilPlace() {
    String group = Key.group(partition);
    return until.map(sort -> group + "/" + sort).orElse(group + "0"); // the character after a slash
  }

  /** Returns this scan continued at {@code sort}, the value of {@link Page#resumeAt}. */
  public Scan resumedAt(String sort) {
    return descending
        ? new Scan(partition, from, Optional.of(sort), true, itemsMax, consistency)
        : new Scan(partition, sort, until, false, itemsMax, consistency);
  }

  /**
   * One page of a {@link Scan}.
   *
   * @param resumeAt the argument of {@link Scan#resumedAt} for the next page; empty on the last
   *     page. Ascending, the first sort of the next page; descending, the last sort of this page.
   */
  public record Page(List<Item> items, Optional<String> resumeAt) {
    /** Copies the items. */
    public Page {
      items = List.copyOf(items);
    }

    /**
     * Returns the page of a scan.
     *
     * @param found items in the order of the scan; one more than the page size if there are more
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
