package dev.quipu.view;

import dev.quipu.layer.Store;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;

/** The kept views of a page between two moments: {@link ViewCounter} states how it stores them. */
final class ViewPeriod {
  private static final String BY_TIME_END = "T$"; // the first text after all that start with T#
  private static final String BY_KEY_END = "V$";

  private final Store store;
  private final boolean isByTime;
  private final Scan scan;

  /** Texts that sort as times do. */
  private final String start;

  private final Optional<String> end;

  /**
   * Creates a period.
   *
   * @param isByTime whether markers are sorted by time
   * @throws IllegalArgumentException if {@code from} is after {@code until}
   */
  ViewPeriod(
      Store store,
      boolean isByTime,
      String partition,
      Optional<Instant> from,
      Optional<Instant> until) {
    if (from.isPresent() && until.isPresent() && from.get().isAfter(until.get())) {
      throw new IllegalArgumentException(
          "from is %s, which is after until, %s".formatted(from.get(), until.get()));
    }
    this.store = store;
    this.isByTime = isByTime;
    start = from.map(time -> format("from", time)).orElse("");
    end = until.map(time -> format("until", time));
    scan =
        isByTime
            ? Scan.range(
                partition,
                ViewCounter.BY_TIME + start,
                end.map(time -> ViewCounter.BY_TIME + time).orElse(BY_TIME_END))
            : Scan.range(partition, ViewCounter.BY_KEY, BY_KEY_END);
  }

  private static String format(String field, Instant time) {
    return ViewCounter.text(ViewEvent.checkTime(field, time));
  }

  /** Returns the number of views. */
  long count() {
    LongAdder count = new LongAdder();
    store.scanAll(scan, items -> count.add(items.stream().filter(this::isWithin).count()));
    return count.sum();
  }

  /** Returns one page of the views; see {@link ViewCounter#page}. */
  ViewPage page(String url, int viewsMax, Optional<String> cursor) {
    Scan all = scan.withPages(viewsMax);
    if (cursor.isPresent() && !isWithin(all, cursor.get())) {
      throw new IllegalArgumentException(
          "the cursor is of another query; repeat the query that returned it");
    }
    Scan.Page found = store.scan(cursor.map(all::resumedAt).orElse(all));
    return new ViewPage(
        found.items().stream().filter(this::isWithin).map(item -> counted(url, item)).toList(),
        found.resumeAt());
  }

  private static boolean isWithin(Scan all, String sort) {
    return Key.ORDER.compare(sort, all.from()) >= 0
        && Key.ORDER.compare(sort, all.until().orElseThrow()) < 0;
  }

  private boolean isWithin(Item marker) {
    String time = timeOf(marker);
    return isByTime // only such items are read
        || (time.compareTo(start) >= 0 && (end.isEmpty() || time.compareTo(end.get()) < 0));
  }

  private ViewPage.CountedView counted(String url, Item marker) {
    String identity = marker.key().sort().substring(ViewCounter.BY_TIME.length());
    Instant time = Instant.parse(isByTime ? timeOf(identity) : timeOf(marker));
    Optional<String> client =
        isByTime
            ? Optional.of(
                identity.substring(timeOf(identity).length() + ViewCounter.CLIENT.length()))
            : Optional.empty();
    OptionalLong value =
        marker.fields().containsKey(ViewCounter.VALUE)
            ? OptionalLong.of(marker.number(ViewCounter.VALUE))
            : OptionalLong.empty();
    return new ViewPage.CountedView(url, identity, time, client, value);
  }

  private static String timeOf(String identity) {
    return identity.substring(0, identity.indexOf(ViewCounter.CLIENT));
  }

  private static String timeOf(Item marker) {
    return marker.text(ViewCounter.TIME_FIELD).orElse("");
  }
}
