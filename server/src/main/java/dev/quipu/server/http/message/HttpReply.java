package dev.quipu.server.http.message;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What is sent back.
 *
 * @param parts the body, in pieces; not to be changed
 */
public record HttpReply(int status, String type, List<byte[]> parts, Map<String, String> headers) {
  public static final String JSON = "application/json";

  /** A JSON object of these members; 64-bit numbers are given as strings. */
  public static HttpReply json(int status, Map<String, ?> members) {
    return bytes(status, JSON, List.of(JsonBody.MAPPER.writeValueAsBytes(members)));
  }

  /** Some other text. */
  public static HttpReply text(int status, String type, String text) {
    return bytes(status, type, List.of(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** A body that is encoded already. */
  public static HttpReply bytes(int status, String type, List<byte[]> parts) {
    return new HttpReply(status, type, parts, new LinkedHashMap<>());
  }

  /** A problem. */
  public static HttpReply of(Problem problem) {
    byte[] body = JsonBody.MAPPER.writeValueAsBytes(problem.members());
    HttpReply reply = bytes(problem.status(), "application/problem+json", List.of(body));
    return problem.isTemporary() ? reply.with("Retry-After", "1") : reply;
  }

  /** Returns the length of the body, in bytes. */
  public int length() {
    return parts.stream().mapToInt(part -> part.length).sum();
  }

  /** The same with another header. */
  public HttpReply with(String name, String value) {
    headers.put(name, value);
    return this;
  }
}
