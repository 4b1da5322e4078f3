package dev.quipu.server.http;

import dev.quipu.server.net.HostProcess;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs a bounded number of requests on virtual threads. Thread-safe. */
final class Workers implements AutoCloseable {
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicInteger running = new AtomicInteger();
  private final int runningMax;
  private final HostProcess host;

  Workers(int runningMax, HostProcess host) {
    this.runningMax = runningMax;
    this.host = host;
  }

  /** Returns the limit of requests in progress. */
  int runningMax() {
    return runningMax;
  }

  /**
   * Runs a request, unless too many are in progress.
   *
   * @param onError run after an unhandled throwable, which is reported to the host process
   * @return whether the request runs
   */
  boolean tryRun(Runnable request, Runnable onError) {
    if (running.incrementAndGet() > runningMax) {
      running.decrementAndGet();
      return false;
    }
    executor.execute(() -> {
      try {
        request.run();
      } catch (Throwable e) { // the connection must not wait for a reply that never comes
        host.onError().accept(e);
        onError.run();
      } finally {
        running.decrementAndGet();
      }
    });
    return true;
  }

  /** Accepts no more requests; those in progress continue. */
  @Override
  public void close() {
    executor.shutdown();
  }
}
