package dev.quipu.server.http;

import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.Failures;
import dev.quipu.server.http.message.HeaderText;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.http.route.Route;
import dev.quipu.server.http.route.Routes;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Authorizes requests, runs their routes, and maps failures to problems. Thread-safe. */
final class Dispatcher {
  private static final String BEARER = "Bearer ";
  private static final Pattern PORT = Pattern.compile(":[0-9]+$");
  private static final Pattern ADDRESS =
      Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-f:.]+]");
  private static final Pattern ABSOLUTE =
      Pattern.compile("https?://[^/?#]*", Pattern.CASE_INSENSITIVE);

  private final Routes routes;
  private final Optional<byte[]> token;
  private final Optional<byte[]> readToken;
  private final Set<String> origins;
  private final Failures failures;
  private volatile String lastHost = ""; // allowed; most requests have the same

  Dispatcher(Routes routes, HttpOptions.Access access, Failures failures) {
    this.routes = routes;
    this.failures = failures;
    this.origins = access.origins();
    this.token = access.token().map(text -> text.getBytes(StandardCharsets.UTF_8));
    this.readToken = access.readToken().map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Returns the route of a request, before its body is read.
   *
   * @throws Problem if there is no route, or access is denied
   */
  Route route(HttpRequest request) {
    String path = rawPath(request.uri());
    HttpMethod method = request.method();
    if (request.headers().contains(HttpHeaderNames.ORIGIN)
        && request.headers().getAll(HttpHeaderNames.ORIGIN).size() > 1) {
      throw Problem.badRequest("duplicate header Origin; send exactly one");
    }
    Optional<Route> found = routes.find(method, path);
    boolean forPages = found.isPresent() && found.get().forPages() && !origins.isEmpty();
    if (!forPages) {
      checkHost(request);
    }
    if (found.isEmpty()) {
      throw noRoute(method, path);
    }
    Route route = found.get();
    if (!route.open() && !forPages) {
      checkToken(request.headers(), route);
    }
    if (route.writes() && !(forPages && isAllowedOrigin(request.headers()))) {
      checkOrigin(request);
    }
    return route;
  }

  /** Returns the reply to OPTIONS; empty for an unknown path. */
  Optional<HttpReply> options(HttpRequest request) {
    String path = rawPath(request.uri());
    List<String> methods = routes.methods(path);
    if (methods.isEmpty()) {
      return Optional.empty();
    }
    String allowed = String.join(", ", methods);
    HttpReply reply = HttpReply.text(204, "text/plain", "").with("Allow", allowed);
    if (routes.isForPages(path) && isAllowedOrigin(request.headers())) {
      reply =
          open(reply, request.headers())
              .with("Access-Control-Allow-Methods", allowed)
              .with("Access-Control-Allow-Headers", "Content-Type")
              .with("Access-Control-Max-Age", "86400");
    }
    return Optional.of(reply);
  }

  /** Returns whether the request comes from a page of an allowed origin. */
  private boolean isAllowedOrigin(HttpHeaders headers) {
    String origin = headers.get(HttpHeaderNames.ORIGIN);
    return origin != null && (origins.contains("*") || origins.contains(origin));
  }

  private static HttpReply open(HttpReply reply, HttpHeaders headers) {
    String vary = reply.headers().get("Vary");
    return reply
        .with("Access-Control-Allow-Origin", headers.get(HttpHeaderNames.ORIGIN))
        .with("Access-Control-Expose-Headers", "Retry-After")
        .with("Vary", vary == null ? "Origin" : vary + ", Origin");
  }

  /**
   * Returns the reply with the headers without which a page of an allowed origin cannot read it.
   */
  HttpReply forPage(@Nullable Route route, HttpRequest request, HttpReply reply) {
    return route != null && route.forPages() && isAllowedOrigin(request.headers())
        ? open(reply, request.headers())
        : reply;
  }

  /**
   * Runs the route, which may block. Exceptions of the route become problems.
   *
   * @param timeLeft until the answer must be there
   */
  HttpReply reply(Route route, PendingRequest call, Exchange.TimeLeft timeLeft) {
    return guarded(
        route,
        () -> {
          HttpReply reply = route.handler().handle(exchange(route, call, timeLeft));
          return route.isRead() ? Representation.of(reply, call.request.headers()) : reply;
        });
  }

  /**
   * Returns what a request adds as a part of a group; empty if its route must run as a whole.
   *
   * @throws Problem if the request is invalid
   */
  Optional<Route.Part> part(Route route, PendingRequest call, Exchange.TimeLeft timeLeft) {
    return route.grouped().flatMap(group -> group.part(exchange(route, call, timeLeft)));
  }

  /** Returns a reply; exceptions become problems. */
  HttpReply guarded(Route route, Supplier<HttpReply> reply) {
    try {
      return reply.get();
    } catch (Throwable e) {
      return failed(route, e);
    }
  }

  /** Returns the reply for a failure of a route. */
  HttpReply failed(Route route, Throwable thrown) {
    Problem problem = failures.problem(thrown, route.path());
    return HttpReply.of(route.writes() ? problem.ofWrite() : problem.ofRead());
  }

  private Exchange exchange(Route route, PendingRequest call, Exchange.TimeLeft timeLeft) {
    String raw = String.valueOf(route.match(rawPath(call.request.uri())));
    Exchange exchange =
        new Exchange(
            call.request,
            decode("the path", raw),
            query(call.request.uri()),
            call.body.all(),
            call.reservation,
            timeLeft,
            isReader(call.request.headers()));
    if (route.writes()) {
      exchange.requireNoPreconditions();
    }
    return exchange;
  }

  private Problem noRoute(HttpMethod method, String path) {
    if (path.contains("//")) {
      return Problem.badRequest("the path has an empty name, between '//'; a name is required");
    }
    List<String> methods = routes.methods(path);
    if (methods.isEmpty()) {
      return Problem.notFound("no such route; /openapi.json lists them");
    }
    List<String> actions =
        method.equals(HttpMethod.POST) ? routes.actions(path) : List.<String>of();
    if (!actions.isEmpty()) {
      return Problem.notFound(
          "no such action: %s; use %s"
              .formatted(path.substring(path.lastIndexOf('/') + 1), String.join(", ", actions)));
    }
    String allowed = String.join(", ", methods);
    return new Problem(
            405,
            "method",
            "Method Not Allowed",
            "%s is not allowed; use %s".formatted(method, allowed))
        .with("allow", allowed);
  }

  /** Prevents DNS rebinding: pages of other sites, under names that resolve to loopback. */
  private void checkHost(HttpRequest request) {
    List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
    if (hosts.size() != 1) {
      throw Problem.badRequest(
          "request has %d Host headers; it must have exactly one".formatted(hosts.size()));
    }
    String sent = token.isEmpty() ? host(request) : "";
    if (token.isEmpty() && !sent.equals(lastHost)) {
      String host = PORT.matcher(sent.toLowerCase(Locale.ROOT)).replaceFirst("");
      if (!isAddress(host) && !host.equals("localhost")) {
        throw forbidden(
            "Host %s is not allowed without a token; use localhost or an address, or --token-file"
                .formatted(sent));
      }
      lastHost = sent;
    }
  }

  private static boolean isAddress(String host) {
    return ADDRESS.matcher(host).matches();
  }

  /** Prevents cross-site writes by a browser. */
  private static void checkOrigin(HttpRequest request) {
    String origin = request.headers().get(HttpHeaderNames.ORIGIN);
    String host = host(request);
    if (origin != null
        && !origin.equalsIgnoreCase("http://" + host)
        && !origin.equalsIgnoreCase("https://" + host)) {
      throw forbidden("Origin %s is not allowed (--allow-origin)".formatted(origin));
    }
  }

  private static Problem forbidden(String detail) {
    return new Problem(403, "forbidden", "Forbidden", detail);
  }

  private void checkToken(HttpHeaders headers, Route route) {
    if (token.isEmpty()) {
      return;
    }
    boolean isForReading = isReader(headers);
    if (isForReading && !route.isForReaders()) {
      throw forbidden("this token only reads; writing requires that of the server's --token-file");
    }
    if (!isForReading && !MessageDigest.isEqual(bearer(headers), token.get())) {
      throw new Problem(
          401,
          "unauthorized",
          "Authentication required",
          headers.get(HttpHeaderNames.AUTHORIZATION, "").startsWith(BEARER)
              ? "the server does not accept this token; send that of its --token-file"
              : "send the header Authorization: Bearer <token>");
    }
  }

  /** Returns whether the token of a request may only read. */
  private boolean isReader(HttpHeaders headers) {
    return readToken.isPresent() && MessageDigest.isEqual(bearer(headers), readToken.get());
  }

  private static byte[] bearer(HttpHeaders headers) {
    String sent = headers.get(HttpHeaderNames.AUTHORIZATION, "");
    return HeaderText.bytes(sent.startsWith(BEARER) ? sent.substring(BEARER.length()) : "");
  }

  private static String rawPath(String uri) {
    int start = authorityEnd(uri);
    int query = uri.indexOf('?', start);
    String path = uri.substring(start, query < 0 ? uri.length() : query);
    if (start > 0 && path.isEmpty()) {
      return "/";
    }
    if (!path.startsWith("/")) {
      throw Problem.badRequest("the request target must start with /, http:// or https://");
    }
    return path;
  }

  /** Returns the host of an absolute target, which precedes that of the header (RFC 9112). */
  private static String host(HttpRequest request) {
    String uri = request.uri();
    int end = authorityEnd(uri);
    return end == 0
        ? request.headers().get(HttpHeaderNames.HOST, "")
        : uri.substring(uri.indexOf("//") + 2, end);
  }

  /** Returns the end of scheme and authority of an absolute target; 0 if it is only a path. */
  private static int authorityEnd(String uri) {
    if (uri.startsWith("/")) {
      return 0; // the common case
    }
    Matcher absolute = ABSOLUTE.matcher(uri);
    return absolute.lookingAt() ? absolute.end() : 0;
  }

  private static Map<String, String> query(String uri) {
    int start = uri.indexOf('?');
    if (start < 0 || start == uri.length() - 1) {
      return Map.of();
    }
    Map<String, String> parameters = new HashMap<>();
    for (String part : uri.substring(start + 1).split("&", -1)) {
      int equals = part.indexOf('=');
      String name = decode("the query", equals < 0 ? part : part.substring(0, equals));
      String value =
          equals < 0 ? "" : decode("the query", part.substring(equals + 1).replace("+", "%20"));
      if (parameters.put(name, value) != null) {
        throw Problem.badRequest("duplicate query parameter " + name);
      }
    }
    return parameters;
  }

  /** Returns whether a text is its own decoding. */
  private static boolean isPlain(String raw) {
    for (int i = 0; i < raw.length(); i++) {
      if (raw.charAt(i) == '%' || raw.charAt(i) >= 0x80) {
        return false;
      }
    }
    return true;
  }

  /** Percent-decodes a text, and rejects malformed escapes. */
  private static String decode(String where, String raw) {
    if (isPlain(raw)) {
      return raw;
    }
    byte[] bytes = raw.getBytes(StandardCharsets.ISO_8859_1); // as Netty decoded them
    ByteBuffer decoded = ByteBuffer.allocate(bytes.length);
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] != '%') {
        decoded.put(bytes[i]);
        continue;
      }
      int high = i + 2 <= bytes.length - 1 ? Character.digit(bytes[i + 1], 16) : -1;
      int low = i + 2 <= bytes.length - 1 ? Character.digit(bytes[i + 2], 16) : -1;
      if (high < 0 || low < 0) {
        throw Problem.badRequest(where + " has a % without two hexadecimal digits");
      }
      decoded.put((byte) (high << 4 | low));
      i += 2;
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(decoded.flip()).toString();
    } catch (CharacterCodingException e) {
      throw Problem.badRequest(where + " is not valid UTF-8");
    }
  }
}
