package dev.quipu.client;

import static dev.quipu.client.Reply.number;
import static dev.quipu.client.Reply.required;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The lines of a bulk request and of its response: one for each add. */
final class AddLines {
  private AddLines() {}

  /** Appends an add. */
  static void append(StringBuilder lines, Add add, @Nullable RequestId id) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", add.counter());
    members.put("delta", add.delta());
    if (add.bounds().floor() != Long.MIN_VALUE) {
      members.put("floor", add.bounds().floor());
    }
    if (add.bounds().ceiling() != Long.MAX_VALUE) {
      members.put("ceiling", add.bounds().ceiling());
    }
    if (id != null) {
      members.put("id", id.text());
    }
    lines.append(Request.MAPPER.writeValueAsString(members)).append('\n');
  }

  /**
   * Returns the result that a line of the response reports.
   *
   * @throws RuntimeException if it reports a failure
   */
  static AddResult result(JsonNode line) {
    int status = line.path("status").asInt(0);
    String type = line.path("type").asString("");
    if (status == 200) {
      long added = required(line, "added", true);
      return line.path("replayed").asBoolean()
          ? new AddResult.Replayed(added, number(line, "value"))
          : new AddResult.Applied(added, number(line, "value"));
    }
    if (status == 422) {
      return new AddResult.Conflict(number(line, "added").orElse(0));
    }
    if (status != 409) {
      throw Reply.failure(status, line, true);
    }
    Rejection why =
        switch (type) {
          case "/problems/overflow" -> Rejection.OVERFLOW;
          case "/problems/request-canceled" -> Rejection.CANCELED;
          case "/problems/held-elsewhere" -> Rejection.HELD_ELSEWHERE;
          default ->
              line.path("bound").asString("").equals("ceiling")
                  ? Rejection.CEILING
                  : Rejection.FLOOR;
        };
    List<String> heldBy = new ArrayList<>();
    line.path("heldBy").forEach(region -> heldBy.add(region.asString("")));
    return new AddResult.Rejected(why, number(line, "value"), heldBy);
  }
}
