package dev.quipu.server.cli.access;

import static dev.quipu.client.ServerCalls.encode;

import dev.quipu.Limits;
import dev.quipu.backend.CounterThresholds;
import dev.quipu.client.Reply;
import dev.quipu.client.Request;
import dev.quipu.client.Request.Effect;
import dev.quipu.client.ServerCalls;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Calls on the thresholds of a server that counts on the engine. */
public final class ThresholdCalls {
  private static final String ALL = "/v1/thresholds";
  private static final int CREATED = 201;
  private static final int NO_CONTENT = 204;
  private static final int NOT_FOUND = 404;

  private final ServerCalls calls;

  ThresholdCalls(ServerCalls calls) {
    this.calls = calls;
  }

  /**
   * A threshold as a server states it.
   *
   * @param isPrefix whether it is of all counters whose names start with {@code selector}
   * @param waiting crossings that the webhook has not accepted yet
   * @param missed crossings that were not recorded, since too many waited
   * @param failing if the last delivery failed
   */
  public record Listed(
      String id,
      boolean isPrefix,
      String selector,
      String at,
      String direction,
      String webhook,
      long waiting,
      long missed,
      Optional<Failing> failing) {}

  /**
   * Deliveries that fail.
   *
   * @param reason of the last one
   * @param attempts how many failed; 0 if the server sends none
   * @param since when the first one failed; empty if the server sends none
   */
  public record Failing(String reason, int attempts, Optional<String> since) {}

  /** Returns all thresholds. */
  public List<Listed> list() {
    List<Listed> found = new ArrayList<>();
    for (JsonNode each : calls.send(Request.get(ALL)).ok().path("thresholds")) {
      found.add(listed(each));
    }
    return found;
  }

  /** Returns a threshold; empty if there is none. */
  public Optional<Listed> get(String id) {
    Reply reply = calls.send(Request.get(path(id)));
    return reply.status() == NOT_FOUND ? Optional.empty() : Optional.of(listed(reply.ok()));
  }

  /** Defines or replaces a threshold. */
  public Listed put(
      String id, boolean isPrefix, String selector, String at, String direction, String webhook) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put(isPrefix ? "prefix" : "counter", selector);
    members.put("at", at);
    members.put("direction", direction);
    members.put("webhook", webhook);
    Reply reply = calls.send(Request.json("PUT", path(id), Effect.REPEATABLE, members));
    return listed(reply.status() == CREATED ? reply.parsed() : reply.ok());
  }

  /** Deletes a threshold; returns false if there is none. */
  public boolean delete(String id) {
    if (get(id).isEmpty()) {
      return false;
    }
    var unused =
        calls.send(Request.bare("DELETE", path(id), Effect.REPEATABLE)).require(NO_CONTENT);
    return true;
  }

  private static String path(String id) {
    return ALL + "/" + encode(Limits.checkText("ID", id, CounterThresholds.ID_MAX));
  }

  private static Listed listed(JsonNode each) {
    boolean isPrefix = each.has("prefix");
    return new Listed(
        each.path("id").asString(""),
        isPrefix,
        each.path(isPrefix ? "prefix" : "counter").asString(""),
        each.path("at").asString(""),
        each.path("direction").asString(""),
        each.path("webhook").asString(""),
        each.path("waiting").asLong(0),
        each.path("missed").asLong(0),
        Optional.ofNullable(each.get("failing"))
            .map(why ->
                new Failing(
                    why.path("reason").asString(""),
                    why.path("attempts").asInt(0),
                    Optional.ofNullable(why.get("since")).map(JsonNode::asString))));
  }
}
