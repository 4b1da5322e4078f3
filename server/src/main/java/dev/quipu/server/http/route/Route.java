package dev.quipu.server.http.route;

import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import io.netty.handler.codec.http.HttpMethod;
import org.jspecify.annotations.Nullable;

/**
 * One row of the table of routes.
 *
 * @param path as in the documentation; at most one variable in braces, which may stand for text
 *     with slashes
 * @param bodyBytesMax longest body, in bytes
 * @param writes whether it may change something, so that a late answer is an unknown one
 * @param open whether it is served without a token
 * @param forPages whether pages of other sites may use it, if the server has been told which
 */
public record Route(
    HttpMethod method,
    String path,
    int bodyBytesMax,
    boolean writes,
    boolean open,
    boolean forPages,
    Handler handler) {
  /** Answers a request. */
  public interface Handler {
    HttpReply handle(Exchange exchange);
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

  /** The same route for pages of other sites too. */
  Route andForPages() {
    return new Route(method, path, bodyBytesMax, writes, open, true, handler);
  }

  /** What stands in the place of the variable; null if the path is not this route's. */
  public @Nullable String match(String rawPath) {
    int brace = path.indexOf('{');
    if (brace < 0) {
      return rawPath.equals(path) ? "" : null;
    }
    String before = path.substring(0, brace);
    String after = path.substring(path.indexOf('}') + 1);
    boolean fits =
        rawPath.length() > before.length() + after.length()
            && rawPath.startsWith(before)
            && rawPath.endsWith(after);
    return fits ? rawPath.substring(before.length(), rawPath.length() - after.length()) : null;
  }
}
