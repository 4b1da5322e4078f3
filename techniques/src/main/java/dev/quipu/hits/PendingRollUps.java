package dev.quipu.hits;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The counters of {@link HitLog} that need a roll up.
 *
 * <p>Stored: in {@code hits-due}, under the name of each, the time of the last note, in {@code at},
 * which only grows. A process that counts renews the note after half the settle time, before a hit
 * is stored and after it. An entry is deleted only when it is as old as a forgotten request, so
 * that a hit which arrives late finds it.
 */
final class PendingRollUps {
  private static final String DUE = "hits-due";
  private static final String AT = "at";

  private final Store store;
  private final long oldMillis;
  private final RecentlyDone noted;

  /** A counter, with its stored entry. */
  record Waiting(String counter, Item item) {}

  PendingRollUps(Store store, HitLogOptions options) {
    this.store = store;
    this.oldMillis = options.window().plus(options.settle().multipliedBy(2)).toMillis();
    this.noted = new RecentlyDone(options.settle().toMillis() / 2);
  }

  /** Notes a counter before a hit is stored, and after it if that took long. */
  void note(String counter) {
    long now = store.clock().epochMillis();
    if (noted.contains(counter, now)) {
      return;
    }
    Key key = new Key(DUE, counter);
    RetryPolicy.Attempts attempts = store.attempts();
    while (!IdempotentRetry.result(store, "entry of " + counter, () -> isNoted(key, now))) {
      if (!attempts.again()) {
        throw new NotAppliedException(
            Reason.THROTTLED,
            "gave up after %s: contention on the roll-up entry of counter %s"
                .formatted(attempts, counter));
      }
    }
    noted.add(counter, now);
  }

  /**
   * Stores the current time, unless a later one is stored; returns false if another client was
   * faster.
   */
  private boolean isNoted(Key key, long now) {
    Optional<Item> found = store.get(key);
    if (found.isPresent() && found.get().number(AT) >= now) {
      return true;
    }
    Map<String, Field> at = Map.of(AT, new Field.Number(now));
    Write entry = new Write.Put(key, at, Condition.unchanged(found));
    return store.write(entry) instanceof WriteResult.Applied;
  }

  List<Waiting> waiting() {
    List<Waiting> found = new ArrayList<>();
    store.scanAll(
        Scan.all(DUE),
        page -> page.forEach(item -> found.add(new Waiting(item.key().sort(), item))));
    return found;
  }

  /** Returns whether the entry is so old that no process relies on it any more. */
  boolean isOld(Waiting waiting) {
    return waiting.item().number(AT) <= store.clock().epochMillis() - oldMillis;
  }

  /** Deletes an old entry after nothing was found to do, unless it was renewed. */
  void forget(Waiting waiting) {
    Item item = waiting.item();
    store.write(new Write.Delete(item.key(), new Condition.VersionIs(item.version())));
  }
}
