package dev.quipu.server.cli.serve;

import dev.quipu.engine.Engine;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.time.Clock;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * After an OutOfMemoryError, code that allocates is not reliable. So both threads exist from the
 * start, and the failing thread only stores the cause: it neither blocks nor allocates. The two
 * threads poll for it, since a wait for a latch or a lock allocates, and hangs if it cannot. One
 * thread logs, which may hang or fail; the other ends the process when that is done, or has taken
 * too long. It halts, since a shutdown hook could hang, and acknowledged adds are on the disk.
 *
 * A process that continues to respond with 503 needs memory: it closes all connections, which
 * releases theirs. If it cannot respond even then, clients would only wait; so it ends too.
 */

/** Logs the failure that stops the engine, and ends the process or keeps it responding with 503. */
public final class FailurePolicy {
  /** The action after a failure. */
  public enum Action {
    /** End with {@link ExitCode#FAILURE}. */
    exit,
    /** Respond with 503; end with {@link ExitCode#FAILURE} if even that fails. */
    serve
  }

  /** Interval between two checks for a failure. */
  private static final Duration POLL = Duration.ofMillis(100);

  /** Maximum number of checks for the log entry, before the process ends without it. */
  private static final int LOG_POLLS_MAX = 20;

  /** Interval between two checks whether a failed process still responds. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  /** Heap without which responses are not reliable, although event loops may still run. */
  private static final int ANSWER_BYTES = 1 << 20;

  /** Consecutive failed checks before the process ends. */
  private static final int SILENT_MAX = 3;

  private static final byte[] NO_ANSWERS =
      ("quipu: failed, and no longer responds; exiting" + System.lineSeparator())
          .getBytes(StandardCharsets.UTF_8);
  private static final Logger LOGGER = LoggerFactory.getLogger(FailurePolicy.class);

  private final Action action;
  private final IntConsumer halt;
  private final byte[] lastWords;
  private final FileOutputStream standardError = new FileOutputStream(FileDescriptor.err);
  private final List<Engine> engines = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean isLoggedByEngine; // with its stack trace
  private volatile Runnable closeConnections = () -> {};
  private volatile BooleanSupplier answers = () -> true;
  private volatile boolean isLogged;

  /** Creates a policy that ends this process, and starts what it needs. */
  public static FailurePolicy start(Action action) {
    return start(action, Runtime.getRuntime()::halt);
  }

  /** Creates a policy that ends the process by another function. */
  public static FailurePolicy start(Action action, IntConsumer halt) {
    FailurePolicy policy = new FailurePolicy(action, halt);
    Thread.ofPlatform().daemon().name("quipu-failure-log").start(policy::log);
    Runnable end = action == Action.exit ? policy::exit : policy::exitOnceSilent;
    Thread.ofPlatform().daemon().name("quipu-failure-exit").start(end);
    return policy;
  }

  private FailurePolicy(Action action, IntConsumer halt) {
    this.action = action;
    this.halt = halt;
    this.lastWords =
        "quipu: failed, and the cause could not be logged (--on-failure=%s); restart the process%n"
            .formatted(action)
            .getBytes(StandardCharsets.UTF_8);
  }

  /** Applies the policy when this engine fails, and stops the engine when a thread fails. */
  public void watch(Engine engine) {
    engines.add(engine);
    engine.onFailure(cause -> {
      isLoggedByEngine = true;
      failed(cause);
    });
  }

  /**
   * Sets how {@link Action#serve} recovers from an error of the virtual machine.
   *
   * @param closeAll closes all connections
   * @param areAnswering returns whether all ports respond
   */
  public void keepAnswering(Runnable closeAll, BooleanSupplier areAnswering) {
    closeConnections = closeAll;
    answers = areAnswering;
  }

  /**
   * Handles the error of a thread: stops the engines, so that nothing more is acknowledged. Does
   * not throw, since a second error could end the process with another exit code.
   */
  public void onError(Throwable error) {
    for (int i = 0; i < engines.size(); i++) { // an iterator would allocate
      stop(engines.get(i), error);
    }
    failed(error);
  }

  private static void stop(Engine engine, Throwable error) {
    try {
      engine.stop(error);
    } catch (Throwable again) {
      // The engine has stopped: it does so before anything that can fail.
    }
  }

  /** Handles an error of the main thread, and ends the process with {@link ExitCode#FAILURE}. */
  public void endWith(VirtualMachineError error) {
    try {
      onError(error);
      awaitLogged();
    } catch (Throwable again) {
      // Without memory to wait there is none for the log either.
    } finally {
      halt.accept(ExitCode.FAILURE);
    }
  }

  /** Handles an uncaught exception of a thread. */
  public void onUncaught(Thread thread, Throwable thrown) {
    if (thrown instanceof VirtualMachineError) {
      onError(thrown);
    } else {
      LOGGER
          .atError()
          .addKeyValue("thread", thread.getName())
          .setCause(thrown)
          .log("Uncaught exception in thread");
    }
  }

  private void failed(Throwable cause) {
    failure.compareAndSet(null, cause);
  }

  private void awaitFailure() throws InterruptedException {
    while (failure.get() == null) {
      Clock.system().sleep(POLL);
    }
  }

  private void log() {
    try {
      awaitFailure();
      Throwable cause = failure.get();
      LOGGER
          .atError()
          .addKeyValue("onFailure", action)
          .addKeyValue("cause", cause)
          .setCause(isLoggedByEngine ? null : cause)
          .log(
              action == Action.exit
                  ? "Failed; exiting. Restart the process"
                  : "Failed; responding with 503. Restart the process");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Throwable unlogged) {
      print(lastWords);
    } finally {
      isLogged = true;
    }
  }

  private void print(byte[] words) {
    try {
      standardError.write(words);
    } catch (IOException e) {
      // standard error is closed
    }
  }

  /** Waits for the log entry of the failure, for a limited time. */
  void awaitLogged() {
    try {
      for (int i = 0; i < LOG_POLLS_MAX && !isLogged; i++) {
        Clock.system().sleep(POLL);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void exit() {
    try {
      awaitFailure();
      awaitLogged();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      halt.accept(ExitCode.FAILURE);
    }
  }

  private void exitOnceSilent() {
    try {
      awaitFailure();
      boolean isFull = failure.get() instanceof VirtualMachineError;
      int silent = 0;
      while (silent < SILENT_MAX) {
        Clock.system().sleep(LOOK);
        try {
          if (isFull) {
            closeConnections.run();
            isFull = false;
          }
          boolean hasMemory = new byte[ANSWER_BYTES].length > 0; // or throws
          silent = hasMemory && answers.getAsBoolean() ? 0 : silent + 1;
        } catch (Throwable noMemory) {
          silent++;
        }
      }
    } catch (InterruptedException e) {
      return; // never interrupted
    }
    print(NO_ANSWERS);
    halt.accept(ExitCode.FAILURE);
  }
}
