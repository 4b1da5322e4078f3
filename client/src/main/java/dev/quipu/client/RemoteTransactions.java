package dev.quipu.client;

import static dev.quipu.client.Reply.number;
import static dev.quipu.client.Reply.required;
import static dev.quipu.client.Reply.scale;
import static dev.quipu.client.ServerCalls.encode;

import dev.quipu.Add;
import dev.quipu.Decimal;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.TransactionResult.Added;
import dev.quipu.Transactions;
import dev.quipu.client.Request.Effect;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * The transactions of a server. A call without a reply is repeated under its id until the deadline.
 */
public final class RemoteTransactions implements Transactions {
  private final ServerCalls calls;

  /** Creates transactions; the caller closes the calls. */
  public RemoteTransactions(ServerCalls calls) {
    this.calls = calls;
  }

  @Override
  public TransactionResult commit(RequestId id, List<Add> adds) {
    Map<String, Object> members = Map.of("adds", members(Transactions.check(adds)));
    Request post = Request.json("POST", "/v1/transactions", Effect.REPEATABLE, members);
    Reply reply = calls.send(inKind(post.under(key(id)), adds));
    return switch (reply.status()) {
      case 409 -> {
        JsonNode problem = reply.problem();
        yield new TransactionResult.Rejected(
            problem.path("counter").asString(""),
            AddLines.rejection(problem),
            number(problem, "value"),
            scale(problem, "value"));
      }
      case 422 -> new TransactionResult.Conflict();
      default -> {
        JsonNode node = ok(reply);
        yield new TransactionResult.Applied(
            added(node.path("adds")), node.path("replayed").asBoolean());
      }
    };
  }

  @Override
  public TransactionOutcome outcome(RequestId id) {
    return outcome(id, ok(calls.send(Request.get(path(id)))));
  }

  @Override
  public TransactionOutcome cancel(RequestId id) {
    Request request = Request.json("POST", path(id) + "/cancel", Effect.REPEATABLE, Map.of());
    Reply reply = calls.send(request);
    if (reply.status() == 422) {
      throw new NotAppliedException(
          Reason.CONFLICT, reply.problem().path("detail").asString("the id is that of a hold"));
    }
    return outcome(id, ok(reply));
  }

  private static String path(RequestId id) {
    return "/v1/requests/" + encode(id.text());
  }

  private static TransactionOutcome outcome(RequestId id, JsonNode node) {
    return switch (node.path("outcome").asString("")) {
      case "applied" -> new TransactionOutcome.Applied(added(node.path("adds")));
      case "held" -> new TransactionOutcome.Held(RemoteHolds.hold(id, node.path("hold")));
      case "canceled" -> new TransactionOutcome.Canceled();
      default -> new TransactionOutcome.NotSeen();
    };
  }

  /** Returns an id as a header can hold it: one that is not ASCII as its bits, the same id. */
  static String key(RequestId id) {
    boolean isAscii = id.text().chars().allMatch(c -> c >= 0x20 && c < 0x7f);
    return isAscii ? id.text() : id.bits();
  }

  /** Returns the body; throws the failure, or that the server is too old for the route. */
  static JsonNode ok(Reply reply) {
    if (reply.status() == 404) {
      throw new UnsupportedOperationException(
          "the server has neither transactions nor holds; use a newer one");
    }
    return reply.ok();
  }

  /** Returns adds as a request has them. */
  static List<Map<String, Object>> members(List<Add> adds) {
    List<Map<String, Object>> all = new ArrayList<>();
    for (Add add : adds) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("counter", add.counter());
      members.put("delta", amount(add, add.delta()));
      if (add.bounds().floor() != Long.MIN_VALUE) {
        members.put("floor", amount(add, add.bounds().floor()));
      }
      if (add.bounds().ceiling() != Long.MAX_VALUE) {
        members.put("ceiling", amount(add, add.bounds().ceiling()));
      }
      all.add(members);
    }
    return all;
  }

  private static Object amount(Add add, long amount) {
    return add.scale() <= 0 ? amount : Decimal.text(amount, add.scale());
  }

  /**
   * Returns a request that says whether its amounts are decimals or in units of their counters.
   *
   * @throws IllegalArgumentException if there are both
   */
  static Request inKind(Request request, List<Add> adds) {
    long inUnits = adds.stream().filter(add -> add.scale() == Add.UNITS).count();
    if (inUnits != 0 && inUnits != adds.size()) {
      throw new IllegalArgumentException(
          "some amounts are of type long, in units of their counters, and some are decimals; use"
              + " one type");
    }
    return inUnits == 0 ? request : request.inUnits();
  }

  private static List<Added> added(JsonNode nodes) {
    List<Added> adds = new ArrayList<>();
    for (JsonNode each : nodes) {
      adds.add(
          new Added(
              each.path("counter").asString(""),
              required(each, "added", true),
              required(each, "value", true),
              scale(each, "value")));
    }
    return adds;
  }
}
