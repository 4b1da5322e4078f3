package dev.quipu.engine.environment;

import dev.quipu.NotAppliedException;
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

/**
 * Records whether and why an engine has ended. Thread-safe.
 *
 * <pre>{@code
 * THE FAILURE MODEL of the engine.
 *
 *   An exception before a task has changed memory     fails that task; all others continue
 *   Disk full, or memory limit reached                the task is rejected before it changes memory
 *   Any other Throwable of the commit leader, or a    stops the engine: memory may differ from the
 *   Throwable of one of the engine's own threads      log, so nothing is acknowledged any more
 *
 * The state on disk is known only after reopening the directory: all acknowledged writes, and
 * possibly writes whose outcome was reported as unknown.
 *
 * When the heap is exhausted nothing can be allocated, so the exceptions for callers are created in
 * advance.
 * }</pre>
 */
public final class Failure {
  private static final Logger LOGGER = LoggerFactory.getLogger(Failure.class);
  private static final String STOPPED = "the engine has stopped on a failure; restart it";

  private final AtomicReference<@Nullable Throwable> cause = new AtomicReference<>();
  private final AtomicReference<@Nullable Consumer<Throwable>> listener = new AtomicReference<>();
  private volatile QuipuException notApplied = new NotAppliedException(Reason.UNAVAILABLE, STOPPED);
  private volatile QuipuException unknown =
      new OutcomeUnknownException(Reason.UNAVAILABLE, STOPPED, null);
  private final AtomicBoolean isLogged = new AtomicBoolean();
  private volatile boolean isNamed;
  private volatile boolean ended;
  private volatile Runnable freeWaiters = () -> {};

  /** Returns whether the engine has ended, so that nothing is acknowledged any more. */
  public boolean hasEnded() {
    return ended;
  }

  /** Returns the exception for a call that was not begun. */
  public QuipuException notApplied() {
    name();
    return notApplied;
  }

  /** Returns the exception for a call that was begun. */
  public QuipuException unknown() {
    name();
    return unknown;
  }

  /**
   * Returns the failure that stopped the engine; empty while it runs, and after a regular close.
   */
  public Optional<Throwable> cause() {
    return Optional.ofNullable(cause.get());
  }

  /** Ends the engine regularly. */
  public void close() {
    if (!ended) {
      notApplied = new NotAppliedException(Reason.UNAVAILABLE, "the engine is closed");
      ended = true;
    }
  }

  /** Stops the engine permanently. Later causes are ignored. */
  public void stop(Throwable why) {
    ended = true; // before anything else
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

  /**
   * Reports the cause to callers and in the log; if there is no memory for it, the next call does.
   */
  private void name() {
    Throwable why = cause.get();
    if (why == null || isLogged.get()) {
      return;
    }
    try {
      if (!isNamed) {
        String message = STOPPED + ": " + why;
        notApplied = new NotAppliedException(Reason.UNAVAILABLE, message, why);
        unknown = new OutcomeUnknownException(Reason.UNAVAILABLE, message, why);
        isNamed = true;
      }
      if (isLogged.compareAndSet(false, true)) {
        log(why);
      }
    } catch (Throwable full) {
      // No memory to report it; callers get the exceptions created in advance.
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

  /** Sets the action that ends waiting calls when the engine stops. */
  public void onEnd(Runnable work) {
    freeWaiters = work;
  }

  private void free() {
    try {
      freeWaiters.run();
    } catch (Throwable e) { // repeated by the next round of a Ticker
      Objects.requireNonNull(cause.get()).addSuppressed(e);
    }
  }

  /**
   * Registers a listener that is called once when the engine stops on a failure; immediately if it
   * has.
   */
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

  /** Wraps the work of an engine thread, so that any Throwable stops the engine. */
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
