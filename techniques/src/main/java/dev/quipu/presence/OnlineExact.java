package dev.quipu.presence;

import dev.quipu.Limits;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Reason;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Counts online clients exactly, on a store with ordered scan. Thread-safe.
 *
 * <pre>{@code
 * ONLINE USERS, EXACTLY
 *
 * Problem. The number of online users must be known to the millisecond, without counting any user
 * twice.
 *
 * Stored. Each room is a partition. For each client it holds one empty item, which expires when the
 * window after the client's last hit has passed.
 *
 * Protocol of a hit.
 *   1. Read the clock, and read the item. If it expires at the new expiry time or later, the hit is
 *      done.
 *   2. Store the item with the new expiry time, if it is unchanged. If it has changed, or if the
 *      outcome is unknown, go to 1, with the time of the first reading of the clock.
 *
 * Protocol of a reader. Read the clock; count the items of the partition that have not expired;
 * read the clock again. Count the items that expire after the second reading of the clock. Their
 * clients are those that were seen in an interval: it begins one window before the second reading,
 * and ends at the first reading. A client that was seen after the first reading may or may not have
 * been seen in that interval too: it counts only for the upper bound.
 *
 * Why it is correct. A client has one item, whose expiry time only ever grows: the item exists
 * exactly from the first hit until the end of the window after the last hit, even if an earlier
 * write arrives late. A scan of several pages counts each client that is online throughout, and
 * none twice, since an item never moves.
 *
 * Assumptions. There are none about the delay of writes or pauses of processes. If a reader is
 * paused for as long as the window, the interval is empty, and the reader reports an incomplete
 * result.
 *
 * Crash table.
 *   | crash        | stored   | a repeat                   |
 *   | request lost | nothing  | stores the item            |
 *   | reply lost   | the item | stores the same item again |
 *
 * Limits. If the clocks of two machines differ, so do their windows.
 *
 * Cost. A hit takes two round trips, a read and a write, and there is one item per client. A read
 * takes one round trip per 1,000 clients, including those whose item has expired but has not been
 * removed yet.
 * }</pre>
 */
public final class OnlineExact implements Presence {

  private final Store store;
  private final Duration window;

  /**
   * Creates a counter on a store with ordered scan.
   *
   * @param window above 0, at most {@link Window#LENGTH_MAX}
   * @throws IllegalArgumentException if the store has no ordered scan, or the window is outside its
   *     limits
   */
  public OnlineExact(Store store, Duration window) {
    store.profile().require(Capability.ORDERED_SCAN);
    if (!window.isPositive() || window.compareTo(Window.LENGTH_MAX) > 0) {
      throw new IllegalArgumentException(
          "window is %s; it must be positive and at most %s"
              .formatted(Limits.text(window), Limits.text(Window.LENGTH_MAX)));
    }
    this.store = store;
    this.window = window;
  }

  @Override
  public void seen(String room, String client) {
    Limits.checkText("client", client, Limits.CLIENT_ID_BYTES_MAX);
    Key key = new Key(partition(room), client);
    Instant until = store.now().plus(window);
    RetryPolicy.Attempts attempts = store.attempts();
    while (!IdempotentRetry.result(store, "a client", () -> isSeen(key, until))) {
      if (!attempts.again()) {
        throw new OutcomeUnknownException(
            Reason.THROTTLED, "gave up after " + attempts + ": contention on a client", null);
      }
    }
  }

  /** Makes steps 1 and 2 of the protocol; returns false if another writer was faster. */
  private boolean isSeen(Key key, Instant until) {
    Optional<Item> found = store.get(key);
    if (found.flatMap(Item::expiresAt).filter(expiry -> !expiry.isBefore(until)).isPresent()) {
      return true;
    }
    return store.write(new Write.Put(key, Map.of(), Optional.of(until), ifUnchanged(found)))
        instanceof WriteResult.Applied;
  }

  /**
   * Returns the condition that the item is unchanged, so that a hit that arrives late does not
   * shorten a later one.
   */
  private static Condition ifUnchanged(Optional<Item> found) {
    return Condition.unchanged(found);
  }

  @Override
  public Online online(String room) {
    Instant start = store.now();
    List<Instant> expiries = new ArrayList<>();
    store.scanAll(
        Scan.all(partition(room)),
        items -> items.forEach(item -> item.expiresAt().ifPresent(expiries::add)));
    Instant end = store.now();
    Instant until = start.plusMillis(1); // includes a hit at this moment
    Instant from = end.plusMillis(1).minus(window);
    long high = expiries.stream().filter(expiry -> expiry.isAfter(end)).count();
    if (!from.isBefore(until) || store.intactSince().isAfter(from)) {
      return Online.incomplete(high, until.minus(window), until);
    }
    Instant last = start.plus(window);
    long low = expiries.stream().filter(each -> each.isAfter(end) && !each.isAfter(last)).count();
    return new Online(high, low, high, from, until, true);
  }

  private static String partition(String room) {
    return "online/" + Limits.checkText("room", room, Limits.NAME_BYTES_MAX);
  }
}
