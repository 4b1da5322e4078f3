package dev.quipu.server.cli.serve;

import dev.quipu.Counters;
import dev.quipu.engine.Engine;
import dev.quipu.server.cli.access.OpenedStore;
import dev.quipu.server.cli.output.Version;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.memcache.MemcacheServer;
import dev.quipu.server.net.Listener;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.server.net.PortMeter;
import dev.quipu.server.net.Tls;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.RespServer;
import dev.quipu.time.Clock;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the Redis and memcached ports, and of all ports. */
final class PortFlags {
  @Option(
      names = "--resp",
      paramLabel = "PORT",
      description =
          "Serve the Redis protocol on this port too (0 picks one); engine only. Clients send the"
              + " token with AUTH.")
  private @Nullable Integer resp;

  @Option(
      names = "--memcached",
      paramLabel = "PORT",
      description =
          "Serve the memcached protocol on this port too (0 picks one); engine only. Clients"
              + " authenticate with a first set whose data is USER TOKEN.")
  private @Nullable Integer memcached;

  @Option(
      names = "--memcached-unsigned",
      split = ",",
      paramLabel = "PREFIX",
      description =
          "Over memcached, counters with this prefix are unsigned, and wrap to 0 after 2^64 - 1;"
              + " may be repeated.")
  private List<String> unsigned = List.of();

  @Option(
      names = "--allow-flush",
      description = "Allow FLUSHALL and flush_all, which remove all counters.")
  private boolean mayFlush;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "Serve TLS on all ports with this certificate, in PEM; with --tls-key.")
  private @Nullable Path certificate;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "The private key, in PEM.")
  private @Nullable Path key;

  /**
   * An open port.
   *
   * @param protocol the name of the protocol
   * @param meter counts its requests
   * @param isListening returns whether it is still open
   * @param impediment returns why it cannot serve, within a time; empty if it can
   */
  record Open(
      String protocol,
      PortMeter meter,
      String scheme,
      InetSocketAddress address,
      BooleanSupplier isListening,
      Function<Duration, Optional<String>> impediment) {
    private static Open of(
        String protocol, String name, PortMeter meter, boolean hasTls, CommandPort port) {
      String scheme = hasTls ? name + "s" : name;
      return new Open(protocol, meter, scheme, port.address(), port::isListening, port::impediment);
    }

    String url() {
      return scheme + "://" + CommandPort.text(address);
    }
  }

  /**
   * Returns the TLS context of all ports.
   *
   * @throws IllegalArgumentException if only one file is given, or a file is unusable
   */
  Optional<SslContext> tls() {
    Path one = certificate;
    Path other = key;
    if (one == null && other == null) {
      return Optional.empty();
    }
    if (one == null || other == null) {
      throw new IllegalArgumentException("--tls-cert and --tls-key must be used together");
    }
    return Optional.of(Tls.of(one, other));
  }

  /**
   * Checks the port of HTTP and, before a data directory is created, that all ports can be bound: a
   * server that cannot listen leaves no new directory.
   *
   * @throws IOException if one cannot be bound
   */
  void check(String store, String bind, int http) throws IOException {
    checkPort("--http", http);
    checkPort("--resp", resp == null ? 0 : resp);
    checkPort("--memcached", memcached == null ? 0 : memcached);
    if (!OpenedStore.isEngine(store) || Files.exists(OpenedStore.directory(store))) {
      return;
    }
    Listener.requireFree(bind, http);
    Listener.requireFree(bind, resp == null ? 0 : resp);
    Listener.requireFree(bind, memcached == null ? 0 : memcached);
  }

  /**
   * Opens the requested ports.
   *
   * @param counters the counters of the server
   * @param budget bounds the memory that clients of all ports hold together
   * @param closing receives actions that close the ports
   */
  List<Open> open(
      HttpOptions http,
      Optional<SslContext> tls,
      Counters counters,
      MemoryBudget budget,
      Deque<Runnable> closing)
      throws IOException {
    List<Open> opened = new ArrayList<>();
    Integer redisPort = resp;
    if (redisPort != null) {
      Engine engine = engine("--resp", counters);
      PortOptions options = options(redisPort, http, tls).withMemory(budget);
      CommandPort server = RespServer.start(options, engine, Version.current(), Clock.system());
      closing.addFirst(server::close);
      opened.add(Open.of("resp", "redis", options.meter(), tls.isPresent(), server));
    }
    Integer memcachedPort = memcached;
    if (memcachedPort != null) {
      Engine engine = engine("--memcached", counters);
      PortOptions options = options(memcachedPort, http, tls).withMemory(budget);
      CommandPort server =
          MemcacheServer.start(options, engine, unsigned, Version.current(), Clock.system());
      closing.addFirst(server::close);
      opened.add(Open.of("memcached", "memcached", options.meter(), tls.isPresent(), server));
    }
    return opened;
  }

  /** Returns the meters of ports by protocol. */
  static Map<String, PortMeter> meters(List<Open> ports) {
    return ports.stream().collect(Collectors.toMap(Open::protocol, Open::meter));
  }

  /** Returns which ports no longer listen; empty if all do. */
  static Optional<String> impediment(List<Open> ports) {
    String closed =
        ports.stream()
            .filter(each -> !each.isListening.getAsBoolean())
            .map(Open::url)
            .collect(Collectors.joining(", "));
    return closed.isEmpty()
        ? Optional.empty()
        : Optional.of("port " + closed + " no longer listens; restart the server");
  }

  private PortOptions options(int port, HttpOptions http, Optional<SslContext> tls) {
    return PortOptions.at(port)
        .withAccess(http.bind(), http.access().token(), tls)
        .withConnectionsMax(http.connectionsMax())
        .withFlush(mayFlush);
  }

  private static Engine engine(String option, Counters counters) {
    return counters
        .as(Engine.class)
        .orElseThrow(() ->
            new IllegalArgumentException(
                option + " needs the engine (--data, or --store engine:DIR)"));
  }

  /**
   * Checks a port number.
   *
   * @throws IllegalArgumentException naming the option
   */
  static void checkPort(String option, int port) {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException(
          "%s is %d; it must be from 0 to 65535".formatted(option, port));
    }
  }
}
