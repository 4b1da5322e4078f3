package dev.quipu.engine.environment;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * THE FAILURE MODEL of the engine.
 *
 *   An exception before a task has changed memory     fails that task; all others go on
 *   No room on the disk, or in the memory budget      the task is rejected before it changes memory
 *   Any other Throwable of the commit leader, and a   stops the engine: memory may differ from the
 *   Throwable of one of the engine's own threads      log, so nothing is acknowledged any more
 *
 * Only reopening the directory shows what is on the disk: exactly what was acknowledged, and
 * perhaps what was answered as unknown.
 *
 * When memory is exhausted nothing can be allocated, so what callers get is made in advance.
 */

/** Whether, and why, an engine has ended. Thread-safe. */
public final class Failure {
  private static final Logger LOGGER = LoggerFactory.getLogger(Failure.class);
  private static final String STOPPED = "the engine has stopped on a failure; it must be restarted";

  private final AtomicReference<@Nullable Throwable> cause = new AtomicReference<>();
  private final AtomicReference<@Nullable Consumer<Throwable>> listener = new AtomicReference<>();
  private volatile QuipuException notApplied = new NotAppliedException(Reason.UNAVAILABLE, STOPPED);
  private volatile QuipuException unknown =
      new OutcomeUnknownException(Reason.UNAVAILABLE, STOPPED, null);
  private final AtomicBoolean isLogged = new AtomicBoolean();
  private volatile boolean isNamed;
  private volatile boolean ended;
  private volatile Runnable freeWaiters = () -> {};

  /** Whether nothing is acknowledged any more. */
  public boolean hasEnded() {
    return ended;
  }

  /** Returns what a call ends with that was not begun. */
  public QuipuException notApplied() {
    name();
    return notApplied;
  }

  /** Returns what a call ends with that was begun. */
  public QuipuException unknown() {
    name();
    return unknown;
  }

  /** Returns what stopped the engine; empty while it runs, and after it was closed. */
  public Optional<Throwable> cause() {
    return Optional.ofNullable(cause.get());
  }

  /** Ends the engine in order. */
  public void close() {
    if (!ended) {
      notApplied = new NotAppliedException(Reason.UNAVAILABLE, "the engine is closed");
      ended = true;
    }
  }

  /** Stops the engine for good. Later causes are ignored. */
  public void stop(Throwable why) {
    ended = true; // first of all
    if (!cause.compareAndSet(null, why)) {
      return;
    }
    try {
      name();
    } finally {
      notifyListener(why);
      free();
    }
  }

  /** Names the cause to callers and in the log; if no memory is left for it, the next call does. */
  private void name() {
    Throwable why = cause.get();
    if (why == null || isLogged.get()) {
      return;
    }
    try {
      if (!isNamed) {
        String message = STOPPED + ": " + why;
        notApplied = QuipuException.of(Outcome.NOT_APPLIED, Reason.UNAVAILABLE, message, why);
        unknown = new OutcomeUnknownException(Reason.UNAVAILABLE, message, why);
        isNamed = true;
      }
      if (isLogged.compareAndSet(false, true)) {
        log(why);
      }
    } catch (Throwable full) {
      // No memory to say it in; the callers get what was made in advance.
    }
  }

  private void log(Throwable why) {
    boolean isDone = false;
    try {
      LOGGER.atError().setCause(why).log("Engine stopped on a failure");
      isDone = true;
    } finally {
      isLogged.set(isDone);
    }
  }

  /** Sets what ends the calls that wait when the engine stops. */
  public void onEnd(Runnable work) {
    freeWaiters = work;
  }

  private void free() {
    try {
      freeWaiters.run();
    } catch (Throwable e) { // once more by the next round of a Ticker
      Objects.requireNonNull(cause.get()).addSuppressed(e);
    }
  }

  /** Registers what to run, once, when the engine stops on a failure; at once if it has. */
  public void onStop(Consumer<Throwable> added) {
    listener.set(added);
    Throwable why = cause.get();
    if (why != null) {
      notifyListener(why);
    }
  }

  private void notifyListener(Throwable why) {
    Consumer<Throwable> once = listener.getAndSet(null);
    if (once != null) {
      once.accept(why);
    }
  }

  /** Returns work for a thread of the engine's own, without which the engine cannot go on. */
  public Runnable guarded(Runnable work) {
    return () -> {
      try {
        work.run();
      } catch (Throwable e) {
        stop(e);
      }
    };
  }
}
