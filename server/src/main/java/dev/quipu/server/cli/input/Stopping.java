package dev.quipu.server.cli.input;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets work end in order when the process is told to stop: the work looks whether it was asked to,
 * and the process waits for it to close this.
 */
public final class Stopping implements AutoCloseable {
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread hook;
  private volatile boolean asked;

  /**
   * Begins to listen.
   *
   * @param patience longest wait for work that does not end, because its input does not come, say
   */
  public Stopping(Duration patience) {
    hook = new Thread(() -> ask(patience), "quipu-stop");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /**
   * Until the process is told to stop, and what was opened is closed.
   *
   * @param ready says that it is ready
   * @param close closes it, when the process stops
   */
  public static void await(Runnable ready, Runnable close) {
    CountDownLatch closed = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  close.run();
                  closed.countDown();
                },
                "quipu-stop"));
    ready.run();
    try {
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether to end. */
  public boolean isAsked() {
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
