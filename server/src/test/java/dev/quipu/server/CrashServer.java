package dev.quipu.server;

import dev.quipu.QuipuException;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.memcache.MemcacheServer;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.RespServer;
import dev.quipu.time.Clock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A server process to be killed: all ports on an engine that takes a snapshot, seals request ids
 * and sweeps expired counters every 50 ms. Prints its three ports when it is ready.
 */
final class CrashServer {
  private static final Duration EVERY = Duration.ofMillis(50);

  /** Longer than a run with its check, yet short enough that files of ids are dropped. */
  private static final Duration WINDOW = Duration.ofMinutes(2);

  private CrashServer() {}

  /** Runs the server; the argument is the directory. */
  public static void main(String[] arguments) throws Exception {
    EngineOptions options =
        EngineOptions.defaults()
            .withLog(1 << 20, 2 << 20)
            .withIdsInMemoryMax(1_024)
            .withWindow(WINDOW);
    Clock clock = Clock.system();
    Engine engine = Engine.open(Path.of(arguments[0]), options);
    CommandPort redis = RespServer.start(PortOptions.at(0), engine, "test", clock);
    CommandPort memcached =
        MemcacheServer.start(PortOptions.at(0), engine, List.of(), "test", clock);
    HttpServer http =
        HttpServer.start(
            HttpOptions.defaults().at("127.0.0.1", 0, java.util.Optional.empty(), false),
            Services.of(Backends.on(engine), "engine"),
            clock);
    System.out.printf(
        "%d %d %d%n",
        http.address().getPort(), redis.address().getPort(), memcached.address().getPort());
    while (engine.failure().isEmpty()) {
      clock.sleep(EVERY);
      try {
        engine.sweep();
        engine.checkpoint();
      } catch (QuipuException e) {
        // the disk is gone: the simulated power cut kills this process
      }
    }
  }
}
