package dev.quipu.server.http.message;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.server.net.MemoryBudget;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * An error response, as {@code application/problem+json} (RFC 9457). Thrown where the error is
 * found, and written by the connection.
 */
public final class Problem extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String type;
  private final String title;
  private final transient Map<String, Object> extensions = new LinkedHashMap<>();

  public Problem(int status, String type, String title, String detail) {
    super(detail, null, false, false); // expected, so without a stack trace
    this.status = status;
    this.type = type;
    this.title = title;
  }

  /** Adds a member, and returns this problem. */
  public Problem with(String name, Object value) {
    extensions.put(name, value);
    return this;
  }

  /** Adds the outcome "not-applied" of a request that writes, unless it has one. */
  public Problem ofWrite() {
    extensions.putIfAbsent("outcome", "not-applied");
    return this;
  }

  /** Removes the outcome "not-applied", which says nothing about a request that only reads. */
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

  /** Returns whether the outcome of the request is unknown. */
  boolean isUnknown() {
    return "unknown".equals(extensions.get("outcome"));
  }

  /** Returns whether the same request may succeed shortly after. */
  boolean isTemporary() {
    return status == 429 || status == 503 || status == 507;
  }

  /** Returns the methods that the route of a 405 supports. */
  Optional<String> allowedMethods() {
    return Optional.ofNullable(extensions.get("allow")).map(Object::toString);
  }

  /** Returns the header that RFC 9110 requires of the status, except Allow. */
  Optional<Map.Entry<String, String>> requiredHeader() {
    return switch (type) {
      case "unauthorized" -> Optional.of(Map.entry("WWW-Authenticate", "Bearer realm=\"quipu\""));
      case "content-coding" -> Optional.of(Map.entry("Accept-Encoding", "identity"));
      default -> Optional.empty();
    };
  }

  /** Returns all members. */
  public Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("type", "/problems/" + type);
    members.put("title", title);
    members.put("status", status);
    members.put("detail", String.valueOf(getMessage()));
    members.putAll(extensions);
    return members;
  }

  /** Returns the problem of an invalid request. */
  public static Problem badRequest(String detail) {
    return new Problem(400, "bad-request", "Bad Request", detail);
  }

  /** Returns the problem of a request id that was used for a different request. */
  public static Problem requestIdReused(String name, String detail) {
    return new Problem(422, "request-id-reused", "Request id already used", detail)
        .with("name", name);
  }

  /** Returns the problem of an unknown route or counter. */
  public static Problem notFound(String detail) {
    return new Problem(404, "not-found", "Not Found", detail);
  }

  /** Returns the problem for a failure of the store. */
  static Problem of(QuipuException e) {
    boolean unknown = e.outcome() == Outcome.UNKNOWN;
    Problem problem =
        switch (e.reason()) {
          case FULL -> new Problem(507, "store-full", "Insufficient Storage", e.getMessage());
          case THROTTLED -> new Problem(429, "throttled", "Too Many Requests", e.getMessage());
          case INVALID -> new Problem(400, "bad-request", "Bad Request", e.getMessage());
          case CORRUPT ->
              new Problem(500, "store-damaged", "Stored data is corrupt", e.getMessage());
          case TIMEOUT -> unavailable("Store timeout", e.getMessage());
          case DENIED -> unavailable("Access denied by the store", e.getMessage());
          case UNAVAILABLE -> unavailable("Store unavailable", e.getMessage());
          case REJECTED -> new Problem(409, "bound-reached", "Add rejected", e.getMessage());
          case HELD -> new Problem(409, "holds-open", "Holds open", e.getMessage());
          case CONFLICT ->
              new Problem(422, "request-id-reused", "Request id already used", e.getMessage());
        };
    if (unknown) {
      problem = unknown(e.getMessage());
    }
    return problem.with("outcome", unknown ? "unknown" : "not-applied");
  }

  /** Returns the problem of a body above the limit of its route. */
  public static Problem tooLarge(int bytesMax, String path) {
    return new Problem(
            413,
            "too-large",
            "Content Too Large",
            "request body is longer than %d bytes, which is the limit of %s; send several requests"
                .formatted(bytesMax, path))
        .with("outcome", "not-applied");
  }

  /** Returns the problem of a request that needs more memory than all clients may hold. */
  public static Problem insufficientMemory(long neededBytes, MemoryBudget budget) {
    return new Problem(
            507,
            "memory-full",
            "Insufficient Storage",
            ("the request needs %d bytes of memory; all clients together hold %d of %d (a fifth of"
                    + " the heap, -Xmx); retry later")
                .formatted(neededBytes, budget.usedBytes(), budget.limitBytes()))
        .with("outcome", "not-applied");
  }

  /** Returns the problem of a request that arrived while too many were in progress. */
  public static Problem overloaded(int requestsMax) {
    return new Problem(
            503,
            "overloaded",
            "Service Unavailable",
            "%d requests are in progress, which is the limit; retry later".formatted(requestsMax))
        .with("outcome", "not-applied");
  }

  /** Returns the problem of a stream above the limit. */
  public static Problem tooManyStreams(int streamsMax) {
    return new Problem(
        503,
        "overloaded",
        "Service Unavailable",
        "%d streams are open, which is the limit; retry later".formatted(streamsMax));
  }

  /** Returns the problem of a demonstration above the limit. */
  public static Problem tooManyDemos(int demosMax) {
    return new Problem(
        503,
        "overloaded",
        "Service Unavailable",
        "%d demonstrations are running, which is the limit; retry later".formatted(demosMax));
  }

  /** Returns the problem of a request whose handler failed. */
  static Problem internal(String errorId) {
    return new Problem(
            500, "internal", "Internal Server Error", "see the server log, error id " + errorId)
        .with("errorId", errorId)
        .with("outcome", "unknown");
  }

  /** Returns the problem of a request whose outcome is unknown. */
  public static Problem unknown(String detail) {
    return new Problem(
            503,
            "outcome-unknown",
            "Outcome unknown",
            detail + "; an add that is repeated with the same request id counts exactly once")
        .with("outcome", "unknown");
  }

  private static Problem unavailable(String title, String detail) {
    return new Problem(503, "store-unavailable", title, detail);
  }
}
