package dev.quipu.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Counter;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.HttpProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Threads that add through a proxy that loses replies, while the server is killed and started
 * again: the total is exact.
 */
final class ClientKillIT {
  private static final long SEED = Long.getLong("seed", 20_261_125L);
  private static final int THREADS = 1_000;
  private static final int ADDS = Integer.getInteger("client.adds", 40);

  /** Kills in equal parts of the adds, unless there is one in each period until the last add. */
  private static final int KILLS = 3;

  private static final long PERIOD_MILLIS = Long.getLong("client.kill.millis", 0);
  private static final double LOST = Double.parseDouble(System.getProperty("client.lost", "0.2"));

  @Test
  void theTotalIsExact(@TempDir Path directory) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    AtomicLong done = new AtomicLong();
    ServeProcess server = ServeProcess.start(directory, port);
    try (FaultProxy proxy =
            FaultProxy.start(new HttpProtocol(), port, Duration.ofSeconds(1), write -> 1);
        Quipu quipu =
            Quipu.builder()
                .server(URI.create("http://127.0.0.1:" + proxy.port()))
                .timeout(Duration.ofMinutes(30))
                .build();
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, write -> true));
      List<Future<Integer>> threads = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        threads.add(executor.submit(() -> addAll(quipu.counter("a"), thread, done)));
      }
      Progress progress = new Progress("adds", done::get);
      int kills = 0;
      while (PERIOD_MILLIS > 0 ? done.get() < THREADS * (long) ADDS : kills < KILLS) {
        if (PERIOD_MILLIS > 0) {
          Clock.system().sleep(Duration.ofMillis(PERIOD_MILLIS));
        } else {
          progress.awaitAtLeast((long) THREADS * ADDS * (kills + 1) / (KILLS + 1));
        }
        server.close();
        server = ServeProcess.start(directory, port);
        kills++;
      }
      int replayed = 0;
      for (Future<Integer> each : threads) {
        replayed += each.get();
      }
      long lost = proxy.ledger().fired(WireFault.REPLY_DROPPED);
      System.out.printf(
          "ClientKillIT: %d adds, %d kills, %d replies lost, %d adds replayed%n",
          done.get(), kills, lost, replayed);
      proxy.use(FaultPlan.none());
      assertEquals((long) THREADS * ADDS, quipu.counter("a").read().orElseThrow().value());
      assertTrue(lost > 0 && replayed > 0, "no reply was lost");
    } finally {
      server.close();
    }
  }

  /** Adds, half of the time without an id of its own; returns the number of replays. */
  private static int addAll(Counter counter, int thread, AtomicLong done) {
    int replayed = 0;
    for (int i = 0; i < ADDS; i++) {
      RequestId id = RequestId.of("thread-%d-add-%d".formatted(thread, i));
      boolean isReplayed =
          (i % 2 == 0 ? counter.add(1) : counter.add(1, id)).orElseThrow().isReplayed();
      replayed += isReplayed ? 1 : 0;
      done.incrementAndGet();
    }
    return replayed;
  }
}
