package dev.quipu.server.cli.serve;

import dev.quipu.engine.Engine;
import dev.quipu.server.cli.output.Version;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.memcache.MemcacheServer;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.server.net.Tls;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.RespServer;
import dev.quipu.time.Clock;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the ports besides HTTP, and of what is the same for all. */
final class PortFlags {
  @Option(
      names = "--resp",
      paramLabel = "PORT",
      description =
          "Speak Redis on this port too (0 picks one); with the engine alone. Clients show the token"
              + " of the server by AUTH.")
  private @Nullable Integer resp;

  @Option(
      names = "--memcached",
      paramLabel = "PORT",
      description =
          "Speak memcached on this port too (0 picks one); with the engine alone. Clients show the"
              + " token by a first set, as memcached has it: data USER TOKEN.")
  private @Nullable Integer memcached;

  @Option(
      names = "--memcached-unsigned",
      paramLabel = "PREFIX",
      description =
          "Over memcached, counters whose names begin so have no sign, and begin again at 0 behind"
              + " 2^64 - 1; may be given several times.")
  private List<String> unsigned = List.of();

  @Option(
      names = "--allow-flush",
      description = "Let clients remove all counters by FLUSHALL or flush_all.")
  private boolean mayFlush;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "Encrypt all ports with this certificate, in PEM; with --tls-key.")
  private @Nullable Path certificate;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "Its key, in PEM.")
  private @Nullable Path key;

  /**
   * A port that was opened, as the ready line names it.
   *
   * @param isListening whether it still is open
   * @param impediment why it cannot be served, after a time at most; empty if it can
   */
  record Open(
      String scheme,
      InetSocketAddress address,
      BooleanSupplier isListening,
      Function<Duration, Optional<String>> impediment) {
    String url() {
      return scheme + "://" + CommandPort.text(address);
    }
  }

  /**
   * What encrypts all ports.
   *
   * @throws IllegalArgumentException if one file was given without the other, or cannot be used
   */
  Optional<SslContext> tls() {
    Path one = certificate;
    Path other = key;
    if (one == null && other == null) {
      return Optional.empty();
    }
    if (one == null || other == null) {
      throw new IllegalArgumentException("--tls-cert and --tls-key go together");
    }
    return Optional.of(Tls.of(one, other));
  }

  /**
   * Opens the ports that were asked for.
   *
   * @param counters what the server counts with
   * @param budget bounds the memory that clients of all ports hold together
   * @param closing takes what is to be closed
   */
  List<Open> open(
      HttpOptions http,
      Optional<SslContext> tls,
      Object counters,
      MemoryBudget budget,
      Deque<Runnable> closing)
      throws IOException {
    List<Open> opened = new ArrayList<>();
    Integer redisPort = resp;
    if (redisPort != null) {
      Engine engine = engine("--resp", counters);
      CommandPort server =
          RespServer.start(
              options("--resp", redisPort, http, tls).withMemory(budget),
              engine,
              Version.current(),
              Clock.system());
      closing.addFirst(server::close);
      opened.add(
          new Open(
              tls.isPresent() ? "rediss" : "redis",
              server.address(),
              server::isListening,
              server::impediment));
    }
    Integer memcachedPort = memcached;
    if (memcachedPort != null) {
      Engine engine = engine("--memcached", counters);
      CommandPort server =
          MemcacheServer.start(
              options("--memcached", memcachedPort, http, tls).withMemory(budget),
              engine,
              unsigned,
              Version.current(),
              Clock.system());
      closing.addFirst(server::close);
      opened.add(
          new Open(
              tls.isPresent() ? "memcacheds" : "memcached",
              server.address(),
              server::isListening,
              server::impediment));
    }
    return opened;
  }

  /** Returns which port is dead; empty if none is. */
  static Optional<String> impediment(List<Open> ports) {
    return ports.stream()
        .filter(each -> !each.isListening.getAsBoolean())
        .map(each -> "port " + each.url() + " no longer listens; restart the server")
        .findFirst();
  }

  private PortOptions options(String option, int port, HttpOptions http, Optional<SslContext> tls) {
    checkPort(option, port);
    return PortOptions.at(port)
        .withAccess(http.bind(), http.access().token(), tls)
        .withConnectionsMax(http.connectionsMax())
        .withFlush(mayFlush);
  }

  private static Engine engine(String option, Object counters) {
    if (counters instanceof Engine engine) {
      return engine;
    }
    throw new IllegalArgumentException(option + " is for the engine alone");
  }

  /**
   * Checks the limits of a port.
   *
   * @throws IllegalArgumentException naming the option
   */
  static void checkPort(String option, int port) {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException(
          "%s is %d, the limits are 0 and 65535".formatted(option, port));
    }
  }
}
