package dev.quipu.server.cli;

import dev.quipu.engine.Engine;
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
 * After an OutOfMemoryError nothing can be relied on that allocates. So both threads exist from the
 * start, and the thread that fails only stores the cause: it neither blocks nor allocates. They
 * look for it every now and then, since a wait for a latch or a lock allocates, and goes on without
 * end if it cannot. One thread logs, which may hang or fail; the other ends the process when that
 * is done, or has taken too long. It halts: a shutdown hook could hang, and what was acknowledged
 * is on the disk.
 *
 * A process that is to go on answering 503 needs memory for that: all connections are closed, with
 * all that they hold. One that cannot answer after that either would only keep its clients waiting;
 * so it ends as the others do.
 */

/** Logs the failure that stops the engine, and ends the process, or lets it answer 503. */
final class FailurePolicy {
  /** What the process does after a failure. */
  enum Action {
    /** Ends with {@link ExitCode#FAILURE}. */
    exit,
    /** Stays, and answers that it cannot serve; ends like the other if it cannot even answer. */
    serve
  }

  /** Between two looks for a failure. */
  private static final Duration POLL = Duration.ofMillis(100);

  /** Looks for the entry in the log before the process ends without. */
  private static final int LOG_POLLS_MAX = 20;

  /** Between two looks at whether a process that failed still answers. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  /** Heap without which requests are not answered reliably, though a loop may still run. */
  private static final int ANSWER_BYTES = 1 << 20;

  /** Looks in a row that find no answer, before the process ends. */
  private static final int SILENT_MAX = 3;

  private static final byte[] NO_ANSWERS =
      "quipu: failed, and cannot answer any more; the process exits%n"
          .formatted()
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
  static FailurePolicy start(Action action) {
    return start(action, Runtime.getRuntime()::halt);
  }

  /** The same with another way to end. */
  static FailurePolicy start(Action action, IntConsumer halt) {
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
        "quipu: failed, and the cause could not be logged; --on-failure=%s. Restart the process%n"
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

  /**
   * Sets what {@link Action#serve} needs after an error of the virtual machine.
   *
   * @param closeAll closes all connections
   * @param areAnswering whether all ports answer
   */
  void keepAnswering(Runnable closeAll, BooleanSupplier areAnswering) {
    closeConnections = closeAll;
    answers = areAnswering;
  }

  /**
   * Takes the error of a thread: stops the engines, so that nothing more is acknowledged. It does
   * not throw: without memory, what follows a second error may be the end with another code.
   */
  void onError(Throwable error) {
    for (int i = 0; i < engines.size(); i++) { // an iterator would be allocated
      stop(engines.get(i), error);
    }
    failed(error);
  }

  private static void stop(Engine engine, Throwable error) {
    try {
      engine.stop(error);
    } catch (Throwable again) {
      // It has stopped: that comes before anything that can fail.
    }
  }

  /** Takes the error of the thread whose end is that of the process, and ends it with its code. */
  void endWith(VirtualMachineError error) {
    try {
      onError(error);
      awaitLogged();
    } catch (Throwable again) {
      // No memory to wait in, so there is none for the log either.
    } finally {
      halt.accept(ExitCode.FAILURE);
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
                  ? "Failed; the process exits. Restart it"
                  : "Failed; every request is answered 503. Restart the process");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Throwable unlogged) {
      say(lastWords);
    } finally {
      isLogged = true;
    }
  }

  private void say(byte[] words) {
    try {
      standardError.write(words);
    } catch (IOException e) {
      // nobody is there to read it
    }
  }

  /** Waits for the entry in the log that says what failed, as long as that may take. */
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
      return; // nothing interrupts it
    }
    say(NO_ANSWERS);
    halt.accept(ExitCode.FAILURE);
  }
}
