package dev.quipu.client;

import static dev.quipu.client.Reply.number;
import static dev.quipu.client.Reply.required;
import static dev.quipu.client.Reply.scale;
import static dev.quipu.client.ServerCalls.encode;

import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.Limits;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.client.Request.Effect;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The holds of a server. A call without a reply is repeated until the deadline. */
public final class RemoteHolds implements Holds {
  private static final String PATH = "/v1/holds";

  private final ServerCalls calls;

  /** Creates holds; the caller closes the calls. */
  public RemoteHolds(ServerCalls calls) {
    this.calls = calls;
  }

  @Override
  public HoldResult place(HoldRequest request) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("adds", RemoteTransactions.members(request.adds()));
    members.put("ttl", request.ttl().toString());
    members.put("late", word(request.late()));
    members.put("excess", word(request.excess()));
    Request post = Request.json("POST", PATH, Effect.REPEATABLE, members);
    RequestId id = request.id();
    Request keyed = post.under(RemoteTransactions.key(id));
    return result(id, calls.send(RemoteTransactions.inKind(keyed, request.adds())));
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public HoldResult settle(RequestId id, Settlement settlement) {
    Request post =
        Request.json("POST", path(id) + "/settle", Effect.REPEATABLE, members(settlement));
    return result(id, calls.send(settlement.isInUnits() ? post.inUnits() : post));
  }

  private static Map<String, Object> members(Settlement settlement) {
    Map<String, Object> members = new LinkedHashMap<>();
    settlement.same().ifPresent(delta -> members.put("delta", delta.toString()));
    if (members.isEmpty()) {
      List<Map<String, Object>> adds = new ArrayList<>();
      settlement
          .byCounter()
          .forEach((counter, delta) -> {
            Map<String, Object> add = new LinkedHashMap<>();
            add.put("counter", counter);
            add.put("delta", delta.toString());
            adds.add(add);
          });
      members.put("adds", adds);
    }
    return members;
  }

  @Override
  public HoldResult release(RequestId id) {
    return change(id, "/release", Map.of());
  }

  @Override
  public HoldResult extend(RequestId id, Duration ttl) {
    return change(id, "/extend", Map.of("ttl", HoldRequest.checkTtl(ttl).toString()));
  }

  private HoldResult change(RequestId id, String action, Map<String, Object> members) {
    String path = path(id) + action;
    return result(id, calls.send(Request.json("POST", path, Effect.REPEATABLE, members)));
  }

  private static String path(RequestId id) {
    return PATH + "/" + encode(id.text());
  }

  private static HoldResult result(RequestId id, Reply reply) {
    return switch (reply.status()) {
      case 200, 201 -> {
        JsonNode node = reply.parsed();
        yield new HoldResult.Done(hold(id, node), node.path("replayed").asBoolean());
      }
      case 409 -> rejection(id, reply.problem());
      case 422 -> new HoldResult.Conflict();
      default -> {
        if (isNotFound(reply)) {
          yield new HoldResult.NotFound();
        }
        RemoteTransactions.ok(reply);
        throw reply.malformed("the response has status " + reply.status(), null);
      }
    };
  }

  private static HoldResult rejection(RequestId id, JsonNode problem) {
    String counter = problem.path("counter").asString("");
    return switch (problem.path("type").asString("")) {
      case "/problems/hold-closed" -> new HoldResult.Closed(hold(id, problem.path("hold")));
      case "/problems/hold-exceeded" ->
          new HoldResult.Exceeded(counter, required(problem, "held", true), scale(problem, "held"));
      default ->
          new HoldResult.Rejected(
              counter,
              AddLines.rejection(problem),
              number(problem, "value"),
              scale(problem, "value"));
    };
  }

  private static boolean isNotFound(Reply reply) {
    return reply.status() == 404
        && reply.problem().path("type").asString("").equals("/problems/hold-not-found");
  }

  @Override
  public Optional<HoldReading> find(RequestId id) {
    Reply reply = calls.send(Request.get(path(id)));
    return isNotFound(reply)
        ? Optional.empty()
        : Optional.of(hold(id, RemoteTransactions.ok(reply)));
  }

  @Override
  public List<HoldReading> list(String counter, @Nullable RequestId after, int limit) {
    List<HoldReading> all = new ArrayList<>();
    RequestId last = after;
    boolean hasMore = true;
    while (hasMore && all.size() < limit) { // a page of the server may be shorter than the limit
      String path = counter(counter) + "/holds?limit=" + (limit - all.size());
      String query = last == null ? path : path + "&cursor=" + cursor(last);
      JsonNode node = RemoteTransactions.ok(calls.send(Request.get(query)));
      for (JsonNode each : node.path("holds")) {
        last = RequestId.of(each.path("id").asString(""));
        all.add(hold(last, each));
      }
      hasMore = node.has("cursor");
    }
    return all;
  }

  /** Returns a cursor of the server, which is the id of the last hold of a page. */
  private static String cursor(RequestId id) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(id.bits().getBytes(StandardCharsets.US_ASCII));
  }

  private static String counter(String name) {
    return "/v1/counters/" + encode(Limits.checkText("name", name, Limits.NAME_BYTES_MAX));
  }

  @Override
  public Optional<Balance> balance(String counter) {
    Reply reply = calls.send(Request.get(counter(counter)));
    if (reply.status() == 404) {
      return Optional.empty();
    }
    JsonNode node = reply.ok();
    JsonNode available = node.path("available");
    return Optional.of(
        new Balance(
            required(node, "value", false),
            number(node, "held").orElse(0),
            number(available, "floor"),
            number(available, "ceiling"),
            scale(node, "value")));
  }

  /** Returns the hold that a response describes. */
  static HoldReading hold(RequestId id, JsonNode node) {
    List<HoldReading.Part> parts = new ArrayList<>();
    for (JsonNode each : node.path("counters")) {
      parts.add(
          new HoldReading.Part(
              each.path("counter").asString(""),
              required(each, "delta", true),
              number(each, "settled"),
              scale(each, "delta")));
    }
    try {
      return new HoldReading(
          id,
          HoldReading.State.valueOf(node.path("state").asString("").toUpperCase(Locale.ROOT)),
          parts,
          Instant.parse(node.path("expires").asString("")),
          node.path("late").asBoolean(false));
    } catch (IllegalArgumentException | DateTimeParseException e) {
      throw new OutcomeUnknownException(
          Reason.UNAVAILABLE, "the response has no hold; is it a Quipu server?", e);
    }
  }
}
