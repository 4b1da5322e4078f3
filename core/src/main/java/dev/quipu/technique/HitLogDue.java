package dev.quipu.technique;

import dev.quipu.store.Condition;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Store;
import dev.quipu.store.Write;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The counters of {@link HitLog} that wait for a roll up.
 *
 * <p>Stored: in {@code hits-due}, under the name of each, when somebody last said so, in {@code
 * at}. Who counts says so again once half of the settled age has passed; an entry is deleted only
 * when it is two of them old, so that nobody counts on one that is gone.
 */
final class HitLogDue {
  private static final String DUE = "hits-due";
  private static final String AT = "at";

  private final Store store;
  private final long settleMillis;
  private final Lately noted;

  /** A counter, and what is stored of it. */
  record Waiting(String counter, Item item) {}

  HitLogDue(Store store, Duration settle) {
    this.store = store;
    this.settleMillis = settle.toMillis();
    this.noted = new Lately(settleMillis / 2);
  }

  /** Before a hit is stored. */
  void note(String counter) {
    long now = store.clock().epochMillis();
    if (noted.did(counter, now)) {
      return;
    }
    Map<String, Field> at = Map.of(AT, new Field.Number(now));
    Write entry = new Write.Put(new Key(DUE, counter), at, Optional.empty(), Condition.always());
    UntilDefinite.result(store, "entry of " + counter, () -> store.write(entry));
    noted.does(counter, now);
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
    return waiting.item().number(AT) <= store.clock().epochMillis() - 2 * settleMillis;
  }

  /** An entry that is old, after nothing was found to do; unless somebody says that there is. */
  void forget(Waiting waiting) {
    Item item = waiting.item();
    store.write(new Write.Delete(item.key(), new Condition.VersionIs(item.version())));
  }
}
