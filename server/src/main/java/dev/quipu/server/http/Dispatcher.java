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
import java.util.regex.Pattern;

/** From a request to its answer: who may ask, which route, what went wrong. Thread-safe. */
final class Dispatcher {
  private static final Pattern PORT = Pattern.compile(":[0-9]+$");
  private static final Pattern ADDRESS =
      Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-f:.]+]");

  private final Routes routes;
  private final Optional<byte[]> token;
  private final Set<String> origins;
  private final Failures failures;

  Dispatcher(Routes routes, HttpOptions.Access access, Failures failures) {
    this.routes = routes;
    this.failures = failures;
    this.origins = access.origins();
    this.token = access.token().map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * The route of a request, before its body is read.
   *
   * @throws Problem if there is none, or the caller may not use it
   */
  Route route(HttpRequest request) {
    String path = rawPath(request.uri());
    HttpMethod method = request.method();
    Optional<Route> found = routes.find(method, path);
    boolean forPages = found.isPresent() && found.get().forPages() && !origins.isEmpty();
    if (!forPages) {
      checkHost(request.headers());
    }
    if (found.isEmpty()) {
      throw noRoute(method, path);
    }
    Route route = found.get();
    if (!route.open() && !forPages) {
      checkToken(request.headers());
    }
    if (route.writes() && !(forPages && isAllowedOrigin(request.headers()))) {
      checkOrigin(request.headers());
    }
    return route;
  }

  /** The answer to OPTIONS; empty if the path is not known. */
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

  /** Whether the request comes from a page that the server was told of. */
  private boolean isAllowedOrigin(HttpHeaders headers) {
    String origin = headers.get(HttpHeaderNames.ORIGIN);
    return origin != null && (origins.contains("*") || origins.contains(origin));
  }

  private static HttpReply open(HttpReply reply, HttpHeaders headers) {
    return reply
        .with("Access-Control-Allow-Origin", headers.get(HttpHeaderNames.ORIGIN))
        .with("Vary", "Origin");
  }

  /**
   * Runs the route, which may block. Throws only what making the answer throws.
   *
   * @param timeLeft until the answer must be there
   */
  HttpReply reply(Route route, PendingRequest call, Exchange.TimeLeft timeLeft) {
    HttpRequest request = call.request;
    HttpReply reply = run(route, call, timeLeft);
    return route.forPages() && isAllowedOrigin(request.headers())
        ? open(reply, request.headers())
        : reply;
  }

  private HttpReply run(Route route, PendingRequest call, Exchange.TimeLeft timeLeft) {
    HttpRequest request = call.request;
    try {
      String raw = String.valueOf(route.match(rawPath(request.uri())));
      Exchange exchange =
          new Exchange(
              request,
              decode("the path", raw),
              query(request.uri()),
              call.body.all(),
              call.reservation,
              timeLeft);
      return route.handler().handle(exchange);
    } catch (Throwable e) {
      Problem problem = failures.problem(e, route.path());
      return HttpReply.of(route.writes() ? problem.ofWrite() : problem.ofRead());
    }
  }

  private Problem noRoute(HttpMethod method, String path) {
    List<String> methods = routes.methods(path);
    if (methods.isEmpty()) {
      return Problem.notFound("no such route; /openapi.json lists them");
    }
    return new Problem(
            405, "method", "The route does not know this method", method + " is not possible here")
        .with("allow", String.join(", ", methods));
  }

  /** A page of another site may not reach this server under a name that resolves to loopback. */
  private void checkHost(HttpHeaders headers) {
    List<String> hosts = headers.getAll(HttpHeaderNames.HOST);
    if (hosts.size() != 1) {
      throw Problem.badRequest("there must be one Host header");
    }
    if (token.isEmpty()) {
      String host = PORT.matcher(hosts.getFirst().toLowerCase(Locale.ROOT)).replaceFirst("");
      if (!isAddress(host) && !host.equals("localhost")) {
        throw forbidden(
            "Host "
                + hosts.getFirst()
                + " is not this server; without a token, only "
                + "localhost and addresses are");
      }
    }
  }

  private static boolean isAddress(String host) {
    return ADDRESS.matcher(host).matches();
  }

  /** A page of another site may not make a browser post here. */
  private static void checkOrigin(HttpHeaders headers) {
    String origin = headers.get(HttpHeaderNames.ORIGIN);
    String host = headers.get(HttpHeaderNames.HOST, "");
    if (origin != null
        && !origin.equalsIgnoreCase("http://" + host)
        && !origin.equalsIgnoreCase("https://" + host)) {
      throw forbidden("Origin " + origin + " is not this server");
    }
  }

  private static Problem forbidden(String detail) {
    return new Problem(403, "forbidden", "Forbidden", detail);
  }

  private void checkToken(HttpHeaders headers) {
    if (token.isEmpty()) {
      return;
    }
    String shown = headers.get(HttpHeaderNames.AUTHORIZATION, "");
    String prefix = "Bearer ";
    byte[] given =
        HeaderText.bytes(shown.startsWith(prefix) ? shown.substring(prefix.length()) : "");
    if (!MessageDigest.isEqual(given, token.get())) {
      throw new Problem(401, "unauthorized", "A token is needed", "show it as a bearer token");
    }
  }

  private static String rawPath(String uri) {
    if (!uri.startsWith("/")) {
      throw Problem.badRequest("the target of the request must start with /");
    }
    int query = uri.indexOf('?');
    return query < 0 ? uri : uri.substring(0, query);
  }

  private static Map<String, String> query(String uri) {
    Map<String, String> parameters = new HashMap<>();
    int start = uri.indexOf('?');
    if (start < 0 || start == uri.length() - 1) {
      return parameters;
    }
    for (String part : uri.substring(start + 1).split("&", -1)) {
      int equals = part.indexOf('=');
      String name = decode("the query", equals < 0 ? part : part.substring(0, equals));
      String value =
          equals < 0 ? "" : decode("the query", part.substring(equals + 1).replace("+", "%20"));
      if (parameters.put(name, value) != null) {
        throw Problem.badRequest("query parameter " + name + " is there twice");
      }
    }
    return parameters;
  }

  /** Percent-decodes, strictly. */
  private static String decode(String where, String raw) {
    byte[] bytes = raw.getBytes(StandardCharsets.ISO_8859_1); // as Netty read them
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
