package dev.quipu.server.http;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What is sent back.
 *
 * @param parts the body, in pieces; not to be changed
 */
record Answer(int status, String type, List<byte[]> parts, Map<String, String> headers) {
  static final String JSON = "application/json";

  /** A JSON object of these members; 64-bit numbers are given as strings. */
  static Answer json(int status, Map<String, ?> members) {
    return bytes(status, JSON, List.of(JsonBody.MAPPER.writeValueAsBytes(members)));
  }

  /** Some other text. */
  static Answer text(int status, String type, String text) {
    return bytes(status, type, List.of(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** A body that is encoded already. */
  static Answer bytes(int status, String type, List<byte[]> parts) {
    return new Answer(status, type, parts, new LinkedHashMap<>());
  }

  /** A problem. */
  static Answer of(Problem problem) {
    byte[] body = JsonBody.MAPPER.writeValueAsBytes(problem.members());
    Answer answer = bytes(problem.status(), "application/problem+json", List.of(body));
    return problem.isTemporary() ? answer.with("Retry-After", "1") : answer;
  }

  /** Returns the length of the body, in bytes. */
  int length() {
    return parts.stream().mapToInt(part -> part.length).sum();
  }

  /** The same with another header. */
  Answer with(String name, String value) {
    headers.put(name, value);
    return this;
  }
}
