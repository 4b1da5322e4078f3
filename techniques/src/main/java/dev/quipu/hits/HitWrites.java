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
   * Stores a hit of any age, which a sweep may delete at any time: one attempt, since a second one
   * might count it again.
   */
  void insertOnce(String counter, long millis, String id, long amount) {
    due.note(counter);
    store.write(Hits.put(counter, Hits.sort(millis, id), amount));
    try {
      due.note(counter);
      repair(counter);
    } catch (QuipuException e) {
      throw unknown(e);
    }
  }

  /** Changes the amount of a stored hit; returns false if it is not stored any more. */
  boolean edit(String counter, HitLog.Hit hit, long amount) {
    long millis = hit.at().toEpochMilli();
    String sort = Hits.sort(millis, hit.id());
    due.note(counter); // before the edit: a roll up corrects the summary if this process dies
    RetryPolicy.Attempts attempts = store.attempts();
    boolean isDone = false;
    while (!isDone) {
      Optional<Item> one = store.get(Hits.one(counter, sort));
      Optional<Item> more = store.get(Hits.amount(counter, sort));
      if (one.isEmpty() && more.map(Hits::isRest).orElse(true)) {
        return false; // swept, at least in part
      }
      isDone =
          store.write(Hits.edited(counter, sort, amount, one.isPresent(), ifUnchanged(more)))
              instanceof WriteResult.Applied;
      if (!isDone && !attempts.again()) {
        throw new NotAppliedException(
            Reason.THROTTLED,
            "gave up after %s: contention on a hit of counter %s".formatted(attempts, counter));
      }
    }
    try {
      if (millis > Hits.now(store) - windowMillis) {
        repairIfLate(counter, millis);
      } else {
        repair(counter);
        requireStored(counter, sort);
      }
    } catch (QuipuException e) {
      throw unknown(e);
    }
    return true;
  }

  /**
   * Throws if a hit is not stored: a sweep may have read it before it was edited. If it is stored
   * after a summary has been replaced, each later sweep reads what was written.
   */
  private void requireStored(String counter, String sort) {
    if (store.get(Hits.amount(counter, sort)).isEmpty()) {
      throw new OutcomeUnknownException(
          Reason.THROTTLED, "the hit was swept while it was edited", null);
    }
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
