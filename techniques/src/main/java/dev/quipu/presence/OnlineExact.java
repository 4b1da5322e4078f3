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
import dev.quipu.store.StoreDriver.Consistency;
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

/*
 * ONLINE USERS, EXACTLY
 *
 * Problem. How many are online, to the millisecond, and nobody counted twice.
 *
 * Stored. Per room a partition, per client one empty item in it that expires when the window is
 * over.
 *
 * Protocol of a hit.
 *   1. Look at the clock, and read the item. It expires as late, or later: done.
 *   2. Store it with the new expiry, if it is still as it was read. Else, or if the outcome is
 *      unknown: go to 1, with the time of the first look.
 *
 * Protocol of a reader. Look at the clock; count the items of the partition that have not expired;
 * look at the clock again. Count those that expire after the second look. They say who was there
 * since the window before the second look, and until the first. A client that was there after the
 * first look may or may not have been there before: so it counts for the upper bound alone.
 *
 * Why it is right. A client has one item, whose expiry only ever goes up: it is there exactly from
 * its first hit until the window after its last one is over, though an earlier write arrives later.
 * A scan of several pages counts each client that is online all the while, and none twice, since an
 * item never moves.
 *
 * Assumptions. None about how late a write is or how long a process stands still. A reader that
 * stands still for as long as the window has no interval left, and says that it is not complete.
 *
 * Crash table.
 *   | broken off          | stored   | a repeat              |
 *   | request lost        | nothing  | stores it             |
 *   | reply lost          | the item | stores the same again |
 *
 * What it does not promise. If the clocks of two machines differ, so do their windows.
 *
 * Cost. A hit: two round trips, a read and a write, one item a client. A reader: one read for 1,000
 * clients,
 * and for those whose item has expired and is not removed yet.
 */

/** Counts clients exactly, on a store with ordered scan. Thread-safe. */
public final class OnlineExact implements Presence {

  private final Store store;
  private final Duration window;

  /**
   * On a store with ordered scan.
   *
   * @param window above 0, at most {@link Window#LENGTH_MAX}
   * @throws IllegalArgumentException if the store has no ordered scan, or the window is outside its
   *     limits
   */
  public OnlineExact(Store store, Duration window) {
    store.profile().require(Capability.ORDERED_SCAN);
    if (!window.isPositive() || window.compareTo(Window.LENGTH_MAX) > 0) {
      throw new IllegalArgumentException(
          "window is %s, the limits are above 0 and %s".formatted(window, Window.LENGTH_MAX));
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
            Reason.THROTTLED, "others see the same client, in " + attempts, null);
      }
    }
  }

  /** Protocol 1 and 2; false if another was faster. */
  private boolean isSeen(Key key, Instant until) {
    Optional<Item> found = store.get(key, Consistency.STRONG);
    if (found.flatMap(Item::expiresAt).filter(expiry -> !expiry.isBefore(until)).isPresent()) {
      return true;
    }
    return store.write(new Write.Put(key, Map.of(), Optional.of(until), ifUnchanged(found)))
        instanceof WriteResult.Applied;
  }

  /** So that a hit which arrives late does not shorten a later one. */
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
    Instant until = start.plusMillis(1); // a hit at this moment is among them
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
