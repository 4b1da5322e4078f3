package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.OutcomeUnknownException;
import dev.quipu.Quipu;
import dev.quipu.Reason;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.resp.RawClient;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics of a server with all ports. */
final class MetricsTest {
  private static final String NAME = "secret-name";
  private static final String REQUESTS = "quipu_port_requests_total";

  @TempDir private Path directory;

  private static double requests(Exposition metrics, String port, String outcome) {
    return metrics.sum(REQUESTS, "port", port, "outcome", outcome);
  }

  @Test
  void eachPortCountsItsRequestsAndConnections() throws Exception {
    try (AllPorts server = AllPorts.start(directory)) {
      try (RawClient resp = server.respClient();
          RawClient memcached = server.memcachedClient()) {
        assertEquals(":1\r\n", resp.askLine("INCR " + NAME));
        assertEquals(":1\r\n", resp.askLine("EXISTS " + NAME));
        assertTrue(resp.askLine("NOPE").startsWith("-ERR"));
        assertTrue(resp.askLine("INCR").startsWith("-ERR"));
        assertEquals("2\r\n", memcached.askLine("incr " + NAME + " 1"));
        assertEquals("ERROR\r\n", memcached.askLine("nope"));
        assertEquals(200, server.client().add(NAME, "{\"delta\":4}").status());
        assertEquals(404, server.client().get("/v1/counters/nothing").status());
        Exposition metrics = server.metrics();
        assertEquals(2, requests(metrics, "resp", "success"));
        assertEquals(2, requests(metrics, "resp", "error"));
        assertEquals(0, requests(metrics, "resp", "unknown"));
        assertEquals(1, requests(metrics, "memcached", "success"));
        assertEquals(1, requests(metrics, "memcached", "error"));
        assertEquals(1, requests(metrics, "http", "success"));
        assertEquals(1, requests(metrics, "http", "error"));
        for (String port : List.of("resp", "memcached")) {
          assertEquals(1, metrics.sum("quipu_port_connections", "port", port), port);
        }
        assertEquals(4, metrics.sum("quipu_port_latency_seconds_count", "port", "resp"));
        assertEquals(2, metrics.sum("quipu_port_latency_seconds_count", "port", "memcached"));
        assertEquals(2, metrics.sum("quipu_port_latency_seconds_count", "port", "http"));
        assertTrue(metrics.sum("quipu_port_connections", "port", "http") >= 1);
        assertEquals(3, metrics.sum("quipu_adds_total", "outcome", "applied"));
        assertEquals(3, metrics.sum("quipu_today_adds"));
        assertTrue(metrics.sum("quipu_memory_used_bytes", "budget", "connections") > 0);
        assertTrue(metrics.sum("quipu_memory_max_bytes", "budget", "requests") > 0);
        assertFalse(server.client().get("/metrics").body().contains(NAME));
      }
      Progress.await(
          "closed connections are counted",
          () -> server.metrics().sum("quipu_port_connections", "port", "resp") == 0);
    }
  }

  @Test
  void theProcessIsMeasured() throws Exception {
    try (AllPorts server = AllPorts.start(directory)) {
      Exposition metrics = server.metrics();
      for (String each :
          List.of(
              "jvm_memory_used_bytes",
              "jvm_gc_memory_allocated_bytes_total",
              "jvm_threads_live_threads",
              "process_cpu_usage",
              "process_uptime_seconds",
              "process_files_open_files")) {
        assertTrue(metrics.sum(each) >= 0, each);
      }
    }
  }

  @Test
  void repliesWithAnUnknownOutcomeAreCounted() throws Exception {
    InterceptingDriver losing =
        new InterceptingDriver(
            new MemoryDriver(),
            new InterceptingDriver.Interceptor() {
              @Override
              public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
                if (writes.size() > 1) { // the marker and the add
                  throw new OutcomeUnknownException(Reason.CORRUPT, "lost", null);
                }
                return call.get();
              }
            });
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (Quipu quipu = Backends.on(losing);
        HttpServer server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system())) {
      Client client = new Client(server.address());
      Client.Reply reply = client.add(NAME, "{\"delta\":4}");
      assertEquals(503, reply.status(), reply.body());
      Exposition metrics = Exposition.parse(client.get("/metrics").body());
      assertEquals(1, requests(metrics, "http", "unknown"));
      assertEquals(0, requests(metrics, "http", "error"));
      assertEquals(1, metrics.sum("quipu_adds_total", "outcome", "unknown"));
    }
  }
}
