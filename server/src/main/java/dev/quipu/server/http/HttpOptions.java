package dev.quipu.server.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Options of the HTTP port.
 *
 * @param bind address to listen on
 * @param port port to listen on; 0 picks one
 * @param connectionsMax maximum number of open connections; further ones replace idle ones
 * @param requestsMax maximum number of requests in progress; further ones fail with 503
 */
public record HttpOptions(
    String bind, int port, Access access, int connectionsMax, int requestsMax, Timeouts timeouts) {
  /**
   * Access control of the port.
   *
   * @param token the required bearer token; empty to require none
   * @param insecure whether other machines may connect without a token
   * @param origins sites whose pages may send views and embed hit badges without a token; {@code *}
   *     for all
   * @param readToken a token that may only read; empty for none
   * @param shown prefixes of counters that badges show without a token
   */
  public record Access(
      Optional<String> token,
      boolean insecure,
      Set<String> origins,
      Optional<String> readToken,
      Set<String> shown) {
    /** Returns whether a badge may show a counter. */
    boolean shows(String counter) {
      return token.isEmpty() || shown.stream().anyMatch(counter::startsWith);
    }
  }

  /**
   * Timeouts of a connection.
   *
   * @param header from the first byte of a request to the end of its header
   * @param body from the end of the header to the end of the body
   * @param idle between two requests
   * @param request from the end of the body to the reply; the outcome of a later write is unknown
   * @param drain for requests in progress when the server stops
   */
  public record Timeouts(
      Duration header, Duration body, Duration idle, Duration request, Duration drain) {
    /** Returns the shortest timeout of a connection. */
    Duration shortest() {
      return Stream.of(header, body, idle, request).min(Comparator.naturalOrder()).orElseThrow();
    }
  }

  /** The default port. */
  public static final int PORT = 7080;

  private static final long HEAP_BYTES_PER_REQUEST = 256 << 10;
  private static final int REQUESTS_MAX = 4_096;

  /**
   * Creates options.
   *
   * @throws IllegalArgumentException if other machines could connect without a token, and {@code
   *     insecure} is not set
   */
  public HttpOptions {
    if (!access.insecure && access.token.isEmpty() && !isLoopback(bind)) {
      throw new IllegalArgumentException(
          "%s is reachable from other machines; use --token-file, or allow it with --insecure"
              .formatted(bind));
    }
  }

  /** Returns the defaults: loopback, port {@link #PORT}, no token, 20,000 connections. */
  public static HttpOptions defaults() {
    Timeouts timeouts =
        new Timeouts(
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            Duration.ofSeconds(15),
            Duration.ofSeconds(10));
    Access access = new Access(Optional.empty(), false, Set.of(), Optional.empty(), Set.of());
    return new HttpOptions("127.0.0.1", PORT, access, 20_000, requestsOfHeap(), timeouts);
  }

  /** Returns the same options with another address. */
  public HttpOptions at(String otherBind, int otherPort, Optional<String> token, boolean insecure) {
    Access other = new Access(token, insecure, access.origins, access.readToken, access.shown);
    return new HttpOptions(otherBind, otherPort, other, connectionsMax, requestsMax, timeouts);
  }

  /** Returns the same options with other limits. */
  public HttpOptions within(
      int connections, Duration header, Duration body, Duration idle, Duration request) {
    Timeouts others = new Timeouts(header, body, idle, request, timeouts.drain);
    return new HttpOptions(bind, port, access, connections, requestsMax, others);
  }

  /**
   * Returns the same options with these allowed origins.
   *
   * @throws IllegalArgumentException if one is not like {@code https://blog.example} or {@code *}
   */
  public HttpOptions forPagesOf(Set<String> sites) {
    for (String site : sites) {
      if (!site.equals("*") && !site.matches("https?://[A-Za-z0-9.:\\[\\]-]+")) {
        throw new IllegalArgumentException(
            "--allow-origin is '%s'; it must be like https://blog.example, or *".formatted(site));
      }
    }
    Access other =
        new Access(
            access.token, access.insecure, Set.copyOf(sites), access.readToken, access.shown);
    return new HttpOptions(bind, port, other, connectionsMax, requestsMax, timeouts);
  }

  /** Returns the same options, whose badges show counters with these prefixes without a token. */
  public HttpOptions showing(Set<String> prefixes) {
    Access other =
        new Access(
            access.token, access.insecure, access.origins, access.readToken, Set.copyOf(prefixes));
    return new HttpOptions(bind, port, other, connectionsMax, requestsMax, timeouts);
  }

  /**
   * Returns the same options with a token that may only read.
   *
   * @throws IllegalArgumentException if nothing else requires a token, or it is the same
   */
  public HttpOptions readableWith(Optional<String> readToken) {
    if (readToken.isPresent() && (access.token.isEmpty() || access.token.equals(readToken))) {
      throw new IllegalArgumentException(
          "--read-token-file needs --token-file, with another token: without one, nothing requires"
              + " a token");
    }
    Access other =
        new Access(access.token, access.insecure, access.origins, readToken, access.shown);
    return new HttpOptions(bind, port, other, connectionsMax, requestsMax, timeouts);
  }

  /** Returns the same options with this many requests in progress. */
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
