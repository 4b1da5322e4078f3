package dev.quipu.memcached;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.testservers.MemcachedServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/** One server for all tests, flushed before each. */
final class Caches {
  private static final Optional<MemcachedServer> SERVER = MemcachedServer.start();

  private Caches() {}

  static MemcachedServer emptyServer() {
    assumeTrue(SERVER.isPresent(), "no memcached on this machine: ./dev deps installs it");
    MemcachedServer server = SERVER.orElseThrow();
    ask(server, "flush_all");
    return server;
  }

  /** Sends a line to the server; returns the first line of its reply. */
  static String ask(MemcachedServer server, String line) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.getOutputStream().write((line + "\r\nquit\r\n").getBytes(StandardCharsets.US_ASCII));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return answer.lines().findFirst().orElse("");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String uri(int port, Duration timeout) {
    return "memcached://127.0.0.1:%d?timeoutMillis=%d".formatted(port, timeout.toMillis());
  }
}
