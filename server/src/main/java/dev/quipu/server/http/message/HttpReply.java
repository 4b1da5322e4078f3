package dev.quipu.server.http.message;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/**
 * A response.
 *
 * @param parts the body, in pieces; must not be changed
 * @param isUnknown whether the outcome of the request is unknown
 * @param events begins to send events, of which the body then consists; must not block
 */
public record HttpReply(
    int status,
    String type,
    List<byte[]> parts,
    Map<String, String> headers,
    boolean isUnknown,
    Optional<Consumer<EventSink>> events) {
  public static final String JSON = "application/json";

  /** Creates a reply with a body. */
  public HttpReply(
      int status, String type, List<byte[]> parts, Map<String, String> headers, boolean isUnknown) {
    this(status, type, parts, headers, isUnknown, Optional.empty());
  }

  /**
   * Returns a reply that has no end, of server-sent events.
   *
   * @param first what is sent before the first event
   */
  public static HttpReply events(List<byte[]> first, Consumer<EventSink> begin) {
    return new HttpReply(
            200, "text/event-stream", first, new LinkedHashMap<>(), false, Optional.of(begin))
        .with("Cache-Control", "no-store");
  }

  /** Returns a reply with a JSON object of these members; 64-bit numbers must be strings. */
  public static HttpReply json(int status, Map<String, ?> members) {
    return bytes(status, JSON, List.of(JsonBody.MAPPER.writeValueAsBytes(members)));
  }

  /** Returns a reply with JSON that is written at once, without a tree of it. */
  public static HttpReply written(int status, Consumer<JsonGenerator> content) {
    return bytes(status, JSON, List.of(JsonBody.written(content)));
  }

  /** Returns a reply with a text. */
  public static HttpReply text(int status, String type, String text) {
    return bytes(status, type, List.of(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Returns a reply with an encoded body. */
  public static HttpReply bytes(int status, String type, List<byte[]> parts) {
    return new HttpReply(status, type, parts, new LinkedHashMap<>(), false);
  }

  /** Returns the reply for a problem. */
  public static HttpReply of(Problem problem) {
    byte[] body = JsonBody.MAPPER.writeValueAsBytes(problem.members());
    HttpReply reply =
        new HttpReply(
            problem.status(),
            "application/problem+json",
            List.of(body),
            new LinkedHashMap<>(),
            problem.isUnknown());
    problem.allowedMethods().ifPresent(methods -> reply.with("Allow", methods));
    problem.requiredHeader().ifPresent(each -> reply.with(each.getKey(), each.getValue()));
    return problem.isTemporary() ? reply.with("Retry-After", "1") : reply;
  }

  /** Returns the length of the body, in bytes. */
  public int length() {
    return parts.stream().mapToInt(part -> part.length).sum();
  }

  /** Sets a header, and returns this reply. */
  public HttpReply with(String name, String value) {
    headers.put(name, value);
    return this;
  }
}
