package dev.quipu.view;

import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;

/**
 * Sums and averages of views by page, site and day, which follow the stored views with a delay.
 * Thread-safe.
 *
 * <pre>{@code
 * AGGREGATES FROM A STREAM OF CHANGES
 *
 * Problem. DynamoDB has no sum and no average. Counting each view also for its site and day in its
 * own transaction makes all views of a site wait for one item. A stream of the changes of the table
 * moves this work out of the write. But it delivers a change at least once: again after each
 * failure, from the parent and the child of a split shard, and concurrently with later changes.
 *
 * Stored. Pages, sites, and days of a site have one item each, with three numbers: views, values
 * (views that have a value) and sum (of these values). Each view that was added has a marker,
 * aggregated/DIGEST, where DIGEST is the SHA-256 of partition and sort key of its item, and of the
 * random number of the call that stored it.
 *
 * Protocol, for up to 25 changes.
 *   1. In one transaction, store the marker of each view if none exists, and add to the numbers.
 *   2. If a marker exists, read all of them, and repeat 1 with the views that have none. If another
 *      process is faster again, add them one by one.
 *   3. If the outcome is unknown, go to 1.
 *   4. Confirm a change to the stream only after its view is added.
 *
 * Why it is correct. A marker and the numbers change together, so each number is the sum over the
 * markers, whatever the order and the repeats. A change that is not confirmed is delivered again,
 * so none is missing. Two changes have the same digest only if they are of one call: so a view that
 * is counted again after its retention is aggregated again, as ViewCounter counts it, also if it
 * replaces an expired item, and another change of the item of a view is a repeat. A view that
 * another program stored has no such number; its time to live replaces it. Removals, by expiry or
 * by a user, are not changes of a number: aggregates include all views that were counted.
 *
 * Expiry. A marker may expire after a time that exceeds the age of the oldest change that is
 * delivered: 24 hours in DynamoDB Streams. At least two days, for clocks and delays. Without
 * expiry, there are no assumptions about time.
 *
 * Crash table.
 *   | crash           | stored              | the next delivery         |
 *   | before 1        | nothing             | adds                      |
 *   | reply to 1 lost | numbers and markers | 2: finds markers, no adds |
 *   | before 4        | numbers and markers | 2: finds markers, no adds |
 *
 * Cost. A group takes one round trip, with a write for each view and for each page, site and day in
 * it; a repeated group two. Each view leaves one more item until it expires.
 *
 * Source. "Implementing accurate counters in DynamoDB using Python".
 * }</pre>
 */
public final class ViewAggregates {
  /** Shortest retention of markers: a stream delivers changes for 24 hours. */
  public static final Duration KEEP_MIN = Duration.ofDays(2);

  private static final int TOGETHER_MAX = 25;
  private static final int ITEMS_OF_VIEW = 4; // marker, page, site and day
  private static final String STATISTICS = "STATISTICS";
  private static final String DAY = "D#";
  private static final String MARKER = "VIEW";
  private static final String VIEWS = "views";
  private static final String VALUES = "values";
  private static final String SUM = "sum";
  private static final Set<Capability> NEEDS =
      Set.of(Capability.STRONG_READ, Capability.NATIVE_UPDATE, Capability.ATOMIC_BATCH);

  private final Store store;
  private final Optional<Duration> keep;

  /**
   * Creates aggregates in {@code store}, which may be another one than that of the views.
   *
   * @param keep how long repeated changes are recognized, from {@link #KEEP_MIN} to {@link
   *     ViewOptions#KEEP_MAX}; empty for unlimited
   */
  public ViewAggregates(Store store, Optional<Duration> keep) {
    if (keep.isPresent()
        && (keep.get().compareTo(KEEP_MIN) < 0 || keep.get().compareTo(ViewOptions.KEEP_MAX) > 0)) {
      throw new IllegalArgumentException(
          "keep is %s; it must be from %s to %s"
              .formatted(
                  Limits.text(keep.get()),
                  Limits.text(KEEP_MIN),
                  Limits.text(ViewOptions.KEEP_MAX)));
    }
    this.store = store;
    this.keep = keep;
  }

  /**
   * The views of a page, a site or a day.
   *
   * @param views all of them
   * @param values those that have a value
   * @param sum of their values
   */
  public record Aggregate(long views, long values, long sum) {
    /** Returns {@code sum / values}, rounded to a double; empty if no view has a value. */
    public OptionalDouble average() {
      return values == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) sum / values);
    }

    private Aggregate plus(StoredView view) {
      return new Aggregate(
          views + 1, values + (view.value.isPresent() ? 1 : 0), sum + view.value.orElse(0L));
    }
  }

  /**
   * A view as stored by {@link ViewCounter}, out of a change of its item.
   *
   * @param id of the call that stored it
   */
  public record StoredView(String id, String url, LocalDate day, Optional<Long> value) {
    /** The field of the time to live, in seconds since 1970. */
    public static final String TTL = "ttl";

    /**
     * Returns the view that an item of a {@link ViewCounter}, or of another program that stores
     * views in the same table, represents; empty if it is another item.
     *
     * @param partition as stored: a digest if the URL is long, or {@code URL#URL} in a table of
     *     another program
     * @param fields with the time to live of the item, {@link #TTL}, if it has one: it identifies
     *     what another program stored
     * @throws IllegalArgumentException if it has the key of a view, but is none
     */
    public static Optional<StoredView> of(
        String partition, String sort, Map<String, Field> fields) {
      Optional<String> url = ViewCounter.url(partition, fields);
      boolean isByTime = sort.startsWith(ViewCounter.BY_TIME);
      if (url.isEmpty() || !(isByTime || sort.startsWith(ViewCounter.BY_KEY))) {
        return Optional.empty();
      }
      String identifiedBy = fields.containsKey(ViewCounter.CALL) ? ViewCounter.CALL : TTL;
      Optional<Long> write = number(sort, identifiedBy, fields);
      String id = "%s\0%s\0%d".formatted(partition, sort, write.orElse(0L));
      String time =
          isByTime
              ? sort.substring(ViewCounter.BY_TIME.length()).split(ViewCounter.CLIENT, 2)[0]
              : fields.get(ViewCounter.TIME_FIELD) instanceof Field.Text text ? text.value() : "";
      return Optional.of(
          new StoredView(
              HexFormat.of().formatHex(Key.digest(id.getBytes(StandardCharsets.UTF_8))),
              Limits.checkText("url", url.get(), Limits.URL_BYTES_MAX),
              day(sort, time),
              number(sort, ViewCounter.VALUE, fields)));
    }

    private static Optional<Long> number(String sort, String name, Map<String, Field> fields) {
      return switch (fields.get(name)) {
        case null -> Optional.empty();
        case Field.Number number -> Optional.of(number.value());
        case Field.Text text -> throw wrongType(sort, name);
        case Field.Tokens tokens -> throw wrongType(sort, name);
      };
    }

    private static IllegalArgumentException wrongType(String sort, String name) {
      return new IllegalArgumentException(
          "attribute %s of view %s is not a number".formatted(name, sort));
    }

    private static LocalDate day(String sort, String time) {
      try {
        return LocalDate.ofInstant(OffsetDateTime.parse(time).toInstant(), ZoneOffset.UTC);
      } catch (DateTimeException e) {
        throw new IllegalArgumentException("view %s has no valid time".formatted(sort), e);
      }
    }

    private Key marker() {
      return new Key("aggregated/" + id, MARKER);
    }

    private List<Key> numbers() {
      String site = ofSitePartition(ViewCounter.site(url));
      return List.of(
          new Key(ofPagePartition(url), STATISTICS),
          new Key(site, STATISTICS),
          new Key(site, DAY + day));
    }
  }

  /** Returns the maximum number of views in one call of {@link #add}. */
  public int togetherMax() {
    return Math.max(1, Math.min(TOGETHER_MAX, store.profile().batchItemsMax() / ITEMS_OF_VIEW));
  }

  /**
   * Adds views, each once, however often it is passed.
   *
   * @param views at most {@link #togetherMax}
   * @throws QuipuException if some of them were not added, or it is unknown; repeat all of them
   * @throws UnsupportedOperationException if the store has no transactions over all items
   */
  public void add(List<StoredView> views) {
    if (views.size() > togetherMax()) {
      throw new IllegalArgumentException(
          "%d views in one call; the limit is %d. Make several calls"
              .formatted(views.size(), togetherMax()));
    }
    requireAble();
    Map<Key, StoredView> distinct = new LinkedHashMap<>();
    views.forEach(view -> distinct.put(view.marker(), view));
    if (isAdded(distinct)) {
      return;
    }
    List<Key> markers = List.copyOf(distinct.keySet());
    List<Optional<Item>> found = store.getAll(markers);
    for (int i = 0; i < markers.size(); i++) {
      if (found.get(i).isPresent()) {
        distinct.remove(markers.get(i));
      }
    }
    if (!isAdded(distinct)) {
      distinct.forEach((marker, view) -> isAdded(Map.of(marker, view)));
    }
  }

  /** Adds all or none; returns false if one of them has a marker. */
  private boolean isAdded(Map<Key, StoredView> views) {
    if (views.isEmpty()) {
      return true;
    }
    List<Write> batch = batch(views);
    WriteResult result = IdempotentRetry.result(store, "views", () -> store.writeAll(batch, null));
    return switch (result) {
      case WriteResult.Applied applied -> true;
      case WriteResult.ConditionFailed failed -> {
        if (!views.containsKey(failed.key())) {
          throw new NotAppliedException(
              Reason.INVALID, "aggregate would exceed 64 bits: " + failed.key().partition());
        }
        yield false;
      }
    };
  }

  private List<Write> batch(Map<Key, StoredView> views) {
    List<Write> batch = new ArrayList<>();
    Map<Key, Aggregate> changes = new TreeMap<>();
    Optional<Instant> until = keep.map(time -> store.now().plus(time));
    Aggregate none = new Aggregate(0, 0, 0);
    views.forEach((marker, view) -> {
      batch.add(new Write.Put(marker, Map.of(), until, new Condition.Absent()));
      for (Key number : view.numbers()) {
        changes.put(number, changes.getOrDefault(number, none).plus(view));
      }
    });
    changes.forEach((number, change) -> batch.add(update(number, change)));
    return batch;
  }

  private static Write update(Key number, Aggregate change) {
    List<Change> changes = new ArrayList<>();
    changes.add(new Change.Add(VIEWS, change.views));
    if (change.values > 0) {
      changes.add(new Change.Add(VALUES, change.values));
      changes.add(new Change.Add(SUM, change.sum));
    }
    return new Write.Update(number, changes, Condition.always());
  }

  private void requireAble() {
    for (Capability needed : NEEDS) {
      if (!store.profile().has(needed)) {
        throw store.profile().lacks(needed);
      }
    }
    if (store.profile().atomicity() != Atomicity.STORE) {
      throw new UnsupportedOperationException(
          "store %s has no batches over pages and sites".formatted(store.profile().name()));
    }
  }

  /** Returns the aggregate of a page; empty if it has no views. */
  public Optional<Aggregate> ofPage(String url) {
    return read(new Key(ofPagePartition(url), STATISTICS));
  }

  /** Returns the aggregate of a site; empty if it has no views. */
  public Optional<Aggregate> ofSite(String site) {
    return read(new Key(ofSitePartition(site), STATISTICS));
  }

  /** Returns the aggregate of a site on a day in UTC; empty if there were no views. */
  public Optional<Aggregate> ofDay(String site, LocalDate day) {
    return read(new Key(ofSitePartition(site), DAY + day));
  }

  private Optional<Aggregate> read(Key key) {
    return store
        .get(key)
        .map(item -> new Aggregate(item.number(VIEWS), item.number(VALUES), item.number(SUM)));
  }

  private static String ofPagePartition(String url) {
    return "aggregate/" + Limits.checkText("url", url, Limits.URL_BYTES_MAX);
  }

  private static String ofSitePartition(String site) {
    return "aggregate-of-site/" + Limits.checkText("site", site, Limits.URL_BYTES_MAX);
  }
}
