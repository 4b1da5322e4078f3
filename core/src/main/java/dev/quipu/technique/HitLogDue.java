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
import java.util.concurrent.ConcurrentHashMap;

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
  private static final int NOTED_MAX = 100_000;

  private final Store store;
  private final long settleMillis;
  private final Map<String, Long> noted = new ConcurrentHashMap<>();

  /** A counter, and what is stored of it. */
  record Waiting(String counter, Item item) {}

  HitLogDue(Store store, Duration settle) {
    this.store = store;
    this.settleMillis = settle.toMillis();
  }

  /** Before a hit is stored. */
  void note(String counter) {
    long now = store.clock().epochMillis();
    Long last = noted.get(counter);
    if (last != null && last <= now && now - last < settleMillis / 2) {
      return;
    }
    Map<String, Field> at = Map.of(AT, new Field.Number(now));
    store.write(new Write.Put(new Key(DUE, counter), at, Optional.empty(), Condition.always()));
    if (noted.size() >= NOTED_MAX) {
      noted.clear(); // what is forgotten is written again
    }
    noted.put(counter, now);
  }

  List<Waiting> waiting() {
    List<Waiting> found = new ArrayList<>();
    store.scanAll(
        Scan.all(DUE),
        page -> page.forEach(item -> found.add(new Waiting(item.key().sort(), item))));
    return found;
  }

  /** After nothing was found to do, unless somebody says that there is. */
  void forget(Waiting waiting) {
    Item item = waiting.item();
    if (item.number(AT) <= store.clock().epochMillis() - 2 * settleMillis) {
      store.write(new Write.Delete(item.key(), new Condition.VersionIs(item.version())));
    }
  }
}
