package dev.quipu.client;

import static dev.quipu.client.Reply.number;
import static dev.quipu.client.Reply.required;
import static dev.quipu.client.Reply.scale;

import dev.quipu.AddResult;
import dev.quipu.Rejection;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** What the lines of a bulk response report: one for each add. */
final class AddLines {
  private AddLines() {}

  /**
   * Returns the result that a line, or a whole response, reports.
   *
   * @throws RuntimeException if it reports a failure
   */
  static AddResult result(int status, JsonNode line) {
    if (status == 200) {
      long added = required(line, "added", true);
      int scale = scale(line, "added");
      return line.path("replayed").asBoolean()
          ? new AddResult.Replayed(added, number(line, "value"), scale)
          : new AddResult.Applied(added, number(line, "value"), scale);
    }
    if (status == 422) {
      return new AddResult.Conflict(number(line, "added").orElse(0), scale(line, "added"));
    }
    if (status != 409) {
      throw Reply.failure(status, line, true);
    }
    List<String> heldBy = new ArrayList<>();
    line.path("heldBy").forEach(region -> heldBy.add(region.asString("")));
    return new AddResult.Rejected(
        rejection(line), number(line, "value"), heldBy, scale(line, "value"));
  }

  /** Returns why an add was rejected. */
  static Rejection rejection(JsonNode problem) {
    return switch (problem.path("type").asString("")) {
      case "/problems/overflow" -> Rejection.OVERFLOW;
      case "/problems/request-canceled" -> Rejection.CANCELED;
      case "/problems/held-elsewhere" -> Rejection.HELD_ELSEWHERE;
      default ->
          problem.path("bound").asString("").equals("ceiling")
              ? Rejection.CEILING
              : Rejection.FLOOR;
    };
  }
}
