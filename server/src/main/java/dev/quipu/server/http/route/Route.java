package dev.quipu.server.http.route;

import dev.quipu.Add;
import dev.quipu.ItemResult;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import io.netty.handler.codec.http.HttpMethod;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One row of the table of routes.
 *
 * @param path as documented; has at most one variable, in braces, which may match slashes
 * @param bodyBytesMax longest body, in bytes
 * @param writes whether it may change something, so that the outcome is unknown after a timeout
 * @param open whether it needs no token
 * @param forPages whether pages of the allowed origins may use it
 * @param grouped how it joins a group of adds; empty if it does not
 */
public record Route(
    HttpMethod method,
    String path,
    int bodyBytesMax,
    boolean writes,
    boolean open,
    boolean forPages,
    Handler handler,
    Optional<Grouped> grouped) {
  /** Handles a request. */
  public interface Handler {
    HttpReply handle(Exchange exchange);
  }

  /** Handles a request that makes one add, in two halves, neither of which may block. */
  public interface Grouped {
    /** Returns what to add; empty if the request has to be handled as a whole. */
    Optional<Part> part(Exchange exchange);
  }

  /**
   * A part of a group of adds.
   *
   * @param reply returns the reply to a result; may throw the problem of a failed add
   */
  public record Part(Add add, Function<ItemResult, HttpReply> reply) {}

  private Route(
      HttpMethod method,
      String path,
      int bodyBytesMax,
      boolean writes,
      boolean open,
      boolean forPages,
      Handler handler) {
    this(method, path, bodyBytesMax, writes, open, forPages, handler, Optional.empty());
  }

  static Route get(String path, Handler handler) {
    return new Route(HttpMethod.GET, path, 0, false, false, false, handler);
  }

  static Route open(String path, Handler handler) {
    return new Route(HttpMethod.GET, path, 0, false, true, false, handler);
  }

  static Route post(String path, int bodyBytesMax, Handler handler) {
    return new Route(HttpMethod.POST, path, bodyBytesMax, true, false, false, handler);
  }

  /** Returns a POST route that only reads, since its parameters do not fit into a URI. */
  static Route query(String path, int bodyBytesMax, Handler handler) {
    return new Route(HttpMethod.POST, path, bodyBytesMax, false, false, false, handler);
  }

  static Route put(String path, int bodyBytesMax, Handler handler) {
    return new Route(HttpMethod.PUT, path, bodyBytesMax, true, false, false, handler);
  }

  static Route delete(String path, Handler handler) {
    return new Route(HttpMethod.DELETE, path, 0, true, false, false, handler);
  }

  /** Returns whether a token that only reads is enough: a badge of hits counts one. */
  public boolean isForReaders() {
    return !writes && !path.equals(HitRoutes.BADGE);
  }

  /** Returns whether it returns a representation of what its path names. */
  public boolean isRead() {
    return method.equals(HttpMethod.GET);
  }

  /** Returns the same route, open to pages of the allowed origins. */
  Route andForPages() {
    return new Route(method, path, bodyBytesMax, writes, open, true, handler, grouped);
  }

  /** Returns the same route, which joins a group of adds. */
  Route in(Grouped group) {
    return new Route(
        method, path, bodyBytesMax, writes, open, forPages, handler, Optional.of(group));
  }

  /** Returns the value of the variable; null if the path does not match. */
  public @Nullable String match(String rawPath) {
    int before = path.indexOf('{');
    if (before < 0) {
      return rawPath.equals(path) ? "" : null;
    }
    int after = path.length() - path.indexOf('}') - 1;
    int end = rawPath.length() - after;
    boolean fits =
        end > before
            && rawPath.regionMatches(0, path, 0, before)
            && rawPath.regionMatches(end, path, path.length() - after, after);
    return fits ? rawPath.substring(before, end) : null;
  }
}
