package dev.quipu.memory;

import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A sorted table of items in memory, for drivers that keep their items there. Not thread-safe. */
public final class ItemTable {
  private static final NavigableMap<String, Item> NONE = new TreeMap<>(Key.ORDER);

  private final TreeMap<String, TreeMap<String, Item>> partitions = new TreeMap<>(Key.ORDER);
  private long size;

  /** Creates an empty table. */
  public ItemTable() {}

  /** Returns the number of items. */
  public long size() {
    return size;
  }

  /** Returns the item under a key. */
  public Optional<Item> get(Key key) {
    Map<String, Item> partition = partitions.get(key.partition());
    return partition == null ? Optional.empty() : Optional.ofNullable(partition.get(key.sort()));
  }

  /** Stores an item under its key, or removes the stored one. */
  public void set(Key key, Optional<Item> item) {
    if (item.isPresent()) {
      TreeMap<String, Item> partition =
          partitions.computeIfAbsent(key.partition(), name -> new TreeMap<>(Key.ORDER));
      if (partition.put(key.sort(), item.get()) == null) {
        size++;
      }
      return;
    }
    TreeMap<String, Item> partition = partitions.get(key.partition());
    if (partition != null && partition.remove(key.sort()) != null) {
      size--;
      if (partition.isEmpty()) {
        partitions.remove(key.partition());
      }
    }
  }

  /** Returns the page of a scan. */
  public Page page(Scan scan) {
    NavigableMap<String, Item> partition = partitions.get(scan.partition());
    NavigableMap<String, Item> range = partition == null ? NONE : range(partition, scan);
    List<Item> found = new ArrayList<>();
    for (Item item : (scan.descending() ? range.descendingMap() : range).values()) {
      found.add(item);
      if (found.size() > scan.itemsMax()) {
        break;
      }
    }
    return Page.of(scan, found);
  }

  /** Returns the names of partitions that begin with a prefix, in order, of those after one. */
  public List<String> partitions(String prefix, String after, int namesMax) {
    NavigableMap<String, TreeMap<String, Item>> rest =
        Key.ORDER.compare(after, prefix) < 0
            ? partitions.tailMap(prefix, true)
            : partitions.tailMap(after, false);
    List<String> found = new ArrayList<>();
    for (String each : rest.keySet()) {
      if (found.size() == namesMax || !each.startsWith(prefix)) {
        break;
      }
      found.add(each);
    }
    return found;
  }

  /**
   * Returns the next items in order of key, over all partitions, for an iteration that may release
   * the table between two calls.
   *
   * @param after the last key of the previous call; null to start
   */
  public List<Item> next(@Nullable Key after, int itemsMax) {
    List<Item> found = new ArrayList<>();
    NavigableMap<String, TreeMap<String, Item>> rest = partitions;
    if (after != null) {
      NavigableMap<String, Item> partition = partitions.get(after.partition());
      if (partition != null) {
        take(partition.tailMap(after.sort(), false), itemsMax, found);
      }
      rest = partitions.tailMap(after.partition(), false);
    }
    for (NavigableMap<String, Item> partition : rest.values()) {
      if (found.size() == itemsMax) {
        break;
      }
      take(partition, itemsMax, found);
    }
    return found;
  }

  private static void take(NavigableMap<String, Item> from, int itemsMax, List<Item> found) {
    for (Item item : from.values()) {
      if (found.size() == itemsMax) {
        return;
      }
      found.add(item);
    }
  }

  private static NavigableMap<String, Item> range(NavigableMap<String, Item> partition, Scan scan) {
    if (scan.until().isEmpty()) {
      return partition.tailMap(scan.from(), true);
    }
    return Key.ORDER.compare(scan.from(), scan.until().get()) < 0
        ? partition.subMap(scan.from(), true, scan.until().get(), false)
        : NONE;
  }
}
