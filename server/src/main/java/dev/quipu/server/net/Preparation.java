package dev.quipu.server.net;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import java.nio.channels.spi.SelectorProvider;

/**
 * Initializes libraries that the ports need in a thread of its own. They take as long as opening a
 * data directory, which can be done meanwhile. If they fail here, they fail again where they are
 * needed.
 */
public final class Preparation {
  private Preparation() {}

  /** Starts the preparation. */
  public static void start() {
    Thread.ofPlatform().daemon().name("quipu-prepare").start(Preparation::run);
  }

  private static void run() {
    var unusedProvider = SelectorProvider.provider(); // searches the jar for services
    ByteBufAllocator.DEFAULT.directBuffer().release(); // finds out how to free memory
    var unusedCount = Connections.countMaxOfSystem();
    new PrometheusMeterRegistry(PrometheusConfig.DEFAULT).close();
  }
}
