package dev.quipu.client;

import dev.quipu.AddResult;
import dev.quipu.Decimal;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * A response to a request.
 *
 * @param writes whether the request may have changed something
 */
@SuppressWarnings("ArrayRecordComponent") // not compared, and copies would cost time
public record Reply(int status, byte[] body, boolean writes) {
  /** Returns the body as JSON; throws the failure that it reports if the status is not 200. */
  public JsonNode ok() {
    return require(200).parse(text());
  }

  /** Returns the body as JSON, whatever the status is. */
  public JsonNode parsed() {
    return parse(text());
  }

  /** Returns the result of an add; throws the failure that it reports if there is none. */
  public AddResult addResult() {
    return AddLines.result(status, status == 200 ? ok() : problem());
  }

  /** Returns this reply; throws the failure that it reports if it has another status. */
  public Reply require(int wanted) {
    if (status != wanted) {
      throw failure();
    }
    return this;
  }

  /** Returns the lines, one for each that was sent. */
  public List<JsonNode> lines(int sent) {
    List<JsonNode> lines = require(200).text().lines().map(this::parse).toList();
    if (lines.size() != sent) {
      throw malformed("%d lines in the response to %d".formatted(lines.size(), sent), null);
    }
    return lines;
  }

  /** Returns the problem; without members if the response is not from a Quipu server. */
  public JsonNode problem() {
    try {
      return Request.MAPPER.readTree(body);
    } catch (JacksonException notOurs) {
      return MissingNode.getInstance();
    }
  }

  /** Returns the failure that a response with another status than 200 reports. */
  RuntimeException failure() {
    return failure(status, problem(), writes);
  }

  /** Returns whether it reports what became of the request, and not that it failed. */
  boolean isResult() {
    return status < 400 || status == 404 || status == 409 || status == 422;
  }

  private String text() {
    return new String(body, StandardCharsets.UTF_8);
  }

  private JsonNode parse(String text) {
    try {
      return Request.MAPPER.readTree(text);
    } catch (JacksonException e) {
      throw malformed("the response is not JSON", e);
    }
  }

  QuipuException malformed(String message, @Nullable Throwable cause) {
    Outcome outcome = writes ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
    return QuipuException.of(outcome, Reason.UNAVAILABLE, message, cause);
  }

  /** Maps a problem to the exception that the call throws. */
  public static RuntimeException failure(int status, JsonNode problem, boolean writes) {
    String detail = problem.path("detail").asString("the server responded with status " + status);
    String type = problem.path("type").asString("");
    if (type.equals("/problems/unsupported")) {
      return new UnsupportedOperationException(detail);
    }
    if (status == 400 || status == 413) {
      return new IllegalArgumentException(detail);
    }
    Reason reason =
        switch (status) {
          case 401, 403 -> Reason.DENIED;
          case 409 -> type.equals("/problems/holds-open") ? Reason.HELD : Reason.UNAVAILABLE;
          case 507 -> type.equals("/problems/memory-full") ? Reason.THROTTLED : Reason.FULL;
          case 429 -> Reason.THROTTLED;
          case 500 -> type.equals("/problems/store-damaged") ? Reason.CORRUPT : Reason.UNAVAILABLE;
          default -> Reason.UNAVAILABLE;
        };
    // A 5xx or 2xx without an outcome comes from a proxy; the server may have applied the request.
    boolean isDefinite = status >= 300 && status < 500;
    String outcome = problem.path("outcome").asString(isDefinite ? "not-applied" : "unknown");
    boolean unknown = writes && outcome.equals("unknown");
    return QuipuException.of(unknown ? Outcome.UNKNOWN : Outcome.NOT_APPLIED, reason, detail, null);
  }

  /** Returns a field that every response of a Quipu server has. */
  public static long required(JsonNode node, String field, boolean writes) {
    return number(node, field)
        .orElseThrow(() ->
            QuipuException.of(
                writes ? Outcome.UNKNOWN : Outcome.NOT_APPLIED,
                Reason.UNAVAILABLE,
                "the response has no number %s; is it a Quipu server?".formatted(field),
                null));
  }

  /** Returns a number, which may be a text, in units of its counter; empty if there is none. */
  public static OptionalLong number(JsonNode node, String field) {
    JsonNode value = node.get(field);
    return value == null
        ? OptionalLong.empty()
        : OptionalLong.of(Decimal.parse(field, value.asString()).units());
  }

  /** Returns the number of digits after the point that a number has; 0 if there is none. */
  public static int scale(JsonNode node, String field) {
    JsonNode value = node.get(field);
    return value == null ? 0 : Decimal.parse(field, value.asString()).scale();
  }
}
