package dev.quipu.view;

import dev.quipu.CounterPage;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import dev.quipu.time.Randomness;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Counts views of pages. Thread-safe.
 *
 * <pre>{@code
 * VIEWS FROM AN AT-LEAST-ONCE QUEUE
 *
 * Problem. Browsers report page views through queues and with retries, so that views arrive out of
 * order and with duplicates. Each view must count exactly once, and the views of a page between two
 * moments must be countable.
 *
 * Stored. Each page has a partition, views/URL: the item STATISTICS with the number of views, and
 * one marker per view. If a view is identified by its time and client, the marker is
 * T#TIME#CID#CLIENT, with TIME in UTC with nine fractional digits, so that markers are sorted by
 * time; under any other identity it is V#KEY, and has the time as a field. A marker keeps the
 * value of its event. Each site has a
 * partition, views-of-site/HOST: STATISTICS, and D#DAY for each day.
 *
 * Protocol, exact.
 *   1. In one transaction, store the marker if it does not exist, and add 1 to each number.
 *   2. If the marker exists, the view was counted before.
 *   3. If the outcome is unknown, go to 1. Any number of retries is safe; if the marker has the
 *      random number of this call, this call counted the view.
 *   Several events may share a transaction; if one of them has a marker already, those without are
 *   counted in another one, and one by one if that fails too. The views between two moments are the
 *   markers between them.
 *
 * The other forms, for comparison. Naive: add 1 to the number, which fails if there is none, so
 * that no page ever gets a first view. If-not-exists: add 1 to the number, or to 0 if there is
 * none. Both count an event as often as it is delivered, and an unknown outcome stays unknown.
 *
 * Why it is correct. The marker and the numbers change together, so each number is the count of the
 * markers that belong to it, whatever the order, the duplicates and the number of consumers.
 *
 * Expiry. A marker may expire after a given time. A repeat within that time is recognized; a later
 * one counts again. So that time must exceed the sum of the following: the time until the last
 * delivery of an event, the clock difference between two processes, the delay of a write, and the
 * longest pause of a process within a call. Without expiry, there are no assumptions about time. A
 * marker that has expired is treated as missing from that moment on, whether or not the store has
 * removed it yet. Numbers do not expire; views between two moments include only those whose markers
 * are kept.
 *
 * Crash table.
 *   | crash           | stored             | a repeat               |
 *   | before 1        | nothing            | counts exactly once    |
 *   | request 1 lost  | nothing            | counts exactly once    |
 *   | reply to 1 lost | numbers and marker | 2: counts exactly once |
 *
 * Cost. A view takes one round trip, with a write for the marker and one for each number. It leaves
 * one item, which is kept forever or until it expires. Counting the views between two moments takes
 * one read per 1,000 views; with markers that are not sorted by time, all markers of the page are
 * read.
 *
 * Source. "Implementing accurate counters in DynamoDB using Python".
 * }</pre>
 */
public final class ViewCounter {
  private static final String STATISTICS = "STATISTICS";
  private static final String VIEWS = "views";
  static final String TIME_FIELD = "time";
  static final String BY_TIME = "T#";
  static final String CLIENT = "#CID#";
  static final String BY_KEY = "V#";
  private static final String DAY = "D#";
  static final String CALL = "call"; // random id of the call that wrote a marker
  private static final String PAGES = "views/";
  private static final String PAGES_OF_OTHERS = "URL#"; // in a table with layout=views
  private static final int PARTITION_BYTES_KEPT = 1_024; // DynamoDB hashes partitions above 2,048
  private static final String URL = "url"; // of the page, if its partition may be hashed
  static final String VALUE = "value"; // of the event, for ViewAggregates
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSS'Z'").withZone(ZoneOffset.UTC);
  private static final Set<Capability> NEEDS =
      Set.of(Capability.STRONG_READ, Capability.NATIVE_UPDATE, Capability.ATOMIC_BATCH);

  private final Store store;
  private final ViewOptions options;
  private final RandomGenerator random = Randomness.secure();

  /**
   * Creates an exact counter without expiry on {@code store}. If the store lacks a capability, the
   * first view is rejected.
   */
  public ViewCounter(Store store) {
    this(store, ViewOptions.EXACT);
  }

  /** Creates a counter with the given options. */
  public ViewCounter(Store store, ViewOptions options) {
    this.store = store;
    this.options = options;
  }

  /** Returns the options. */
  public ViewOptions options() {
    return options;
  }

  /**
   * Counts a view.
   *
   * @return whether it was counted now; false if it was counted before
   * @throws QuipuException if the outcome is unknown; if the form is exact, repeat with the same
   *     event
   * @throws UnsupportedOperationException if the store lacks a capability
   */
  public boolean add(ViewEvent event) {
    return switch (options.form()) {
      case NAIVE -> addToWhatIsThere(event);
      case IF_NOT_EXISTS -> isApplied(plusOne(partition(event.url()), STATISTICS));
      case EXACT -> addOnce(event);
    };
  }

  private boolean addToWhatIsThere(ViewEvent event) {
    Write write = plusOne(partition(event.url()), STATISTICS).when(new Condition.Has(VIEWS));
    return switch (store.write(write)) {
      case WriteResult.Applied applied -> true;
      case WriteResult.ConditionFailed failed -> {
        if (failed.found().filter(it -> it.fields().containsKey(VIEWS)).isEmpty()) {
          throw new NotAppliedException(Reason.INVALID, "no view count to add to: " + event.url());
        }
        yield false;
      }
    };
  }

  private boolean isApplied(Write write) {
    return store.write(write) instanceof WriteResult.Applied;
  }

  private boolean addOnce(ViewEvent event) {
    requireAble();
    long call = random.nextLong();
    List<Write> batch = batch(event, call);
    WriteResult result = IdempotentRetry.result(store, "a view", () -> store.writeAll(batch, null));
    return switch (result) {
      case WriteResult.Applied applied -> true;
      case WriteResult.ConditionFailed failed -> isOwn(failed, batch.getFirst().key(), call);
    };
  }

  /** Returns whether the existing marker is of this call, whose reply was lost. */
  private static boolean isOwn(WriteResult.ConditionFailed failed, Key marker, long call) {
    if (!failed.key().equals(marker)) {
      throw new NotAppliedException(
          Reason.INVALID, "view count would exceed 64 bits: " + failed.key().partition());
    }
    return failed
        .found()
        .filter(it -> it.fields().containsKey(CALL) && it.number(CALL) == call)
        .isPresent();
  }

  /**
   * Counts several views in one transaction, if none of them was counted before: cheaper for the
   * store than one by one.
   *
   * @return false if nothing was counted: one of them was counted before, two of them are the same,
   *     the form is not exact, or the store has no batches over all items, or none that large;
   *     count them one by one
   * @throws QuipuException as for {@link #add}, and with the same meaning: repeat one by one
   */
  public boolean addTogether(List<ViewEvent> events) {
    if (!isTogether()) {
      return false;
    }
    Map<Key, ViewEvent> distinct = byMarker(events);
    List<Write> batch = batch(distinct.values(), random.nextLong());
    return distinct.size() == events.size()
        && batch.size() <= store.profile().batchItemsMax()
        && store.writeAll(batch, null) instanceof WriteResult.Applied;
  }

  /** Returns the maximum number of views in one call of {@link #addAll}; 1 if none are together. */
  public int togetherMax() {
    return isTogether()
        ? Math.max(1, store.profile().batchItemsMax() / (1 + options.counted().size()))
        : 1;
  }

  private boolean isTogether() {
    return options.form() == ViewOptions.Form.EXACT
        && store.profile().atomicity() == Atomicity.STORE;
  }

  /**
   * Counts several views, each as {@link #add} does, in one transaction if none was counted before,
   * and otherwise in one of those that were not.
   *
   * @param events at most {@link #togetherMax}
   * @return for each, whether it was counted now; false if it was counted before, or is a repeat of
   *     an earlier one of them
   * @throws QuipuException if some were not counted, or it is unknown; if the form is exact, repeat
   *     with the same events
   * @throws UnsupportedOperationException if the store lacks a capability
   */
  public List<Boolean> addAll(List<ViewEvent> events) {
    if (events.size() > togetherMax()) {
      throw new IllegalArgumentException(
          "%d views in one call; the limit is %d. Make several calls"
              .formatted(events.size(), togetherMax()));
    }
    if (events.size() == 1) {
      return List.of(add(events.getFirst()));
    }
    Map<Key, ViewEvent> left = byMarker(events);
    if (!isCountedTogether(left)) {
      removeCounted(left);
      if (!isCountedTogether(left)) {
        left.values().removeIf(event -> !addOnce(event)); // others count them at this moment
      }
    }
    Set<Key> counted = new HashSet<>(left.keySet());
    return events.stream().map(event -> counted.remove(markerKey(event))).toList();
  }

  /** Counts all or none; returns false if one of them has a marker, or a number would overflow. */
  private boolean isCountedTogether(Map<Key, ViewEvent> events) {
    if (events.isEmpty()) {
      return true;
    }
    long call = random.nextLong();
    List<Write> batch = batch(events.values(), call);
    WriteResult result = IdempotentRetry.result(store, "views", () -> store.writeAll(batch, null));
    return switch (result) {
      case WriteResult.Applied applied -> true;
      case WriteResult.ConditionFailed failed ->
          events.containsKey(failed.key()) && isOwn(failed, failed.key(), call);
    };
  }

  private void removeCounted(Map<Key, ViewEvent> events) {
    List<Key> markers = List.copyOf(events.keySet());
    List<Optional<Item>> found = store.getAll(markers);
    for (int i = 0; i < markers.size(); i++) {
      if (found.get(i).isPresent()) {
        events.remove(markers.get(i));
      }
    }
  }

  /** Returns the first event with each marker, in the order of the markers. */
  private Map<Key, ViewEvent> byMarker(List<ViewEvent> events) {
    Map<Key, ViewEvent> first = new TreeMap<>();
    events.forEach(event -> first.putIfAbsent(markerKey(event), event));
    return first;
  }

  private List<Write> batch(Collection<ViewEvent> events, long call) {
    requireAble();
    List<Write> all = new ArrayList<>();
    Map<Key, Long> numbers = new TreeMap<>();
    for (ViewEvent event : events) {
      for (Write write : batch(event, call)) {
        if (write instanceof Write.Update) {
          numbers.merge(write.key(), 1L, Long::sum);
        } else {
          all.add(write);
        }
      }
    }
    numbers.forEach((key, views) -> all.add(plus(key, views)));
    return all;
  }

  private void requireAble() {
    for (Capability needed : NEEDS) {
      if (!store.profile().has(needed)) {
        throw store.profile().lacks(needed);
      }
    }
    if (options.counted().size() > 1 && store.profile().atomicity() != Atomicity.STORE) {
      throw new UnsupportedOperationException(
          "store %s has no batches over pages and sites".formatted(store.profile().name()));
    }
  }

  private List<Write> batch(ViewEvent event, long call) {
    String page = partition(event.url());
    List<Write> batch = new ArrayList<>();
    batch.add(marker(page, event, call));
    batch.add(plusOne(page, STATISTICS));
    if (options.counted().contains(ViewOptions.Counted.SITE)) {
      batch.add(plusOne(sitePartition(site(event.url())), STATISTICS));
    }
    if (options.counted().contains(ViewOptions.Counted.DAY)) {
      batch.add(plusOne(sitePartition(site(event.url())), DAY + ViewIdentity.day(event)));
    }
    return batch;
  }

  private Write marker(String page, ViewEvent event, long call) {
    Optional<Instant> until = options.keep().map(time -> store.now().plus(time));
    Map<String, Field> fields = new HashMap<>();
    fields.put(CALL, new Field.Number(call));
    if (!isByTime()) {
      fields.put(TIME_FIELD, new Field.Text(text(event.time())));
    }
    if (Limits.utf8Length(page) > PARTITION_BYTES_KEPT) {
      fields.put(URL, new Field.Text(event.url()));
    }
    event.value().ifPresent(value -> fields.put(VALUE, new Field.Number(value)));
    return new Write.Put(markerKey(event), fields, until, new Condition.Absent());
  }

  private Key markerKey(ViewEvent event) {
    String prefix = isByTime() ? BY_TIME : BY_KEY;
    return new Key(partition(event.url()), prefix + options.identity().of(event));
  }

  private boolean isByTime() {
    return options.identity().equals(ViewIdentity.EVENT);
  }

  private static Write plusOne(String partition, String sort) {
    return plus(new Key(partition, sort), 1);
  }

  private static Write plus(Key number, long views) {
    return new Write.Update(number, List.of(new Change.Add(VIEWS, views)), Condition.always());
  }

  /** Returns the views of a page; empty if it was never viewed. */
  public OptionalLong count(String url) {
    return number(partition(url), STATISTICS);
  }

  /** Returns the views of a site, if they are counted; empty if there were none. */
  public OptionalLong countOfSite(String site) {
    return number(sitePartition(site), STATISTICS);
  }

  /** Returns the views of a site on a day in UTC, if they are counted; empty if there were none. */
  public OptionalLong countOfDay(String site, LocalDate day) {
    return number(sitePartition(site), DAY + day);
  }

  /**
   * Returns the pages whose URLs begin with a prefix, as counters whose values are their views, in
   * order of their URLs.
   *
   * @param after only URLs after this one; empty for all
   * @param pagesMax maximum number of pages, 1 to {@link Scan#ITEMS_MAX}
   * @throws UnsupportedOperationException if the store does not list its partitions
   */
  public CounterPage pages(String prefix, String after, int pagesMax) {
    String last = after.isEmpty() ? "" : PAGES + after;
    List<String> found = store.partitions(PAGES + prefix, last, pagesMax);
    List<Optional<Item>> numbers =
        store.getEach(found.stream().map(each -> new Key(each, STATISTICS)).toList());
    List<CounterPage.Entry> pages = new ArrayList<>();
    for (int i = 0; i < found.size(); i++) {
      String url = found.get(i).substring(PAGES.length());
      numbers
          .get(i)
          .ifPresent(
              item -> pages.add(new CounterPage.Entry(url, Reading.exact(item.number(VIEWS)))));
    }
    return new CounterPage(
        pages,
        found.size() < pagesMax
            ? Optional.empty()
            : Optional.of(found.getLast().substring(PAGES.length())));
  }

  private OptionalLong number(String partition, String sort) {
    Optional<Item> found = store.get(new Key(partition, sort));
    return found.isEmpty() ? OptionalLong.empty() : OptionalLong.of(found.get().number(VIEWS));
  }

  /**
   * Returns the number of views of a page between two moments, of those that are kept.
   *
   * @param from start, inclusive; empty for the beginning
   * @param until end, exclusive; empty for the end
   * @throws IllegalArgumentException if {@code from} is after {@code until}
   * @throws UnsupportedOperationException if the store has no scan
   */
  public long count(String url, Optional<Instant> from, Optional<Instant> until) {
    return period(url, from, until).count();
  }

  /**
   * Returns one page of the views of a page between two moments, of those that are kept.
   *
   * @param from start, inclusive; empty for the beginning
   * @param until end, exclusive; empty for the end
   * @param viewsMax maximum number of views to return, 1 to {@link ViewPage#VIEWS_MAX}. A page may
   *     have fewer, even none, and still a cursor, if markers are not sorted by time
   * @param cursor of the previous page, with the same other arguments; empty for the first page
   * @throws IllegalArgumentException if {@code from} is after {@code until}, or another argument is
   *     outside its limits
   * @throws UnsupportedOperationException if the store has no scan
   */
  public ViewPage page(
      String url,
      Optional<Instant> from,
      Optional<Instant> until,
      int viewsMax,
      Optional<String> cursor) {
    Limits.checkPage(viewsMax, ViewPage.VIEWS_MAX);
    return period(url, from, until).page(url, viewsMax, cursor);
  }

  private ViewPeriod period(String url, Optional<Instant> from, Optional<Instant> until) {
    return new ViewPeriod(store, isByTime(), partition(url), from, until);
  }

  /** Returns a time as used in keys, which sorts ordered by time. */
  static String text(Instant time) {
    return TIME.format(time);
  }

  /**
   * Returns the site of a page in lower case: the host, or the part before the first slash; "-" if
   * that is empty.
   */
  public static String site(String url) {
    try {
      String host = new URI(url).getHost();
      if (host != null) {
        return host.toLowerCase(Locale.ROOT);
      }
    } catch (URISyntaxException e) {
      // not a URI: treated as text
    }
    String first = url.split("/", 2)[0].toLowerCase(Locale.ROOT);
    return first.isEmpty() ? "-" : first; // only a path, without a host
  }

  private static String sitePartition(String site) {
    return "views-of-site/" + Limits.checkText("site", site, Limits.URL_BYTES_MAX);
  }

  /** Returns the URL of the page that an item belongs to; empty if it belongs to none. */
  static Optional<String> url(String partition, Map<String, Field> fields) {
    if (fields.get(URL) instanceof Field.Text url) {
      return Optional.of(url.value());
    }
    return Stream.of(PAGES, PAGES_OF_OTHERS)
        .filter(partition::startsWith)
        .map(prefix -> partition.substring(prefix.length()))
        .findFirst();
  }

  private static String partition(String url) {
    return PAGES + Limits.checkText("url", url, Limits.URL_BYTES_MAX);
  }
}
