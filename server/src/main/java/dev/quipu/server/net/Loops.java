package dev.quipu.server.net;

import dev.quipu.Limits;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** Checks whether the event loops of a port are alive. */
public final class Loops {
  private Loops() {}

  /**
   * Returns why the loops cannot serve, waiting up to {@code patience}; empty if all of them
   * answer.
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
            "event loops that did not respond within %s: %d"
                .formatted(Limits.text(patience), alive.getCount()));
      }
    } catch (RejectedExecutionException e) {
      return Optional.of("an event loop has ended");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of("the server is stopping");
    }
    return Optional.empty();
  }
}
