package dev.quipu.server.http;

import dev.quipu.Quipu;
import dev.quipu.ScaleRules;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.cli.serve.ContinuousBackup;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.memcache.MemcacheServer;
import dev.quipu.server.net.HostProcess;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.RawClient;
import dev.quipu.server.resp.RespServer;
import dev.quipu.server.webhook.AllowedHosts;
import dev.quipu.server.webhook.Backoff;
import dev.quipu.server.webhook.WebhookSecret;
import dev.quipu.server.webhook.Webhooks;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A server on an engine, with all ports. */
record AllPorts(
    Engine engine,
    Quipu quipu,
    ContinuousBackup backup,
    Webhooks webhooks,
    CommandPort resp,
    CommandPort memcached,
    HttpServer http)
    implements AutoCloseable {
  private static final String VERSION = "test";

  static AllPorts start(Path directory) throws IOException {
    return start(directory, ScaleRules.none());
  }

  static AllPorts start(Path directory, ScaleRules scales) throws IOException {
    Path data = directory.resolve("data");
    EngineOptions options = EngineOptions.defaults().withLog(1 << 20, 4 << 20);
    Engine engine = Engine.open(data, options.withScales(scales));
    Quipu quipu = Backends.on(engine);
    ContinuousBackup backup =
        new ContinuousBackup(engine, data, directory.resolve("backup").toString(), Clock.system());
    Webhooks webhooks =
        Webhooks.start(
            engine.thresholds(),
            AllowedHosts.of(List.of("localhost")),
            WebhookSecret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "test"),
            Backoff.DEFAULT,
            Clock.system(),
            error -> {});
    MemoryBudget budget = new MemoryBudget(64 << 20);
    PortOptions redis = PortOptions.at(0).withMemory(budget);
    PortOptions memcached = PortOptions.at(0).withMemory(budget);
    HostProcess host =
        new HostProcess(
            budget,
            error -> {},
            Optional::empty,
            Map.of("resp", redis.meter(), "memcached", memcached.meter()),
            List.of(backup.meters(), webhooks.meters(), Webhooks.waiting(engine.thresholds())));
    return new AllPorts(
        engine,
        quipu,
        backup,
        webhooks,
        RespServer.start(redis, engine, VERSION, Clock.system()),
        MemcacheServer.start(memcached, engine, List.of(), VERSION, Clock.system()),
        HttpServer.start(
            HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false),
            Optional.empty(),
            Services.of(quipu, "test").sending(Optional.of(webhooks)),
            host,
            Clock.system()));
  }

  RawClient respClient() throws IOException {
    return new RawClient(resp.address().getPort());
  }

  RawClient memcachedClient() throws IOException {
    return new RawClient(memcached.address().getPort());
  }

  Client client() {
    return new Client(http.address());
  }

  Exposition metrics() {
    return Exposition.parse(client().get("/metrics").body());
  }

  @Override
  public void close() {
    http.close();
    memcached.close();
    resp.close();
    backup.close();
    webhooks.close();
    quipu.close();
  }
}
