package dev.quipu.server.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Lets work end in order when the process is told to stop: the work looks whether it was asked to,
 * and the process waits for it to close this.
 */
final class Stopping implements AutoCloseable {
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread hook;
  private volatile boolean asked;

  /**
   * Begins to listen.
   *
   * @param patience longest wait for work that does not end, because its input does not come, say
   */
  Stopping(Duration patience) {
    hook = new Thread(() -> ask(patience), "quipu-stop");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** The same for a process that ends with an error of the virtual machine. */
  static void await(Runnable ready, Runnable close) {
    await(
        ready,
        close,
        error -> {
          throw error;
        });
  }

  /**
   * Until the process is to stop, and what was opened is closed. An error of the virtual machine
   * does not end the wait: whether the process goes on is not for the thread that waits.
   *
   * @param ready says that it is ready
   * @param close closes it, when the process stops
   * @param onError takes an error of the virtual machine, and may throw to end the wait
   */
  static void await(Runnable ready, Runnable close, Consumer<VirtualMachineError> onError) {
    CountDownLatch closed = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  close.run();
                  closed.countDown();
                },
                "quipu-stop"));
    try {
      ready.run();
    } catch (VirtualMachineError e) {
      onError.accept(e);
    }
    for (boolean isOver = false; !isOver; ) {
      try {
        closed.await();
        isOver = true;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        isOver = true;
      } catch (VirtualMachineError e) {
        onError.accept(e);
      }
    }
  }

  /** Whether to end. */
  boolean isAsked() {
    return asked;
  }

  private void ask(Duration patience) {
    asked = true;
    try {
      var unused = ended.await(patience.toMillis(), TimeUnit.MILLISECONDS); // enough either way
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
      // and the hook has run, or runs
    }
  }
}
