package dev.quipu.server.net;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import java.nio.channels.spi.SelectorProvider;

/**
 * Initializes libraries that the ports need in a thread of its own. They take as long as opening a
 * data directory, which can be done meanwhile. If they fail here, they fail again where they are
 * needed. No start should open the jar: reading its directory takes 25 ms.
 */
public final class Preparation {
  private Preparation() {}

  /** Starts the preparation. */
  public static void start() {
    Thread.ofPlatform().daemon().name("quipu-prepare").start(Preparation::run);
  }

  private static void run() {
    // Searches the jar for services, unless tools/java-options.sh names the provider.
    var unusedProvider = SelectorProvider.provider();
    ByteBufAllocator.DEFAULT.directBuffer().release(); // finds out how to free memory
    var unusedCount = Connections.countMaxOfSystem();
    newRegistry().close();
  }

  /** Returns a new registry, without a search for its properties in the jar. */
  public static PrometheusMeterRegistry newRegistry() {
    Thread thread = Thread.currentThread();
    ClassLoader loader = thread.getContextClassLoader();
    thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
    try {
      return new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    } finally {
      thread.setContextClassLoader(loader);
    }
  }
}
