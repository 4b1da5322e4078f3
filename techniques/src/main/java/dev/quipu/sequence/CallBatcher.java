package dev.quipu.sequence;

import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Batches concurrent calls like a group commit: while one batch is in progress, callers wait, and
 * the next batch contains all of them. A lone caller does not wait. Thread-safe.
 */
final class CallBatcher<C, R> {
  private final int callsMax;
  private final AtomicBoolean isBusy = new AtomicBoolean();
  private final Queue<Waiting<C, R>> waiting = new ConcurrentLinkedQueue<>();

  private static final class Waiting<C, R> {
    final C call;
    final Thread thread = Thread.currentThread();
    private @Nullable R result;
    private @Nullable QuipuException failure;
    private volatile boolean isDone; // written after the result, read before it

    Waiting(C call) {
      this.call = call;
    }

    void done(@Nullable R with, @Nullable QuipuException or) {
      result = with;
      failure = or;
      isDone = true;
      LockSupport.unpark(thread);
    }

    R answer() {
      if (failure != null) {
        String message = String.valueOf(failure.getMessage());
        throw QuipuException.of(failure.outcome(), failure.reason(), message, failure);
      }
      return Objects.requireNonNull(result);
    }
  }

  /** Creates a batcher of at most {@code callsMax} calls per batch. */
  CallBatcher(int callsMax) {
    this.callsMax = callsMax;
  }

  /**
   * Returns the result of one call.
   *
   * @param all makes several calls, and returns a result for each, in the same order
   * @throws QuipuException thrown by {@code all}, for each of its calls
   */
  R call(C call, Function<List<C>, List<R>> all) {
    Waiting<C, R> own = new Waiting<>(call);
    waiting.add(own);
    boolean isInterrupted = false;
    while (!own.isDone) {
      if (isBusy.compareAndSet(false, true)) {
        try {
          callSome(all);
        } finally {
          isBusy.set(false);
          wakeNext();
        }
      } else {
        LockSupport.park(this);
        isInterrupted |= Thread.interrupted(); // ends with the call in progress
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
    return own.answer();
  }

  /** Wakes the longest waiting caller, to lead the next batch. A new caller may be faster. */
  private void wakeNext() {
    Waiting<C, R> next = waiting.peek();
    if (next != null) {
      LockSupport.unpark(next.thread);
    }
  }

  private void callSome(Function<List<C>, List<R>> all) {
    List<Waiting<C, R>> some = new ArrayList<>();
    while (some.size() < callsMax) {
      Waiting<C, R> next = waiting.poll();
      if (next == null) {
        break;
      }
      some.add(next);
    }
    if (some.isEmpty()) {
      return; // another caller's batch contained this call
    }
    try {
      List<R> results = all.apply(some.stream().map(each -> each.call).toList());
      for (int i = 0; i < some.size(); i++) {
        some.get(i).done(results.get(i), null);
      }
    } catch (QuipuException e) {
      some.forEach(each -> each.done(null, e));
    } catch (RuntimeException | Error e) {
      QuipuException lost = new OutcomeUnknownException(Reason.UNAVAILABLE, "gave up: " + e, e);
      some.forEach(each -> each.done(null, lost));
      throw e;
    }
  }
}
