package dev.quipu.hits;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.util.Optional;

/**
 * Stores and edits the hits of {@link HitLog}, and returns only when a reader counts them:
 * acknowledging a hit that a summary may have passed requires a roll up, whichever process stored
 * the hit.
 */
final class HitWrites {
  private static final int RACES_MAX = 100;

  private final Store store;
  private final HitSummaries summaries;
  private final PendingRollUps due;
  private final long settleMillis;
  private final long windowMillis;

  HitWrites(Store store, HitSummaries summaries, PendingRollUps due, HitLogOptions options) {
    this.store = store;
    this.summaries = summaries;
    this.due = due;
    this.settleMillis = options.settle().toMillis();
    this.windowMillis = options.window().toMillis();
  }

  /**
   * Stores a hit, if it is not stored yet.
   *
   * @param isClaimed whether its request has a marker: then another process may store the hit after
   *     a failure, and the outcome is unknown
   */
  void add(String counter, long millis, String id, long amount, boolean isClaimed) {
    due.note(counter);
    String sort = Hits.sort(millis, id);
    try {
      IdempotentRetry.result(
          store,
          "hit of request " + id,
          () -> {
            requireNotSwept(millis);
            return store.write(Hits.put(counter, sort, amount)); // stored, in either case
          });
    } catch (QuipuException e) {
      throw isClaimed ? unknown(e) : e;
    }
    try {
      due.note(counter); // if that took long, the entry may have been deleted
      repairIfLate(counter, millis);
    } catch (QuipuException e) {
      throw unknown(e);
    }
  }

  /** Ensures that a request which left its marker is counted, before it is reported as applied. */
  void finish(String counter, long millis, String id, long amount) {
    Key key = Hits.put(counter, Hits.sort(millis, id), amount).key();
    try {
      if (store.get(key).isPresent()) {
        repairForOther(counter, millis);
      } else {
        add(counter, millis, id, amount, true);
      }
    } catch (QuipuException e) {
      throw unknown(e);
    }
  }

  /** Repairs the summary for another process, which may have died after storing the hit. */
  private void repairForOther(String counter, long millis) {
    repairIfLate(counter, millis);
  }

  /** Ensures that a hit that a summary may have passed is in a summary. */
  private void repairIfLate(String counter, long millis) {
    if (Hits.now(store) - millis >= settleMillis / 2) {
      repair(counter);
    }
  }

  /**
   * Rolls up until a summary includes all hits stored before, and no delayed one that lacks them
   * can follow.
   */
  private void repair(String counter) {
    if (summaries.overtake(counter).isPresent()) {
      return;
    }
    for (int race = 1; race < RACES_MAX; race++) {
      if (summaries.rollUp(counter).isPresent()) {
        return;
      }
    }
    throw new OutcomeUnknownException(
        Reason.THROTTLED, "gave up: contention on the roll-up of counter " + counter, null);
  }

  /** Throws if the hit may have been swept: it must not be stored again. */
  private void requireNotSwept(long millis) {
    if (Hits.now(store) - millis > windowMillis + settleMillis / 2) {
      throw new OutcomeUnknownException(Reason.TIMEOUT, "the hit may have been swept", null);
    }
  }

  /**
   * Changes the amount of a stored hit; returns false if it is not stored, or about to be swept.
   */
  boolean edit(String counter, HitLog.Hit hit, long amount) {
    long millis = hit.at().toEpochMilli();
    String sort = Hits.sort(millis, hit.id());
    RetryPolicy.Attempts attempts = store.attempts();
    boolean isDone = false;
    while (!isDone) {
      if (millis <= Hits.now(store) - windowMillis) {
        return false;
      }
      Optional<Item> one = store.get(Hits.one(counter, sort));
      Optional<Item> more = store.get(Hits.amount(counter, sort));
      if (one.isEmpty() && more.isEmpty()) {
        return false;
      }
      long rest = amount - (one.isPresent() ? 1 : 0);
      isDone =
          store.write(Hits.putAmount(counter, sort, rest, ifUnchanged(more)))
              instanceof WriteResult.Applied;
      if (!isDone && !attempts.again()) {
        throw new NotAppliedException(
            Reason.THROTTLED,
            "gave up after %s: contention on a hit of counter %s".formatted(attempts, counter));
      }
    }
    try {
      requireNotSwept(millis);
      repairIfLate(counter, millis);
    } catch (QuipuException e) {
      throw unknown(e);
    }
    return true;
  }

  /**
   * Returns the condition that the item is unchanged, so that a delayed edit does not undo a later
   * one.
   */
  private static Condition ifUnchanged(Optional<Item> found) {
    return Condition.unchanged(found);
  }

  /** Returns an exception with an unknown outcome: a failure after the write does not undo it. */
  private static QuipuException unknown(QuipuException e) {
    return e.outcome() == Outcome.UNKNOWN
        ? e
        : new OutcomeUnknownException(e.reason(), e.getMessage(), e);
  }
}
