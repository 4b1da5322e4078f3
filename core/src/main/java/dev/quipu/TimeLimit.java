package dev.quipu;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends a call at a deadline, on any store: the call runs on its own virtual thread, which is
 * interrupted at the deadline.
 */
final class TimeLimit {
  private static final Duration MIN = Duration.ofMillis(1);

  private TimeLimit() {}

  static Duration check(Duration limit) {
    if (limit.compareTo(MIN) < 0) {
      throw new IllegalArgumentException(
          "timeout is %d ns; the minimum is 1 ms".formatted(limit.toNanos()));
    }
    return limit;
  }

  static <T> T within(Duration limit, Supplier<T> call) {
    FutureTask<T> task = new FutureTask<>(call::get);
    Thread.ofVirtual().start(task);
    try {
      return task.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      task.cancel(true);
      throw new OutcomeUnknownException(
          Reason.TIMEOUT, "no answer within %d ms".formatted(limit.toMillis()), e);
    } catch (InterruptedException e) {
      task.cancel(true);
      Thread.currentThread().interrupt();
      throw new OutcomeUnknownException(
          Reason.TIMEOUT, "the thread was interrupted while it waited for the answer", e);
    } catch (ExecutionException e) {
      throw rethrown(e.getCause());
    }
  }

  /** A supplier throws no checked exception. */
  private static RuntimeException rethrown(@Nullable Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    if (cause instanceof RuntimeException exception) {
      return exception;
    }
    throw new IllegalStateException(cause);
  }
}
