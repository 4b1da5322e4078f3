package dev.quipu.server.http.message;

import dev.quipu.RequestId;
import dev.quipu.time.Clock;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.AsciiString;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A request as its route reads it.
 *
 * @param variable the value of the variable in the route's path; empty if the path has none
 * @param timeLeft the time of the request
 * @param isReader whether its token may only read
 */
public record Exchange(
    HttpRequest request,
    String variable,
    Map<String, String> query,
    ByteBuffer body,
    Reservation reservation,
    TimeLeft timeLeft,
    boolean isReader) {
  private static final AsciiString IDEMPOTENCY_KEY = AsciiString.cached("Idempotency-Key");
  private static final AsciiString AMOUNTS = AsciiString.cached("Quipu-Amounts");
  private static final List<AsciiString> PRECONDITIONS =
      List.of(
          AsciiString.cached("If-Match"),
          AsciiString.cached("If-None-Match"),
          AsciiString.cached("If-Unmodified-Since"));

  /** The time of a request that has many parts: at its deadline nothing more is sent. */
  public record TimeLeft(Clock clock, long startNanos, Duration deadline) {
    private boolean isWithin(int fifteenths) {
      return clock.nanoTime() - startNanos < deadline.toNanos() * fifteenths / 15;
    }
  }

  /** Returns whether there is time for another part of a request that has many. */
  public boolean mayBegin() {
    return timeLeft.isWithin(10);
  }

  /** Returns whether there is time to wait for the parts that have begun. */
  public boolean mayWait() {
    return timeLeft.isWithin(14);
  }

  public HttpMethod method() {
    return request.method();
  }

  HttpHeaders headers() {
    return request.headers();
  }

  /** Returns whether the client accepts a response with the coding gzip. */
  public boolean acceptsGzip() {
    return AcceptEncoding.hasGzip(headers());
  }

  /** Returns the id of the last event that a client of a stream has; empty for none. */
  public String lastEventId() {
    return headers().get("Last-Event-ID", "");
  }

  /** Returns the request id, if any: a quoted string as in RFC 8941, or bare text. */
  public Optional<RequestId> idempotencyKey() {
    List<String> found = headers().getAll(IDEMPOTENCY_KEY);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    if (found.size() > 1) {
      throw Problem.badRequest("duplicate header " + IDEMPOTENCY_KEY);
    }
    try {
      return Optional.of(RequestId.of(unquoted(HeaderText.utf8(found.getFirst()))));
    } catch (IllegalArgumentException e) {
      throw Problem.badRequest("header " + IDEMPOTENCY_KEY + ": " + e.getMessage());
    }
  }

  /**
   * Returns the request id.
   *
   * @throws Problem if there is none
   */
  public RequestId requiredIdempotencyKey() {
    return idempotencyKey()
        .orElseThrow(() ->
            Problem.badRequest(
                "header %s is missing; send an id of this request, and the same one to repeat it"
                    .formatted(IDEMPOTENCY_KEY)));
  }

  /**
   * Throws if there is a request id, on a route that would not look it up on a repeat.
   *
   * @param remedy what to do instead, for the message
   */
  public void requireNoIdempotencyKey(String remedy) {
    if (headers().contains(IDEMPOTENCY_KEY)) {
      throw Problem.badRequest(
          "header %s is not supported by %s here; %s".formatted(IDEMPOTENCY_KEY, method(), remedy));
    }
  }

  /** Throws if there is a precondition: a counter has no entity tag or time to compare it with. */
  public void requireNoPreconditions() {
    for (AsciiString name : PRECONDITIONS) {
      if (headers().contains(name)) {
        throw Problem.badRequest(
            "header %s is not supported by writes; use ifValue of PUT /v1/counters/{name}"
                .formatted(name));
      }
    }
  }

  private static String unquoted(String text) {
    if (text.indexOf('"') < 0) {
      return text;
    }
    StringBuilder content = new StringBuilder();
    int last = text.length() - 1;
    int at = 1;
    while (at < last && text.charAt(at) != '"') {
      boolean escapes = text.charAt(at) == '\\' && "\"\\".indexOf(text.charAt(at + 1)) >= 0;
      at += escapes ? 1 : 0;
      content.append(text.charAt(at));
      at++;
    }
    if (text.charAt(0) != '"' || at != last || text.charAt(last) != '"') {
      throw new IllegalArgumentException(
          "malformed quoted string; send \"text\", with a quote in it as \\\"");
    }
    return content.toString();
  }

  /**
   * Returns whether amounts are integers in units of their counters, as the Java client sends those
   * of type long. Servers that do not know the header have no counters with a scale.
   *
   * @throws Problem if the header has another value
   */
  public boolean isInUnits() {
    String value = headers().get(AMOUNTS, "decimal");
    if (!value.equals("units") && !value.equals("decimal")) {
      throw Problem.badRequest(
          "header %s is '%s'; send decimal, units, or no such header".formatted(AMOUNTS, value));
    }
    return value.equals("units");
  }

  /** Returns a query parameter. */
  public Optional<String> parameter(String name) {
    return Optional.ofNullable(query.get(name));
  }

  /** Returns a required query parameter. */
  public String requiredParameter(String name) {
    return parameter(name)
        .orElseThrow(() -> Problem.badRequest("query parameter " + name + " is missing"));
  }

  /** Rejects unknown query parameters. */
  public void allowParameters(Set<String> known) {
    for (String name : query.keySet()) {
      if (!known.contains(name)) {
        throw Problem.badRequest(
            known.isEmpty()
                ? "unknown query parameter %s; this route has none".formatted(name)
                : "unknown query parameter %s; known parameters: %s"
                    .formatted(name, String.join(", ", new TreeSet<>(known))));
      }
    }
  }

  /** Parses the body as a JSON object with no other fields than these, and no query parameters. */
  public JsonBody json(Set<String> fields) {
    return json(fields, Set.of());
  }

  /** Parses the body in the same way, on a route that has query parameters as well. */
  public JsonBody json(Set<String> fields, Set<String> parameters) {
    allowParameters(parameters);
    requireType("application/json");
    return JsonBody.parse("body", body, fields);
  }

  /** Returns the length of the body, in bytes. */
  public int bodyBytes() {
    return body.limit();
  }

  /**
   * Reserves the memory that the request needs besides its body, until the reply has been written.
   *
   * @throws Problem 507 if all clients together hold too much
   */
  public void reserve(long bytes) {
    if (!reservation.tryGrowTo(body.limit() + bytes)) {
      throw Problem.insufficientMemory(bytes, reservation.budget());
    }
  }

  /**
   * Returns the lines of the body.
   *
   * @throws Problem if there are too many
   */
  Lines lines(int linesMax) {
    requireType("application/x-ndjson");
    return Lines.of(body, linesMax);
  }

  private void requireType(String expected) {
    String found = headers().get(HttpHeaderNames.CONTENT_TYPE, "");
    if (found.equals(expected)) {
      return; // the common case
    }
    String type = found.split(";", 2)[0].strip();
    boolean utf8 = !found.contains("charset") || found.toLowerCase(Locale.ROOT).contains("utf-8");
    if (!type.equalsIgnoreCase(expected) || !utf8) {
      throw new Problem(
          415,
          "media-type",
          "Unsupported Media Type",
          "Content-Type is '%s'; send %s, in UTF-8".formatted(found, expected));
    }
  }
}
