package dev.quipu.server.cli.access;

import static dev.quipu.client.Reply.required;
import static dev.quipu.client.ServerCalls.encode;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Limits;
import dev.quipu.RequestId;
import dev.quipu.client.Reply;
import dev.quipu.client.Request;
import dev.quipu.client.Request.Effect;
import dev.quipu.client.ServerCalls;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Calls on the stored hits of counters, of a server with the technique hit-log. */
public final class HitCalls {
  private final ServerCalls calls;

  HitCalls(ServerCalls calls) {
    this.calls = calls;
  }

  /**
   * A stored hit.
   *
   * @param hit identifies it
   */
  public record ListedHit(String hit, Instant at, long amount) {}

  /**
   * Some of the stored hits.
   *
   * @param cursor where the next page begins; empty on the last
   */
  public record Page(List<ListedHit> hits, Optional<String> cursor) {}

  /** Returns a page of the stored hits of a period, ordered by time. */
  public Page page(
      String counter,
      Optional<Instant> from,
      Optional<Instant> until,
      int limit,
      Optional<String> cursor) {
    String query =
        "?limit="
            + limit
            + from.map(time -> "&from=" + encode(time.toString())).orElse("")
            + until.map(time -> "&until=" + encode(time.toString())).orElse("")
            + cursor.map(text -> "&cursor=" + encode(text)).orElse("");
    JsonNode node = calls.send(Request.get(path(counter) + query)).ok();
    List<ListedHit> hits = new ArrayList<>();
    for (JsonNode each : node.path("hits")) {
      hits.add(
          new ListedHit(
              each.path("hit").asString(""),
              Instant.parse(each.path("at").asString("")),
              required(each, "amount", false)));
    }
    return new Page(hits, Optional.ofNullable(node.get("cursor")).map(JsonNode::asString));
  }

  /**
   * Adds a hit of the past. A non-ASCII id, which a header cannot hold, is sent as its 128 bits,
   * which are the same id.
   */
  public AddResult insert(Add add, Instant at) {
    Map<String, Object> members = Map.of("amount", add.delta(), "at", at.toString());
    RequestId id = add.id();
    if (id == null) {
      return send(add, members, Effect.ONCE, null);
    }
    boolean isAscii = id.text().chars().allMatch(c -> c >= 0x20 && c < 0x7f);
    return send(add, members, Effect.REPEATABLE, isAscii ? id.text() : id.bits());
  }

  private AddResult send(
      Add add, Map<String, Object> members, Effect effect, @Nullable String idempotencyKey) {
    Request request = Request.json("POST", path(add.counter()), effect, members);
    return calls.send(request.under(idempotencyKey)).addResult();
  }

  /**
   * Changes the amount of a hit; 0 deletes it.
   *
   * @return false if no such hit is stored
   */
  public boolean set(String counter, String hit, long amount) {
    String path = path(counter) + "?hit=" + encode(hit);
    Reply reply =
        calls.send(Request.json("PUT", path, Effect.REPEATABLE, Map.of("amount", amount)));
    if (reply.status() == 404 && reply.problem().path("detail").asString("").contains(hit)) {
      return false;
    }
    reply.ok();
    return true;
  }

  private static String path(String counter) {
    return "/v1/hits/" + encode(Limits.checkText("name", counter, Limits.NAME_BYTES_MAX));
  }
}
