package dev.quipu.server.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How the HTTP port works.
 *
 * @param bind address to listen on
 * @param port port to listen on; 0 picks one
 * @param connectionsMax connections at once; more take the place of idle ones
 * @param requestsMax requests in progress at once; more are answered 503
 */
public record HttpOptions(
    String bind, int port, Access access, int connectionsMax, int requestsMax, Timeouts timeouts) {
  /**
   * Who may use the port.
   *
   * @param token required as a bearer token; empty to require none
   * @param insecure whether other machines may do without a token
   * @param origins sites whose pages may send views and show hit badges, without a token; {@code *}
   *     for all
   */
  public record Access(Optional<String> token, boolean insecure, Set<String> origins) {}

  /**
   * How long a connection may wait.
   *
   * @param header longest time from the first byte of a request to the last of its head
   * @param body longest time from there to the last byte of its body
   * @param idle longest time between two requests
   * @param request longest time to an answer; a write that takes longer is answered "unknown"
   * @param drain longest wait for requests under way when the server stops
   */
  public record Timeouts(
      Duration header, Duration body, Duration idle, Duration request, Duration drain) {
    /** Returns the shortest time that a connection may wait. */
    Duration shortest() {
      return Stream.of(header, body, idle, request).min(Comparator.naturalOrder()).orElseThrow();
    }
  }

  /** Where the server listens unless told otherwise. */
  public static final int PORT = 7080;

  private static final long HEAP_BYTES_PER_REQUEST = 256 << 10;
  private static final int REQUESTS_MAX = 4_096;

  /**
   * Rejects to let other machines in without a token.
   *
   * @throws IllegalArgumentException if so
   */
  public HttpOptions {
    if (!access.insecure && access.token.isEmpty() && !isLoopback(bind)) {
      throw new IllegalArgumentException(
          "%s can be reached from other machines: give a token, or allow it by name with --insecure"
              .formatted(bind));
    }
  }

  /** Loopback only, port {@link #PORT}, no token, 20,000 connections. */
  public static HttpOptions defaults() {
    Timeouts timeouts =
        new Timeouts(
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            Duration.ofSeconds(15),
            Duration.ofSeconds(10));
    Access access = new Access(Optional.empty(), false, Set.of());
    return new HttpOptions("127.0.0.1", PORT, access, 20_000, requestsOfHeap(), timeouts);
  }

  /** Returns the same options for another address. */
  public HttpOptions at(String otherBind, int otherPort, Optional<String> token, boolean insecure) {
    Access other = new Access(token, insecure, access.origins);
    return new HttpOptions(otherBind, otherPort, other, connectionsMax, requestsMax, timeouts);
  }

  /** Returns the same options with other limits. */
  public HttpOptions within(
      int connections, Duration header, Duration body, Duration idle, Duration request) {
    Timeouts others = new Timeouts(header, body, idle, request, timeouts.drain);
    return new HttpOptions(bind, port, access, connections, requestsMax, others);
  }

  /**
   * Returns the same options for pages of these sites.
   *
   * @throws IllegalArgumentException if one is not like {@code https://blog.example} or {@code *}
   */
  public HttpOptions forPagesOf(Set<String> sites) {
    for (String site : sites) {
      if (!site.equals("*") && !site.matches("https?://[A-Za-z0-9.:\\[\\]-]+")) {
        throw new IllegalArgumentException(
            "the origin is '%s'; it must be like https://blog.example, or *".formatted(site));
      }
    }
    Access other = new Access(access.token, access.insecure, Set.copyOf(sites));
    return new HttpOptions(bind, port, other, connectionsMax, requestsMax, timeouts);
  }

  /** Returns the same options for this many requests in progress at once. */
  public HttpOptions withRequestsMax(int requests) {
    return new HttpOptions(bind, port, access, connectionsMax, requests, timeouts);
  }

  /** Returns one request for each {@link #HEAP_BYTES_PER_REQUEST} of the largest heap. */
  private static int requestsOfHeap() {
    long requests = Runtime.getRuntime().maxMemory() / HEAP_BYTES_PER_REQUEST;
    return Math.clamp(requests, 64, REQUESTS_MAX);
  }

  private static boolean isLoopback(String bind) {
    try {
      return InetAddress.getByName(bind).isLoopbackAddress();
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("no such address: " + bind, e);
    }
  }
}
