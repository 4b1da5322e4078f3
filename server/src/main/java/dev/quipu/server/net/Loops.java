package dev.quipu.server.net;

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** Looks whether the event loops of a port are alive. */
public final class Loops {
  private Loops() {}

  /**
   * Returns why a port cannot be served, after this long at most; empty if all its loops answer.
   */
  public static Optional<String> impediment(EventLoopGroup loops, Duration patience) {
    try {
      List<EventExecutor> all = new ArrayList<>();
      loops.forEach(all::add);
      CountDownLatch alive = new CountDownLatch(all.size());
      for (EventExecutor loop : all) {
        loop.execute(alive::countDown);
      }
      if (!alive.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        return Optional.of(
            "%d event loops do not answer within %s".formatted(alive.getCount(), patience));
      }
    } catch (RejectedExecutionException e) {
      return Optional.of("an event loop has ended");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of("the server stops");
    }
    return Optional.empty();
  }
}
