package dev.quipu.server.http.route;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Decimal;
import dev.quipu.RequestId;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.TransactionResult.Added;
import dev.quipu.Transactions;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Serves transactions over several counters, and the outcomes of all requests.
 *
 * @param counters serves the outcomes of single adds
 */
record TransactionRoutes(Supplier<Transactions> transactions, CounterRoutes counters) {
  static final String REPLAYED = "Idempotent-Replayed";

  /** POST /v1/transactions */
  HttpReply commit(Exchange exchange) {
    Amounts.reserve(exchange);
    RequestId id = exchange.requiredIdempotencyKey();
    List<Add> adds = Amounts.adds(exchange.json(Set.of("adds")), exchange.isInUnits());
    return switch (transactions.get().commit(id, adds)) {
      case TransactionResult.Applied applied -> {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("adds", members(applied.adds()));
        members.put("replayed", applied.isReplayed());
        HttpReply reply = HttpReply.json(200, members);
        yield applied.isReplayed() ? reply.with(REPLAYED, "true") : reply;
      }
      case TransactionResult.Rejected rejected ->
          throw rejected(
              adds,
              bounds(),
              rejected.counter(),
              new AddResult.Rejected(
                  rejected.why(), rejected.valueIfKnown(), List.of(), rejected.scale()));
      case TransactionResult.Conflict conflict ->
          throw conflict("this id was first used for other adds, or for a hold; use a new id");
    };
  }

  private Bounds bounds() {
    return counters.counters().bounds();
  }

  private static List<Map<String, Object>> members(List<Added> adds) {
    return adds.stream()
        .map(each -> {
          Map<String, Object> members = new LinkedHashMap<>();
          members.put("counter", each.counter());
          members.put("value", Decimal.text(each.value(), each.scale()));
          members.put("added", Decimal.text(each.added(), each.scale()));
          return members;
        })
        .toList();
  }

  /**
   * Returns the problem of adds of which none was applied.
   *
   * @param adds empty if they are unknown, as those of a settlement are
   * @param counter the first that was rejected; empty if the request was canceled
   */
  static Problem rejected(List<Add> adds, Bounds ofAll, String counter, AddResult.Rejected why) {
    int scale = why.scale();
    Optional<Add> first =
        adds.stream()
            .filter(each -> each.counter().equals(counter))
            .findFirst()
            .map(add -> add.at(scale));
    Problem problem =
        Rejections.problem(
            first.map(add -> Decimal.text(add.delta(), scale)).orElse("the settlement"),
            first.map(add -> CounterRoutes.bounds(add, ofAll)).orElse(Bounds.none()),
            why);
    return counter.isEmpty() ? problem : problem.with("counter", counter);
  }

  /** Returns the problem of an id that was used for something else. */
  static Problem conflict(String detail) {
    return new Problem(422, "request-id-reused", "Request id already used", detail);
  }

  /** GET /v1/requests/{id} */
  HttpReply outcome(Exchange exchange) {
    if (exchange.parameter("counter").isPresent()) {
      return counters.outcome(exchange);
    }
    exchange.allowParameters(Set.of("counter"));
    RequestId id = RequestId.of(exchange.variable());
    return reply(exchange, supported().outcome(id));
  }

  /** POST /v1/requests/{id}/cancel */
  HttpReply cancel(Exchange exchange) {
    if (exchange.parameter("counter").isPresent()) {
      return counters.cancel(exchange);
    }
    exchange.allowParameters(Set.of("counter"));
    RequestId id = RequestId.of(exchange.variable());
    return reply(exchange, supported().cancel(id));
  }

  private Transactions supported() {
    try {
      return transactions.get();
    } catch (UnsupportedOperationException e) {
      throw new UnsupportedOperationException(
          e.getMessage() + "; for a single add, send the query parameter counter", e);
    }
  }

  /** Adds an outcome that says nothing about an add with this id, whose counter was not sent. */
  private static void noAdd(Map<String, Object> members, String outcome) {
    members.put("outcome", outcome);
    members.put(
        "detail",
        "of a transaction or a hold with this id; for an add, send the query parameter counter");
  }

  private static HttpReply reply(Exchange exchange, TransactionOutcome outcome) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", exchange.variable());
    switch (outcome) {
      case TransactionOutcome.Applied applied -> {
        members.put("outcome", "applied");
        members.put("adds", members(applied.adds()));
      }
      case TransactionOutcome.Held held -> {
        members.put("outcome", "held");
        members.put("hold", HoldRoutes.members(exchange.variable(), held.hold()));
      }
      case TransactionOutcome.NotSeen notSeen -> noAdd(members, "not-seen");
      case TransactionOutcome.Canceled canceled -> noAdd(members, "canceled");
    }
    return HttpReply.json(200, members);
  }
}
