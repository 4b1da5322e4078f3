package dev.quipu.server.http;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.resp.RawClient;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** The metrics of two running servers, which together have all meters. */
final class AllMetrics {
  private AllMetrics() {}

  /** Returns the metrics of all ports on an engine, and of a store that measures everything. */
  static Exposition of(Path directory) throws IOException {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (AllPorts server = AllPorts.start(directory);
        RawClient resp = server.respClient();
        RawClient memcached = server.memcachedClient();
        Quipu onStore = Backends.on(new Measured());
        HttpServer other =
            HttpServer.start(options, Services.of(onStore, "test"), Clock.system())) {
      String replies = resp.askLine("INCR a") + memcached.askLine("incr a 1");
      int status = server.client().add("a", "{\"delta\":4}").status();
      if (!replies.equals(":1\r\n2\r\n") || status != 200) {
        throw new AssertionError(replies + status);
      }
      return server
          .metrics()
          .and(Exposition.parse(new Client(other.address()).get("/metrics").body()));
    }
  }

  /** A driver with all measurements. */
  private static final class Measured extends ForwardingDriver {
    private final MemoryDriver memory = new MemoryDriver();

    @Override
    protected StoreDriver driver() {
      return memory;
    }

    @Override
    public Map<Measure, Long> measures() {
      Map<Measure, Long> measures = new EnumMap<>(Measure.class);
      for (Measure each : Measure.values()) {
        measures.put(each, 1L);
      }
      return measures;
    }
  }
}
