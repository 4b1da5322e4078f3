package dev.quipu.technique;

import dev.quipu.Limits;
import dev.quipu.store.Capability;
import dev.quipu.store.Change;
import dev.quipu.store.Condition;
import dev.quipu.store.Consistency;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Outcome;
import dev.quipu.store.Page;
import dev.quipu.store.Reason;
import dev.quipu.store.Scan;
import dev.quipu.store.Store;
import dev.quipu.store.StoreException;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/*
 * EXACT UNIQUE VIEWS
 *
 * Problem. Browsers report page views through queues and retries; each view must count once, and
 * one may ask for the views of a page between two moments.
 *
 * Stored. Per page one partition, {@code views/URL}: the item {@code STATISTICS} with the number
 * {@code views}, and one marker per view, {@code T#TIME#CID#CLIENT}. TIME is in UTC with nine
 * digits behind the second, so that markers lie in order of time.
 *
 * Protocol.
 *   1. In one transaction: store the marker if there is none, and add 1 to the number.
 *   2. The marker was there: the view counted before.
 *   3. Unknown outcome: go to 1. It is safe as often as need be.
 *   The views between two moments are the markers between them.
 *
 * Why it is right. As for the marker item: number and markers change together, so the number is
 * the count of the markers.
 *
 * Crash table.
 *   | broken off       | stored            | a repeat           |
 *   | before 1         | nothing           | counts once        |
 *   | request 1 lost   | nothing           | counts once        |
 *   | reply to 1 lost  | number and marker | 2: counts once     |
 *
 * Cost. One round trip, two writes, one item that stays. A range costs one read per 1,000 views.
 *
 * Source. "Implementing accurate counters in DynamoDB using Python".
 */

/** Counts each view of a page once. Thread-safe. */
public final class UniqueViews {
  private static final String STATISTICS = "STATISTICS";
  private static final String VIEWS = "views";
  private static final String MARKER = "T#";
  private static final String MARKERS_END = "T$"; // the first text behind all that start with T#
  private static final int ATTEMPTS_MAX = 8;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSS'Z'").withZone(ZoneOffset.UTC);
  private static final Set<Capability> NEEDS =
      Set.of(Capability.STRONG_READ, Capability.NATIVE_UPDATE, Capability.ATOMIC_BATCH);

  private final Store store;

  /** Counts on {@code store}; one that lacks what is needed is refused at the first view. */
  public UniqueViews(Store store) {
    this.store = store;
  }

  /**
   * Counts a view, once.
   *
   * @return whether it counted now; false if it had counted before
   * @throws StoreException if the outcome is not known; repeat with the same event
   * @throws UnsupportedOperationException if the store has no batches
   */
  public boolean add(ViewEvent event) {
    for (Capability needed : NEEDS) {
      if (!store.profile().has(needed)) {
        throw store.profile().lacks(needed);
      }
    }
    List<Write> batch = batch(event);
    StoreException lost = null;
    for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      try {
        return store.writeAll(batch, null) instanceof WriteResult.Applied;
      } catch (StoreException e) {
        if (e.outcome() == Outcome.NOT_APPLIED || !e.reason().isTemporary()) {
          throw lost == null ? e : StoreException.unknown(e.reason(), "a reply was lost", lost);
        }
        lost = e;
      }
    }
    throw StoreException.unknown(Reason.UNAVAILABLE, "no definite answer for a view", lost);
  }

  private static List<Write> batch(ViewEvent event) {
    String partition = partition(event.url());
    Key marker =
        new Key(partition, MARKER + TIME.format(event.time()) + "#CID#" + event.clientId());
    return List.of(
        new Write.Put(marker, Map.of(), Optional.empty(), new Condition.Absent()),
        new Write.Update(
            new Key(partition, STATISTICS),
            List.of(new Change.Add(VIEWS, 1)),
            new Condition.Always()));
  }

  /** All views of a page; empty if it was never viewed. */
  public OptionalLong count(String url) {
    Optional<Item> found = store.get(new Key(partition(url), STATISTICS), Consistency.STRONG);
    return found.isEmpty() ? OptionalLong.empty() : OptionalLong.of(found.get().number(VIEWS));
  }

  /**
   * The views of a page between two moments.
   *
   * @param from first moment to count; empty for the beginning
   * @param until first moment no longer to count; empty for the end
   * @throws UnsupportedOperationException if the store has no order
   */
  public long count(String url, Optional<Instant> from, Optional<Instant> until) {
    Scan scan =
        new Scan(
            partition(url),
            from.map(time -> MARKER + format("from", time)).orElse(MARKER),
            Optional.of(until.map(time -> MARKER + format("until", time)).orElse(MARKERS_END)),
            false,
            Scan.ITEMS_MAX,
            Consistency.STRONG);
    long count = 0;
    while (true) {
      Page page = store.scan(scan);
      count += page.items().size();
      if (page.resumeAt().isEmpty()) {
        return count;
      }
      scan = scan.resumedAt(page.resumeAt().get());
    }
  }

  private static String format(String field, Instant time) {
    return TIME.format(ViewEvent.checkTime(field, time));
  }

  private static String partition(String url) {
    return "views/" + Limits.checkText("url", url, Limits.URL_BYTES_MAX);
  }
}
