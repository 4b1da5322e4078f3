package dev.quipu.hits;

import dev.quipu.QuipuException;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the summaries of {@link HitLog}, and sweeps the hits that they contain. */
final class HitSummaries {
  private static final int SWEPT_AT_ONCE = 50; // of each kind; all are listed in the summary

  private static final Logger LOGGER = LoggerFactory.getLogger(HitSummaries.class);

  private final Store store;
  private final Hits hits;
  private final long settleMillis;
  private final long windowMillis;
  private final RecentlyDone tried;

  HitSummaries(Store store, Hits hits, HitLogOptions options) {
    this.store = store;
    this.hits = hits;
    this.settleMillis = options.settle().toMillis();
    this.windowMillis = options.window().toMillis();
    this.tried = new RecentlyDone(settleMillis / 2);
  }

  /**
   * Stores a new summary, if it differs from the last one.
   *
   * @return empty if another process was faster
   */
  Optional<HitLog.RollUp> rollUp(String counter) {
    return rollUp(counter, false);
  }

  /**
   * Rolls up, and makes any delayed summary of an earlier call fail, whether this one is stored or
   * another process was faster: a delayed one may lack hits that were stored since.
   */
  Optional<HitLog.RollUp> overtake(String counter) {
    return rollUp(counter, true);
  }

  private Optional<HitLog.RollUp> rollUp(String counter, boolean isAlways) {
    HitSummary old = HitSummary.read(store, counter, Consistency.STRONG);
    HitSummary marked = old.marked(Hits.now(store), settleMillis);
    deleteSwept(counter, old);
    long end = Math.max(old.end(), Hits.now(store) - settleMillis);
    if (end < 0) {
      return Optional.of(new HitLog.RollUp(false, 0));
    }
    Hits.Sum fresh =
        end == old.end() ? Hits.Sum.NONE : hits.sum(counter, old.end(), end, Consistency.STRONG);
    long stored =
        old.end() < 0 ? 0 : hits.sum(counter, -1, old.end(), Consistency.STRONG).total(counter);
    long until = CounterItems.plus(counter, old.base(), stored); // the correct count for that end
    long late = until - old.count();
    if (late == 0 && fresh.hits() == 0 && !isAlways) {
      return isUnchanged(counter, old) // else a concurrent sweep may hide late hits
          ? Optional.of(new HitLog.RollUp(false, 0))
          : Optional.empty();
    }
    long sum = CounterItems.plus(counter, until, fresh.total(counter));
    boolean isStored = isWritten(marked.until(end, sum).put(counter));
    return isStored ? Optional.of(new HitLog.RollUp(true, late)) : Optional.empty();
  }

  /**
   * Rolls up as {@link #rollUp} does, best effort and not on each call: recent hits stay after the
   * summary for a while.
   */
  void rollUpNowAndThen(String counter) {
    long now = Hits.now(store);
    if (tried.contains(counter, now)) {
      return;
    }
    tried.add(counter, now);
    try {
      rollUp(counter);
    } catch (QuipuException e) {
      LOGGER.debug("Roll-up failed; keeping the old summary", e);
    }
  }

  private boolean isUnchanged(String counter, HitSummary old) {
    return HitSummary.read(store, counter, Consistency.STRONG)
        .item()
        .map(Item::version)
        .equals(old.item().map(Item::version));
  }

  /**
   * Writes a summary. If its reply is lost, it looks like the summary of another process, and is
   * evaluated again.
   */
  private boolean isWritten(Write write) {
    return IdempotentRetry.result(store, "summary", () -> store.write(write))
        instanceof WriteResult.Applied;
  }

  private void deleteSwept(String counter, HitSummary summary) {
    for (String each : summary.sweeping()) {
      String sort = each.substring(1);
      Key key = each.startsWith("h") ? Hits.one(counter, sort) : Hits.amount(counter, sort);
      isWritten(new Write.Delete(key, Condition.always()));
    }
  }

  /**
   * Deletes hits that are in a summary and whose requests are forgotten.
   *
   * @return the number of items that this call deleted
   */
  long sweep(String counter) {
    long swept = 0;
    while (true) {
      HitSummary old = HitSummary.read(store, counter, Consistency.STRONG);
      long now = Hits.now(store);
      HitSummary marked = old.marked(now, settleMillis);
      deleteSwept(counter, old);
      long oldEnough = now - windowMillis - settleMillis - 1;
      List<Hits.Part> parts =
          oldest(counter, Math.min(marked.sweepableEnd(now, settleMillis), oldEnough));
      if (parts.isEmpty() && old.sweeping().isEmpty()) {
        if (!marked.equals(old) && isLeft(counter, Math.min(old.end(), oldEnough))) {
          isWritten(marked.put(counter));
        }
        return swept;
      }
      Set<String> names = new HashSet<>();
      long amount = 0;
      for (Hits.Part part : parts) {
        boolean isOne = part.key().equals(Hits.one(counter, part.key().sort()));
        names.add((isOne ? "h" : "a") + part.key().sort());
        amount = CounterItems.plus(counter, amount, part.amount());
      }
      HitSummary next = marked.sweeping(names, amount, counter);
      if (!isWritten(next.put(counter))) {
        return swept; // another process is sweeping
      }
      deleteSwept(counter, next);
      swept += parts.size();
    }
  }

  /**
   * Returns whether hits wait only for the markers of the summary to advance, without a new
   * summary.
   */
  private boolean isLeft(String counter, long until) {
    return !oldest(counter, until).isEmpty();
  }

  private List<Hits.Part> oldest(String counter, long until) {
    return until < 0 ? List.of() : hits.oldest(counter, until, SWEPT_AT_ONCE);
  }
}
