package dev.quipu.transaction;

import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.Write;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds open holds by their counters and by their expiry. Its entries are written in the same batch
 * as the hold, so each open hold has exactly these entries, and no other has any.
 *
 * <p>Stored: for each counter, {@code holds/counter/NAME}, the bits of the id; with the bounds of
 * the hold. And once, {@code holds/expiry/BUCKET}, the expiry in milliseconds and the bits.
 */
final class HoldIndex {
  /** Partitions of the entries by expiry, so that no single one takes all writes. */
  static final int BUCKETS = 16;

  private static final int PAGE_ITEMS = 100;
  private static final String FLOOR = "floor";
  private static final String CEILING = "ceiling";

  private final Store store;

  HoldIndex(Store store) {
    this.store = store;
  }

  /** The bounds of the open holds on a counter: the highest floor and the lowest ceiling. */
  record Extremes(long floor, long ceiling) {}

  private static Key byCounter(String counter, RequestId id) {
    return new Key("holds/counter/" + counter, id.bits());
  }

  private static Key byExpiry(RequestId id, long millis) {
    return new Key(bucket(id.low() & (BUCKETS - 1)), "%015d/%s".formatted(millis, id.bits()));
  }

  private static String bucket(long number) {
    return "holds/expiry/%x".formatted(number);
  }

  /** Includes the entries of a hold that is placed. */
  static void addTo(List<Write> batch, Stored.Held hold) {
    for (Part part : hold.parts()) {
      Map<String, Field> bounds = new HashMap<>();
      if (part.bounds().floor() != Long.MIN_VALUE) {
        bounds.put(FLOOR, new Field.Number(part.bounds().floor()));
      }
      if (part.bounds().ceiling() != Long.MAX_VALUE) {
        bounds.put(CEILING, new Field.Number(part.bounds().ceiling()));
      }
      Key key = byCounter(part.counter(), hold.id());
      batch.add(new Write.Put(key, bounds, Condition.always()));
    }
    addExpiry(batch, hold);
  }

  /** Includes the entry by expiry. */
  static void addExpiry(List<Write> batch, Stored.Held hold) {
    Key key = byExpiry(hold.id(), hold.expiresMillis());
    batch.add(new Write.Put(key, Map.of(), Condition.always()));
  }

  /** Removes the entries of a hold that ends. */
  static void removeFrom(List<Write> batch, Stored.Held hold) {
    for (Part part : hold.parts()) {
      batch.add(new Write.Delete(byCounter(part.counter(), hold.id()), Condition.always()));
    }
    removeExpiry(batch, hold);
  }

  /** Removes the entry by expiry. */
  static void removeExpiry(List<Write> batch, Stored.Held hold) {
    Key key = byExpiry(hold.id(), hold.expiresMillis());
    batch.add(new Write.Delete(key, Condition.always()));
  }

  /**
   * Passes on the ids of the holds of a partition whose time to live has ended.
   *
   * @param bucket 0 to {@link #BUCKETS} - 1
   */
  void forEachDue(int bucket, Instant now, Consumer<RequestId> action) {
    String until = "%015d".formatted(now.toEpochMilli() + 1);
    Scan due = Scan.range(bucket(bucket), "", until).withPages(PAGE_ITEMS);
    store.scanAll(
        due,
        page ->
            page.forEach(entry -> {
              String sort = entry.key().sort();
              action.accept(RequestId.of(sort.substring(sort.indexOf('/') + 1)));
            }));
  }

  /** Returns a page of the ids of the holds on a counter, ordered by their bits. */
  List<RequestId> on(String counter, @Nullable RequestId after, int limit) {
    // The first text after the bits: the space is lower than all digits.
    String from = after == null ? "" : after.bits() + " ";
    Scan scan = Scan.all(partition(counter)).resumedAt(from).withPages(limit);
    List<RequestId> ids = new ArrayList<>();
    for (Page page = store.scan(scan); ; page = store.scan(scan.resumedAt(resume(page)))) {
      page.items().forEach(entry -> ids.add(RequestId.of(entry.key().sort())));
      if (ids.size() >= limit || page.resumeAt().isEmpty()) {
        return ids.size() > limit ? ids.subList(0, limit) : ids;
      }
    }
  }

  private static String resume(Page page) {
    return page.resumeAt().orElseThrow();
  }

  private static String partition(String counter) {
    return byCounter(counter, RequestId.of(0, 0)).partition();
  }

  /** Returns the bounds of the open holds on a counter; reads them all. */
  Extremes extremes(String counter) {
    long[] found = {Long.MIN_VALUE, Long.MAX_VALUE};
    store.scanAll(
        Scan.all(partition(counter)),
        page -> {
          for (Item entry : page) {
            if (entry.fields().containsKey(FLOOR)) {
              found[0] = Math.max(found[0], entry.number(FLOOR));
            }
            if (entry.fields().containsKey(CEILING)) {
              found[1] = Math.min(found[1], entry.number(CEILING));
            }
          }
        });
    return new Extremes(found[0], found[1]);
  }
}
