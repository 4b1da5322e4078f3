package dev.quipu.client;

import dev.quipu.Counters;
import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.testkit.technique.CountersContract;
import dev.quipu.time.Clock;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;

/** The contract of all counters, by a client of a server on the engine. */
final class ClientContractTest extends CountersContract {
  @TempDir Path directory;
  private Quipu local;
  private HttpServer server;
  private Quipu client;

  @SuppressWarnings("NullAway.Init") // JUnit calls open before each test
  ClientContractTest() {}

  @Override
  protected Counters open(ManualClock clock) throws Exception {
    EngineOptions options =
        EngineOptions.defaults().withLog(1 << 20, 4 << 20).withWindow(WINDOW).withClock(clock);
    local = Quipu.on(Backends.backend(Engine.open(directory, options)));
    server =
        HttpServer.start(
            HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false),
            Services.of(local, "engine"),
            Clock.system());
    client = Quipu.connect(URI.create("http://127.0.0.1:" + server.address().getPort()));
    return client.counters();
  }

  @Override
  protected void close() {
    client.close();
    server.close();
    local.close();
  }
}
