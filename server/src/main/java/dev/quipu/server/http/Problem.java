package dev.quipu.server.http;

import dev.quipu.store.Outcome;
import dev.quipu.store.StoreException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An answer that is not good news, as {@code application/problem+json}. Thrown where it is found,
 * written by the connection.
 */
final class Problem extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String type;
  private final String title;
  private final transient Map<String, Object> extensions = new LinkedHashMap<>();

  Problem(int status, String type, String title, String detail) {
    super(detail, null, false, false); // an answer, not an accident: no stack trace
    this.status = status;
    this.type = type;
    this.title = title;
  }

  /** Adds a member that tells more. */
  Problem with(String name, Object value) {
    extensions.put(name, value);
    return this;
  }

  int status() {
    return status;
  }

  String type() {
    return type;
  }

  /** All members. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("type", "/problems/" + type);
    members.put("title", title);
    members.put("status", status);
    members.put("detail", String.valueOf(getMessage()));
    members.putAll(extensions);
    return members;
  }

  static Problem badRequest(String detail) {
    return new Problem(400, "bad-request", "The request is not valid", detail);
  }

  static Problem requestIdReused(String name, String detail) {
    String title = "The request id was used for another request";
    return new Problem(422, "request-id-reused", title, detail).with("name", name);
  }

  static Problem notFound(String detail) {
    return new Problem(404, "not-found", "Not found", detail);
  }

  /** What to tell of a store that gave no definite good answer. */
  static Problem of(StoreException e) {
    boolean unknown = e.outcome() == Outcome.UNKNOWN;
    Problem problem =
        switch (e.reason()) {
          case FULL ->
              new Problem(507, "store-full", "The store has no room for more", e.getMessage());
          case THROTTLED ->
              new Problem(429, "throttled", "The store asks for fewer requests", e.getMessage());
          case INVALID ->
              new Problem(400, "bad-request", "The store rejects the request", e.getMessage());
          case CORRUPT ->
              new Problem(500, "store-damaged", "What is stored is damaged", e.getMessage());
          case UNAVAILABLE, TIMEOUT, DENIED -> unavailable(e.getMessage());
        };
    if (unknown) {
      problem = unknown(e.getMessage());
    }
    return problem.with("outcome", unknown ? "unknown" : "not-applied");
  }

  static Problem unknown(String detail) {
    return new Problem(
            503,
            "outcome-unknown",
            "It is not known whether the request applied; repeat it with the same id",
            detail)
        .with("outcome", "unknown");
  }

  private static Problem unavailable(String detail) {
    return new Problem(503, "store-unavailable", "The store does not answer", detail);
  }
}
