package dev.quipu.technique;

import dev.quipu.store.Condition;
import dev.quipu.store.Consistency;
import dev.quipu.store.Key;
import dev.quipu.store.Store;
import dev.quipu.store.StoreException;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the summaries of {@link HitLog}, and sweeps the hits that are in them. */
final class HitSummaries {
  private static final int SWEPT_AT_ONCE = 50; // of each kind; all are named in the summary

  private static final int TRIED_MAX = 100_000;
  private static final Logger LOGGER = LoggerFactory.getLogger(HitSummaries.class);

  private final Store store;
  private final Hits hits;
  private final long settleMillis;
  private final long windowMillis;
  private final Map<String, Long> tried = new ConcurrentHashMap<>();

  HitSummaries(Store store, Hits hits, HitLogOptions options) {
    this.store = store;
    this.hits = hits;
    this.settleMillis = options.settle().toMillis();
    this.windowMillis = options.window().toMillis();
  }

  /**
   * Makes a new summary, if there is anything new for it.
   *
   * @return empty if another process was first
   */
  Optional<HitLog.RollUp> rollUp(String counter) {
    HitSummary old = HitSummary.read(store, counter, Consistency.STRONG);
    deleteSwept(counter, old);
    long now = Hits.now(store);
    long end = Math.max(old.end(), now - settleMillis);
    if (end < 0) {
      return Optional.of(new HitLog.RollUp(false, 0));
    }
    Hits.Sum fresh =
        end == old.end() ? Hits.Sum.NONE : hits.sum(counter, old.end(), end, Consistency.STRONG);
    long stored =
        old.end() < 0 ? 0 : hits.sum(counter, -1, old.end(), Consistency.STRONG).total(counter);
    long until = CounterItems.plus(counter, old.base(), stored); // what it should have been
    long late = until - old.count();
    if (late == 0 && fresh.hits() == 0) {
      return Optional.of(new HitLog.RollUp(false, 0));
    }
    long sum = CounterItems.plus(counter, until, fresh.total(counter));
    HitSummary next = old.until(end, sum, now, settleMillis);
    boolean isStored = store.write(next.put(counter)) instanceof WriteResult.Applied;
    return isStored ? Optional.of(new HitLog.RollUp(true, late)) : Optional.empty();
  }

  /**
   * As {@link #rollUp}, if it is possible, and not with each call: what has not settled stays
   * behind the summary for a while.
   */
  void rollUpNowAndThen(String counter) {
    long now = Hits.now(store);
    Long last = tried.get(counter);
    if (last != null && last <= now && now - last < settleMillis / 2) {
      return;
    }
    if (tried.size() >= TRIED_MAX) {
      tried.clear();
    }
    tried.put(counter, now);
    try {
      rollUp(counter);
    } catch (StoreException e) {
      LOGGER.debug("a counter keeps its old summary for now", e);
    }
  }

  private void deleteSwept(String counter, HitSummary summary) {
    for (String each : summary.sweeping()) {
      String sort = each.substring(1);
      Key key = each.startsWith("h") ? Hits.one(counter, sort) : Hits.amount(counter, sort);
      store.write(new Write.Delete(key, Condition.always()));
    }
  }

  /**
   * Deletes hits that are in a summary and whose requests are forgotten.
   *
   * @return how many items this call deleted
   */
  long sweep(String counter) {
    long swept = 0;
    while (true) {
      HitSummary old = HitSummary.read(store, counter, Consistency.STRONG);
      deleteSwept(counter, old);
      long now = Hits.now(store);
      long oldEnough = now - windowMillis - settleMillis - 1;
      long until = Math.min(old.sweepableEnd(now, settleMillis), oldEnough);
      List<Hits.Part> parts = until < 0 ? List.of() : hits.oldest(counter, until, SWEPT_AT_ONCE);
      if (parts.isEmpty() && old.sweeping().isEmpty()) {
        return swept;
      }
      Set<String> names = new HashSet<>();
      long amount = 0;
      for (Hits.Part part : parts) {
        boolean isOne = part.key().equals(Hits.one(counter, part.key().sort()));
        names.add((isOne ? "h" : "a") + part.key().sort());
        amount = CounterItems.plus(counter, amount, part.amount());
      }
      HitSummary next = old.sweeping(names, amount, counter);
      if (!(store.write(next.put(counter)) instanceof WriteResult.Applied)) {
        return swept; // another is at it
      }
      deleteSwept(counter, next);
      swept += parts.size();
    }
  }
}
