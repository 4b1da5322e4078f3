package dev.quipu.server.cli.input;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Ends work in order when the process must stop: the work polls whether a stop was requested, and
 * the shutdown waits until the work closes this.
 */
public final class Stopping implements AutoCloseable {
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread hook;
  private volatile boolean requested;

  /**
   * Registers a shutdown hook.
   *
   * @param patience longest wait for the work, which may be blocked by its input
   */
  public Stopping(Duration patience) {
    hook = new Thread(() -> request(patience), "quipu-stop");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Waits like the method below, and rethrows an error of the virtual machine. */
  public static void await(Runnable ready, Runnable close) {
    await(
        ready,
        close,
        error -> {
          throw error;
        });
  }

  /**
   * Waits until the process must stop. If a signal stops it, the process ends with status 0 when
   * everything is closed, rather than with 128 plus the number of the signal. An error of the
   * virtual machine does not end the wait: {@code onError} decides whether the process continues.
   *
   * @param ready reports that the process is ready
   * @param close closes everything, when the process stops
   * @param onError handles an error of the virtual machine, and may throw to end the wait
   */
  public static void await(Runnable ready, Runnable close, Consumer<VirtualMachineError> onError) {
    AtomicBoolean isWaiting = new AtomicBoolean(true);
    Thread hook =
        new Thread(
            () -> {
              boolean isSignal = isWaiting.get(); // otherwise, the end of the wait led to an exit
              close.run();
              if (isSignal) {
                Runtime.getRuntime().halt(0);
              }
            },
            "quipu-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      try {
        ready.run();
      } catch (VirtualMachineError e) {
        onError.accept(e);
      }
      awaitInterrupt(onError);
    } finally {
      isWaiting.set(false);
    }
  }

  private static void awaitInterrupt(Consumer<VirtualMachineError> onError) {
    for (boolean isInterrupted = false; !isInterrupted; ) {
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        isInterrupted = true;
      } catch (VirtualMachineError e) {
        onError.accept(e);
      }
    }
  }

  /** Returns whether a stop was requested. */
  public boolean isRequested() {
    return requested;
  }

  private void request(Duration patience) {
    requested = true;
    try {
      var unused = ended.await(patience.toMillis(), TimeUnit.MILLISECONDS); // timed out or not
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    ended.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException stoppingAlready) {
      // the hook runs, or has run
    }
  }
}
