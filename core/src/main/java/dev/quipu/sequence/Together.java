package dev.quipu.sequence;

import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Calls that come at the same time go together: while one is under way, others wait, and the next
 * one takes all of them along. Who comes alone does not wait. Thread-safe.
 */
final class Together<C, R> {
  private final int callsMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final Queue<Waiting<C, R>> waiting = new ConcurrentLinkedQueue<>();

  private static final class Waiting<C, R> {
    final C call;
    // written and read under the lock
    @Nullable R result;
    @Nullable StoreException failure;

    Waiting(C call) {
      this.call = call;
    }
  }

  /** At most so many calls together. */
  Together(int callsMax) {
    this.callsMax = callsMax;
  }

  /**
   * The result of one call.
   *
   * @param all does several, and returns a result for each, in the same order
   * @throws StoreException the one that {@code all} threw: each of its calls came to the same
   */
  R call(C call, Function<List<C>, List<R>> all) {
    Waiting<C, R> own = new Waiting<>(call);
    waiting.add(own);
    lock.lock();
    try {
      while (own.result == null && own.failure == null) {
        callSome(all);
      }
      if (own.failure != null) {
        StoreException e = own.failure;
        throw new StoreException(e.outcome(), e.reason(), String.valueOf(e.getMessage()), e);
      }
      return Objects.requireNonNull(own.result);
    } finally {
      lock.unlock();
    }
  }

  private void callSome(Function<List<C>, List<R>> all) {
    List<Waiting<C, R>> some = new ArrayList<>();
    for (Waiting<C, R> next = waiting.poll(); next != null; next = waiting.poll()) {
      some.add(next);
      if (some.size() == callsMax) {
        break;
      }
    }
    try {
      List<R> results = all.apply(some.stream().map(each -> each.call).toList());
      for (int i = 0; i < some.size(); i++) {
        some.get(i).result = results.get(i);
      }
    } catch (StoreException e) {
      some.forEach(each -> each.failure = e);
    } catch (RuntimeException | Error e) {
      StoreException lost = StoreException.unknown(Reason.UNAVAILABLE, "gave up: " + e, e);
      some.forEach(each -> each.failure = lost);
      throw e;
    }
  }
}
