package dev.quipu.server.cli;

import dev.quipu.engine.Engine;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * After an OutOfMemoryError nothing can be relied on that allocates. So both threads exist from the
 * start, and the thread that fails only stores the cause and opens a latch: it neither blocks nor
 * allocates. One thread logs, which may hang or fail; the other ends the process when that is done,
 * or has taken too long. It halts: a shutdown hook could hang, and what was acknowledged is on the
 * disk.
 */

/** Logs the failure that stops the engine, and ends the process, or lets it answer 503. */
final class FailurePolicy {
  /** What the process does after a failure. */
  enum Action {
    /** Ends with {@link ExitCode#FAILURE}. */
    exit,
    /** Stays, and answers that it cannot serve. */
    serve
  }

  private static final long LOG_TIMEOUT_MILLIS = 2_000;
  private static final Logger LOGGER = LoggerFactory.getLogger(FailurePolicy.class);

  private final Action action;
  private final IntConsumer halt;
  private final byte[] lastWords;
  private final FileOutputStream standardError = new FileOutputStream(FileDescriptor.err);
  private final List<Engine> engines = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean isLoggedByEngine; // with its stack trace
  private final CountDownLatch failed = new CountDownLatch(1);
  private final CountDownLatch logged = new CountDownLatch(1);

  /** Creates a policy that ends this process, and starts what it needs. */
  static FailurePolicy start(Action action) {
    return start(action, Runtime.getRuntime()::halt);
  }

  /** The same with another way to end. */
  static FailurePolicy start(Action action, IntConsumer halt) {
    FailurePolicy policy = new FailurePolicy(action, halt);
    Thread.ofPlatform().daemon().name("quipu-failure-log").start(policy::log);
    if (action == Action.exit) {
      Thread.ofPlatform().daemon().name("quipu-failure-exit").start(policy::exit);
    }
    return policy;
  }

  private FailurePolicy(Action action, IntConsumer halt) {
    this.action = action;
    this.halt = halt;
    this.lastWords =
        "quipu: failed, and the cause could not be logged; --on-failure=%s%n"
            .formatted(action)
            .getBytes(StandardCharsets.UTF_8);
  }

  /** Applies when this engine stops on a failure; the engine stops when another thread fails. */
  void watch(Engine engine) {
    engines.add(engine);
    engine.onFailure(cause -> {
      isLoggedByEngine = true;
      failed(cause);
    });
  }

  /** Takes the error of a thread: stops the engines, so that nothing more is acknowledged. */
  void onError(Throwable error) {
    try {
      for (Engine engine : engines) {
        engine.stop(error);
      }
    } finally {
      failed(error);
    }
  }

  /** Takes what a thread did not catch. */
  void onUncaught(Thread thread, Throwable thrown) {
    if (thrown instanceof VirtualMachineError) {
      onError(thrown);
    } else {
      LOGGER
          .atError()
          .addKeyValue("thread", thread.getName())
          .setCause(thrown)
          .log("Uncaught exception in a thread");
    }
  }

  private void failed(Throwable cause) {
    failure.compareAndSet(null, cause);
    failed.countDown();
  }

  private void log() {
    try {
      failed.await();
      Throwable cause = failure.get();
      LOGGER
          .atError()
          .addKeyValue("onFailure", action)
          .addKeyValue("cause", cause)
          .setCause(isLoggedByEngine ? null : cause)
          .log(
              action == Action.exit
                  ? "Failed; the process exits. Restart it"
                  : "Failed; every request is answered 503. Restart the process");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Throwable unlogged) {
      sayLastWords();
    } finally {
      logged.countDown();
    }
  }

  private void sayLastWords() {
    try {
      standardError.write(lastWords);
    } catch (IOException e) {
      // nobody is there to read it
    }
  }

  /** Waits for the entry in the log that says what failed, as long as that may take. */
  void awaitLogged() {
    try {
      boolean unused = logged.await(LOG_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void exit() {
    try {
      failed.await();
      awaitLogged();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      halt.accept(ExitCode.FAILURE);
    }
  }
}
