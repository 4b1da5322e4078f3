package dev.quipu.client;

import dev.quipu.Add;
import dev.quipu.ItemResult;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The adds of one call, from the call to its results. Each add has its own outcome. The caller
 * waits until all have a result, or the deadline; a sender attempts those without one.
 *
 * <p>An add whose attempt may have been applied stays unknown until a later attempt has a result:
 * an attempt that was certainly not applied says nothing about those before it.
 */
final class PendingAdds {
  private final List<Add> adds;
  private final @Nullable RequestId[] ids;
  private final @Nullable ItemResult[] results;
  private final @Nullable QuipuException[] failures;
  private final boolean[] unknown;
  private final long deadlineNanos;
  private final boolean hasUnits;
  private final Thread caller = Thread.currentThread();
  private int attempts;
  private int left;
  private boolean isInFlight;
  private volatile boolean isEnded;

  /**
   * Creates the adds of the current thread.
   *
   * @param ids the request id of each add, kept over all attempts; null for an add without one,
   *     which is not repeated after an attempt that may have been applied
   */
  PendingAdds(List<Add> adds, @Nullable RequestId[] ids, long deadlineNanos) {
    this.adds = adds;
    this.ids = ids;
    this.deadlineNanos = deadlineNanos;
    results = new ItemResult[adds.size()];
    failures = new QuipuException[adds.size()];
    unknown = new boolean[adds.size()];
    left = adds.size();
    boolean found = false;
    for (Add add : adds) {
      found |= add.scale() == Add.UNITS;
    }
    hasUnits = found;
  }

  /** Returns whether an add has amounts in units of its counter. */
  boolean hasUnits() {
    return hasUnits;
  }

  int size() {
    return adds.size();
  }

  Add add(int place) {
    return adds.get(place);
  }

  @Nullable RequestId id(int place) {
    return ids[place];
  }

  /** Returns whether the client created the id. */
  boolean isOwnId(int place) {
    return adds.get(place).id() == null;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  int attempts() {
    return attempts;
  }

  /** Returns whether an attempt of an add without a result may have been applied. */
  synchronized boolean isUnknown() {
    for (int i = 0; i < results.length; i++) {
      if (results[i] == null && unknown[i]) {
        return true;
      }
    }
    return false;
  }

  /** Begins an attempt; returns the places of the adds without a result, none after the end. */
  synchronized int[] begin() {
    if (isEnded) {
      return new int[0];
    }
    isInFlight = true;
    attempts++;
    int[] places = new int[left];
    int at = 0;
    for (int i = 0; i < results.length; i++) {
      if (results[i] == null) {
        places[at] = i;
        at++;
      }
    }
    return places;
  }

  /** Records the result of an add in this attempt. */
  synchronized void done(int place, ItemResult result) {
    if (results[place] == null) {
      results[place] = result;
      left--;
    }
  }

  /**
   * Records that an attempt of an add failed.
   *
   * @param mayRepeat whether a repeat may have a result
   */
  synchronized void failed(int place, RuntimeException failure, boolean mayRepeat) {
    boolean wasUnknown = unknown[place];
    if (failure instanceof QuipuException reported) {
      unknown[place] |= reported.outcome() == Outcome.UNKNOWN;
      if (failures[place] == null || reported.reason() != Reason.TIMEOUT) {
        failures[place] = reported; // otherwise the earlier one says why
      }
    }
    boolean isLost = unknown[place] && ids[place] == null;
    if (!mayRepeat || isLost) {
      done(place, new ItemResult.Failed(wasUnknown ? stillUnknown(failure) : failure));
    }
  }

  private static RuntimeException stillUnknown(RuntimeException failure) {
    Reason reason = failure instanceof QuipuException known ? known.reason() : Reason.INVALID;
    return new OutcomeUnknownException(reason, String.valueOf(failure.getMessage()), failure);
  }

  /** Ends an attempt; returns whether another one is needed. */
  boolean end() {
    synchronized (this) {
      isInFlight = false;
      if (left > 0 && !isEnded) {
        return true;
      }
      isEnded = true;
    }
    LockSupport.unpark(caller);
    return false;
  }

  /** Ends the call if its deadline has passed. */
  void endAfterDeadline(long nowNanos) {
    if (nowNanos - deadlineNanos >= 0 && !isEnded) {
      giveUp(Reason.TIMEOUT, "the deadline of the call passed");
    }
  }

  /** Ends the call: adds without a result are unknown if an attempt may have been applied. */
  void giveUp(Reason reason, String why) {
    synchronized (this) {
      isEnded = true;
      for (int i = 0; i < results.length; i++) {
        if (results[i] == null) {
          results[i] = new ItemResult.Failed(withoutResult(i, reason, why));
        }
      }
      left = 0;
    }
    LockSupport.unpark(caller);
  }

  private QuipuException withoutResult(int place, Reason reason, String why) {
    QuipuException last = failures[place];
    String message = last == null ? why : why + ": " + last.getMessage();
    Reason of = last == null ? reason : last.reason();
    return unknown[place] || isInFlight
        ? new OutcomeUnknownException(of, message, last)
        : new NotAppliedException(of, message, last);
  }

  /** Waits for the results. {@link #endAfterDeadline} limits the time. */
  List<ItemResult> await() {
    while (!isEnded) {
      if (Thread.currentThread().isInterrupted()) {
        giveUp(Reason.UNAVAILABLE, "the thread was interrupted while it waited for the server");
      } else {
        LockSupport.park(this);
      }
    }
    synchronized (this) {
      return new ArrayList<>(Arrays.asList(results));
    }
  }
}
