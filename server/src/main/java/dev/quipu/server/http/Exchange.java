package dev.quipu.server.http;

import dev.quipu.RequestId;
import dev.quipu.server.net.MemoryBudget;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** One request, and what its route reads of it. */
final class Exchange {
  private static final String IDEMPOTENCY_KEY = "Idempotency-Key";

  private final HttpMethod method;
  private final HttpHeaders headers;
  private final String variable;
  private final Map<String, String> query;
  private final ByteBuffer body;
  private final Reservation reservation;
  private final MemoryBudget budget;
  private final BooleanSupplier mayBegin;

  Exchange(
      HttpMethod method,
      HttpHeaders headers,
      String variable,
      Map<String, String> query,
      ByteBuffer body,
      Reservation reservation,
      MemoryBudget budget,
      BooleanSupplier mayBegin) {
    this.method = method;
    this.headers = headers;
    this.variable = variable;
    this.query = query;
    this.body = body;
    this.reservation = reservation;
    this.budget = budget;
    this.mayBegin = mayBegin;
  }

  /** Whether there is time for another part of a request that does many things in turn. */
  boolean mayBegin() {
    return mayBegin.getAsBoolean();
  }

  HttpMethod method() {
    return method;
  }

  /** What stands in the place of the variable of the route's path; empty if it has none. */
  String variable() {
    return variable;
  }

  HttpHeaders headers() {
    return headers;
  }

  /** The id of the request, if any: a quoted string as the standard has it, or the bare text. */
  Optional<RequestId> idempotencyKey() {
    List<String> found = headers.getAll(IDEMPOTENCY_KEY);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    if (found.size() > 1) {
      throw Problem.badRequest("header " + IDEMPOTENCY_KEY + " is there twice");
    }
    try {
      return Optional.of(RequestId.of(unquoted(HeaderText.utf8(found.getFirst()))));
    } catch (IllegalArgumentException e) {
      throw Problem.badRequest("header " + IDEMPOTENCY_KEY + ": " + e.getMessage());
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
          "a quote is not where a quoted string begins or ends; write \"text\", and a quote in it"
              + " as \\\"");
    }
    return content.toString();
  }

  /** A query parameter. */
  Optional<String> parameter(String name) {
    return Optional.ofNullable(query.get(name));
  }

  /** A query parameter that must be there. */
  String requiredParameter(String name) {
    return parameter(name)
        .orElseThrow(() -> Problem.badRequest("query parameter " + name + " is missing"));
  }

  /** Refuses query parameters that the route does not know. */
  void allowParameters(Set<String> known) {
    for (String name : query.keySet()) {
      if (!known.contains(name)) {
        throw Problem.badRequest("query parameter " + name + " is not known");
      }
    }
  }

  /** The body as a JSON object with no other fields than these. */
  JsonBody json(Set<String> fields) {
    requireType("application/json");
    return JsonBody.parse("body", text(body), fields);
  }

  /**
   * Reserves the memory that the request needs besides its body. It is returned when the answer was
   * written.
   *
   * @throws Problem 507 if all clients together hold too much
   */
  void reserve(long bytes) {
    if (!reservation.tryGrowTo(body.limit() + bytes)) {
      throw Problem.insufficientMemory(bytes, budget);
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
    String found = headers.get("Content-Type", "");
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

  private static String text(ByteBuffer bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes.duplicate()).toString();
    } catch (CharacterCodingException e) {
      throw Problem.badRequest("the body is not valid UTF-8");
    }
  }
}
