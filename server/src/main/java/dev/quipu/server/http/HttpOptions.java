package dev.quipu.server.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How the HTTP front works.
 *
 * @param bind address to listen on
 * @param port port to listen on; 0 picks one
 * @param token what clients must show as a bearer token; empty to let everybody in
 * @param insecure whether everybody may be let in from other machines
 * @param connectionsMax connections at once; more take the place of idle ones
 * @param requestsMax requests in progress at once; more are answered 503
 * @param headerTimeout longest time from the first byte of a request to the last of its head
 * @param bodyTimeout longest time from there to the last byte of its body
 * @param idleTimeout longest time between two requests
 * @param requestDeadline longest time to an answer; a write that takes longer is answered "unknown"
 * @param origins sites whose pages may send views and show hit badges, without a token; {@code *}
 *     for all
 * @param drain longest wait for requests under way when the server stops
 */
public record HttpOptions(
    String bind,
    int port,
    Optional<String> token,
    boolean insecure,
    int connectionsMax,
    int requestsMax,
    Duration headerTimeout,
    Duration bodyTimeout,
    Duration idleTimeout,
    Duration requestDeadline,
    Set<String> origins,
    Duration drain) {
  /** Where the server listens unless told otherwise. */
  public static final int PORT = 7080;

  private static final long HEAP_BYTES_PER_REQUEST = 256 << 10;
  private static final int REQUESTS_MAX = 4_096;

  /**
   * Refuses to let other machines in without a token.
   *
   * @throws IllegalArgumentException if so
   */
  public HttpOptions {
    if (!insecure && token.isEmpty() && !isLoopback(bind)) {
      throw new IllegalArgumentException(
          "%s can be reached from other machines: give a token, or allow it by name with --insecure"
              .formatted(bind));
    }
  }

  /** Loopback only, port {@link #PORT}, no token, 20,000 connections. */
  public static HttpOptions defaults() {
    return new HttpOptions(
        "127.0.0.1",
        PORT,
        Optional.empty(),
        false,
        20_000,
        requestsOfHeap(),
        Duration.ofSeconds(10),
        Duration.ofSeconds(30),
        Duration.ofSeconds(60),
        Duration.ofSeconds(15),
        Set.of(),
        Duration.ofSeconds(10));
  }

  /** The same at another address. */
  public HttpOptions at(
      String otherBind, int otherPort, Optional<String> otherToken, boolean open) {
    return new HttpOptions(
        otherBind,
        otherPort,
        otherToken,
        open,
        connectionsMax,
        requestsMax,
        headerTimeout,
        bodyTimeout,
        idleTimeout,
        requestDeadline,
        origins,
        drain);
  }

  /** The same with other limits. */
  public HttpOptions within(
      int connections, Duration header, Duration body, Duration idle, Duration request) {
    return new HttpOptions(
        bind,
        port,
        token,
        insecure,
        connections,
        requestsMax,
        header,
        body,
        idle,
        request,
        origins,
        drain);
  }

  /**
   * The same for pages of these sites.
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
    return new HttpOptions(
        bind,
        port,
        token,
        insecure,
        connectionsMax,
        requestsMax,
        headerTimeout,
        bodyTimeout,
        idleTimeout,
        requestDeadline,
        Set.copyOf(sites),
        drain);
  }

  /** The same for this many requests in progress at once. */
  public HttpOptions withRequestsMax(int requests) {
    return new HttpOptions(
        bind,
        port,
        token,
        insecure,
        connectionsMax,
        requests,
        headerTimeout,
        bodyTimeout,
        idleTimeout,
        requestDeadline,
        origins,
        drain);
  }

  /** Returns the shortest of all times that a connection may wait. */
  Duration shortestTimeout() {
    return Stream.of(headerTimeout, bodyTimeout, idleTimeout, requestDeadline)
        .min(Comparator.naturalOrder())
        .orElseThrow();
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
