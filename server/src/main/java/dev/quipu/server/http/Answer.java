package dev.quipu.server.http;

import java.util.LinkedHashMap;
import java.util.Map;

/** What is sent back. */
record Answer(int status, String type, String body, Map<String, String> headers) {
  static final String JSON = "application/json";

  /** A JSON object of these members; 64-bit numbers are given as strings. */
  static Answer json(int status, Map<String, ?> members) {
    return new Answer(
        status, JSON, JsonBody.MAPPER.writeValueAsString(members), new LinkedHashMap<>());
  }

  /** Some other text. */
  static Answer text(int status, String type, String text) {
    return new Answer(status, type, text, new LinkedHashMap<>());
  }

  /** A problem. */
  static Answer of(Problem problem) {
    String body = JsonBody.MAPPER.writeValueAsString(problem.members());
    Answer answer =
        new Answer(problem.status(), "application/problem+json", body, new LinkedHashMap<>());
    return problem.status() == 503 || problem.status() == 429
        ? answer.with("Retry-After", "1")
        : answer;
  }

  /** The same with another header. */
  Answer with(String name, String value) {
    headers.put(name, value);
    return this;
  }
}
