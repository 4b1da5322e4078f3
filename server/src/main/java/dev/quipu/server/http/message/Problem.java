package dev.quipu.server.http.message;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.server.net.MemoryBudget;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An answer that is not good news, as {@code application/problem+json}. Thrown where it is found,
 * written by the connection.
 */
public final class Problem extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String type;
  private final String title;
  private final transient Map<String, Object> extensions = new LinkedHashMap<>();

  public Problem(int status, String type, String title, String detail) {
    super(detail, null, false, false); // an answer, not an accident: no stack trace
    this.status = status;
    this.type = type;
    this.title = title;
  }

  /** Adds a member. */
  public Problem with(String name, Object value) {
    extensions.put(name, value);
    return this;
  }

  /** Says that a request did not apply, if nothing else is said of it. */
  public Problem ofWrite() {
    extensions.putIfAbsent("outcome", "not-applied");
    return this;
  }

  /** Leaves out that a request did not apply, which is no news of one that only reads. */
  public Problem ofRead() {
    extensions.remove("outcome", "not-applied");
    return this;
  }

  public int status() {
    return status;
  }

  String type() {
    return type;
  }

  /** Whether the same request may be served if it is repeated a little later. */
  boolean isTemporary() {
    return status == 429 || status == 503 || status == 507;
  }

  /** All members. */
  public Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("type", "/problems/" + type);
    members.put("title", title);
    members.put("status", status);
    members.put("detail", String.valueOf(getMessage()));
    members.putAll(extensions);
    return members;
  }

  public static Problem badRequest(String detail) {
    return new Problem(400, "bad-request", "The request is not valid", detail);
  }

  public static Problem requestIdReused(String name, String detail) {
    String title = "The request id was used for another request";
    return new Problem(422, "request-id-reused", title, detail).with("name", name);
  }

  public static Problem notFound(String detail) {
    return new Problem(404, "not-found", "Not found", detail);
  }

  /** What to tell of a store that gave no definite good answer. */
  static Problem of(QuipuException e) {
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
          case TIMEOUT -> unavailable("The store does not answer", e.getMessage());
          case DENIED -> unavailable("The store rejects the call", e.getMessage());
          case UNAVAILABLE -> unavailable("The store is unavailable", e.getMessage());
          case REJECTED ->
              new Problem(409, "bound-reached", "The add was rejected", e.getMessage());
          case CONFLICT ->
              new Problem(422, "request-id-reused", "Request id already used", e.getMessage());
        };
    if (unknown) {
      problem = unknown(e.getMessage());
    }
    return problem.with("outcome", unknown ? "unknown" : "not-applied");
  }

  /** A body above the limit of its route. */
  public static Problem tooLarge(int bytesMax, String path) {
    return new Problem(
        413,
        "too-large",
        "Content Too Large",
        "Request body is longer than %d bytes, which is the limit of %s. Send less at once."
            .formatted(bytesMax, path));
  }

  /** A request that needs more memory than all clients together may hold. */
  public static Problem insufficientMemory(long neededBytes, MemoryBudget budget) {
    return new Problem(
            507,
            "memory-full",
            "Insufficient Storage",
            ("The request needs %d bytes of memory; all clients together hold %d of %d (a fifth of"
                    + " the heap, -Xmx). Repeat it later.")
                .formatted(neededBytes, budget.usedBytes(), budget.limitBytes()))
        .with("outcome", "not-applied");
  }

  /** A request that came while too many others were in progress. */
  public static Problem overloaded(int requestsMax) {
    return new Problem(
            503,
            "overloaded",
            "Service Unavailable",
            "%d requests are in progress, which is the limit. Repeat it later."
                .formatted(requestsMax))
        .with("outcome", "not-applied");
  }

  /** A request whose handler failed. */
  static Problem internal(String errorId) {
    return new Problem(
            500, "internal", "Internal Server Error", "see the server log, error id " + errorId)
        .with("errorId", errorId)
        .with("outcome", "unknown");
  }

  public static Problem unknown(String detail) {
    return new Problem(
            503,
            "outcome-unknown",
            "It is not known whether the request applied; repeat it with the same id",
            detail)
        .with("outcome", "unknown");
  }

  private static Problem unavailable(String title, String detail) {
    return new Problem(503, "store-unavailable", title, detail);
  }
}
