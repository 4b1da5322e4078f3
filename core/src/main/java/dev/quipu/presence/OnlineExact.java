package dev.quipu.presence;

import dev.quipu.Limits;
import dev.quipu.store.Capability;
import dev.quipu.store.Condition;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Store;
import dev.quipu.store.Write;
import dev.quipu.technique.UntilDefinite;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/*
 * ONLINE USERS, EXACTLY
 *
 * Problem. How many are online, to the millisecond, and nobody counted twice.
 *
 * Stored. Per room a partition, per client one empty item in it that expires when the window is
 * over.
 *
 * Protocol of a hit. Store the item, whatever is there. Unknown outcome: again; it makes no
 * difference how often.
 *
 * Protocol of a reader. Count the items of the partition that have not expired.
 *
 * Why it is right. A client has one item, which is there exactly from its last hit until the window
 * after that hit is over. A scan of several pages counts each client that is online all the while,
 * and none twice, since an item never moves.
 *
 * Crash table.
 *   | broken off          | stored   | a repeat              |
 *   | request lost        | nothing  | stores it             |
 *   | reply lost          | the item | stores the same again |
 *
 * What it does not promise. If the clocks of two machines differ, so do their windows.
 *
 * Cost. A hit: one round trip, one write, one item a client. A reader: one read for 1,000 clients,
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
    UntilDefinite.result(
        store,
        "a client",
        () -> {
          Optional<Instant> until = Optional.of(store.now().plus(window));
          return store.write(new Write.Put(key, Map.of(), until, Condition.always()));
        });
  }

  @Override
  public Online online(String room) {
    Instant now = store.now();
    LongAdder online = new LongAdder();
    store.scanAll(Scan.all(partition(room)), items -> online.add(items.size()));
    long count = online.sum();
    Instant until = now.plusMillis(1); // a hit at this moment is among them
    Instant from = until.minus(window);
    return store.intactSince().isAfter(from)
        ? Online.incomplete(count, from, until)
        : new Online(count, count, count, from, until, true);
  }

  private static String partition(String room) {
    return "online/" + Limits.checkText("room", room, Limits.NAME_BYTES_MAX);
  }
}
