package dev.quipu.client;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * A request to a server.
 *
 * @param path with the query, as it is sent
 * @param type the media type of the body; empty without one
 * @param idempotencyKey the request id in a header, if any
 * @param isInUnits whether amounts are integers in units of their counters, not decimals
 */
@SuppressWarnings("ArrayRecordComponent") // not compared, and copies would cost time
public record Request(
    String method,
    String path,
    Effect effect,
    String type,
    byte[] body,
    @Nullable String idempotencyKey,
    boolean isInUnits) {
  static final String JSON = "application/json";
  static final String NDJSON = "application/x-ndjson";
  static final JsonMapper MAPPER = JsonMapper.builder().build();

  private static final byte[] NOTHING = {};

  /** What a request may change. */
  public enum Effect {
    /** Nothing. */
    NONE,
    /** Something, but once, no matter how often the request is repeated. */
    REPEATABLE,
    /** Something, each time that the request is repeated. */
    ONCE
  }

  /** Returns a request to read. */
  public static Request get(String path) {
    return new Request("GET", path, Effect.NONE, "", NOTHING, null, false);
  }

  /** Returns a request with a body in JSON. */
  public static Request json(String method, String path, Effect effect, Map<String, ?> members) {
    return new Request(method, path, effect, JSON, MAPPER.writeValueAsBytes(members), null, false);
  }

  /** Returns a request with a line of JSON for each object. */
  public static Request lines(String path, Effect effect, List<Map<String, Object>> objects) {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (Map<String, Object> each : objects) {
      lines.writeBytes(MAPPER.writeValueAsBytes(each));
      lines.write('\n');
    }
    return lines(path, effect, lines.toByteArray());
  }

  /** Returns a request with lines of JSON. */
  static Request lines(String path, Effect effect, byte[] lines) {
    return new Request("POST", path, effect, NDJSON, lines, null, false);
  }

  /** Returns a request without a body. */
  public static Request bare(String method, String path, Effect effect) {
    return new Request(method, path, effect, "", NOTHING, null, false);
  }

  /** Returns the same request with a request id in a header, in ASCII; null for none. */
  public Request under(@Nullable String id) {
    return new Request(method, path, effect, type, body, id, isInUnits);
  }

  /** Returns the same request, with amounts in units of their counters. */
  Request inUnits() {
    return new Request(method, path, effect, type, body, idempotencyKey, true);
  }

  Optional<String> quotedKey() {
    return Optional.ofNullable(idempotencyKey)
        .map(id -> "\"" + id.replace("\\", "\\\\").replace("\"", "\\\"") + "\"");
  }

  boolean writes() {
    return effect != Effect.NONE;
  }

  /** Returns whether it may be repeated after a failure that may have been applied. */
  boolean isRepeatable() {
    return effect != Effect.ONCE;
  }
}
