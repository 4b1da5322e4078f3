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
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The counters of {@link HitLog} that wait for a roll up.
 *
 * <p>Stored: in {@code hits-due}, under the name of each, when somebody last said so, in {@code
 * at}, which never goes back. Who counts says so again once half of the settled age has passed,
 * before a hit is stored and after it. An entry is deleted only when it is as old as a request that
 * is forgotten, so that a hit which arrives late finds it there.
 */
final class PendingRollUps {
  private static final String DUE = "hits-due";
  private static final String AT = "at";

  private final Store store;
  private final long oldMillis;
  private final RecentlyDone noted;

  /** A counter, and what is stored of it. */
  record Waiting(String counter, Item item) {}

  PendingRollUps(Store store, HitLogOptions options) {
    this.store = store;
    this.oldMillis = options.window().plus(options.settle().multipliedBy(2)).toMillis();
    this.noted = new RecentlyDone(options.settle().toMillis() / 2);
  }

  /** Before a hit is stored, and after it if that took long. */
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
            Reason.THROTTLED, "others note %s, in %s".formatted(counter, attempts));
      }
    }
    noted.add(counter, now);
  }

  /** Notes this moment, unless a later one is noted; false if another client was faster. */
  private boolean isNoted(Key key, long now) {
    Optional<Item> found = store.get(key, Consistency.STRONG);
    if (found.isPresent() && found.get().number(AT) >= now) {
      return true;
    }
    Map<String, Field> at = Map.of(AT, new Field.Number(now));
    Write entry = new Write.Put(key, at, Optional.empty(), Condition.unchanged(found));
    return store.write(entry) instanceof WriteResult.Applied;
  }

  List<Waiting> waiting() {
    List<Waiting> found = new ArrayList<>();
    store.scanAll(
        Scan.all(DUE),
        page -> page.forEach(item -> found.add(new Waiting(item.key().sort(), item))));
    return found;
  }

  /** Whether nobody counts on the entry any more, by what was read of it. */
  boolean isOld(Waiting waiting) {
    return waiting.item().number(AT) <= store.clock().epochMillis() - oldMillis;
  }

  /** An entry that is old, after nothing was found to do; unless somebody says that there is. */
  void forget(Waiting waiting) {
    Item item = waiting.item();
    store.write(new Write.Delete(item.key(), new Condition.VersionIs(item.version())));
  }
}
