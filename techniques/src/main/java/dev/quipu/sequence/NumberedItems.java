package dev.quipu.sequence;

import dev.quipu.CounterPage;
import dev.quipu.Limits;
import dev.quipu.Reading;
import dev.quipu.layer.Store;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * The items of a series, by number.
 *
 * <p>Stored: in the partition {@code PREFIX} plus the series, under {@code n} and the number in 19
 * digits.
 */
final class NumberedItems {
  private static final String NUMBER = "n";
  private static final String NUMBERS_END = "o"; // the first text after all numbers

  private final Store store;
  private final String prefix;

  NumberedItems(Store store, String prefix) {
    this.store = store;
    this.prefix = prefix;
  }

  static void checkSeries(String series) {
    Limits.checkText("series", series, Limits.NAME_BYTES_MAX);
  }

  static void checkPayload(String payload) {
    int bytes = Limits.utf8Length(payload);
    if (bytes > SequenceOfRecords.PAYLOAD_BYTES_MAX) {
      throw new IllegalArgumentException(
          "payload is %d bytes long; the limit is %d"
              .formatted(bytes, SequenceOfRecords.PAYLOAD_BYTES_MAX));
    }
  }

  String partition(String series) {
    return prefix + series;
  }

  Key key(String series, long number) {
    return new Key(partition(series), NUMBER + "%019d".formatted(number));
  }

  static long number(Item item) {
    return Long.parseLong(item.key().sort().substring(NUMBER.length()));
  }

  Optional<Item> get(String series, long number) {
    return number < 1 ? Optional.empty() : store.get(key(series, number));
  }

  /**
   * Returns the item with the highest number, on a store with scans; with eventual consistency,
   * perhaps an earlier one.
   */
  Optional<Item> newest(String series, Consistency consistency) {
    Scan scan = new Scan(partition(series), NUMBER, Optional.of(NUMBERS_END), true, 1, consistency);
    return store.scan(scan).items().stream().findFirst();
  }

  /** Returns the series whose names begin with a prefix, after one, each with a number. */
  CounterPage series(
      String namePrefix, String after, int seriesMax, ToLongFunction<String> number) {
    String last = after.isEmpty() ? "" : partition(after);
    List<String> found =
        store.partitions(partition(namePrefix), last, seriesMax).stream()
            .map(each -> each.substring(prefix.length()))
            .toList();
    return new CounterPage(
        found.stream()
            .map(each -> new CounterPage.Entry(each, Reading.exact(number.applyAsLong(each))))
            .toList(),
        found.size() < seriesMax ? Optional.empty() : Optional.of(found.getLast()));
  }

  /** Returns the existing items of a range of numbers, in order of number. */
  List<Item> page(String series, long from, int limit) {
    List<Item> found = new ArrayList<>();
    if (store.profile().has(Capability.ORDERED_SCAN)) {
      Scan scan =
          Scan.range(partition(series), key(series, from).sort(), key(series, from + limit).sort());
      store.scanAll(scan.withPages(limit), found::addAll);
      return found;
    }
    for (long number = from; number < from + limit; number++) {
      Optional<Item> item = get(series, number);
      if (item.isEmpty()) {
        return found;
      }
      found.add(item.get());
    }
    return found;
  }
}
