package dev.quipu.server.http.route;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Transactions;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Reads the amounts of transactions and holds from requests, and writes them to responses. */
final class Amounts {
  private static final Set<String> FIELDS = Set.of("counter", "delta", "floor", "ceiling");

  /** Memory of a body while it is decoded and parsed, for each of its bytes. */
  private static final long PARSED_FACTOR = 4;

  private Amounts() {}

  /** Reserves the memory of a request with a list of adds, or throws a problem. */
  static void reserve(Exchange exchange) {
    exchange.reserve(
        PARSED_FACTOR * exchange.bodyBytes()
            + (long) Transactions.COUNTERS_MAX * CounterRoutes.LISTED_BYTES);
  }

  /** Reads the field {@code adds}: 1 to 64, each to another counter. */
  static List<Add> adds(JsonBody body) {
    List<Add> adds = new ArrayList<>();
    for (JsonBody each : body.objects("adds", FIELDS)) {
      adds.add(add(each.text("counter"), each));
    }
    try {
      return Transactions.check(adds);
    } catch (IllegalArgumentException e) {
      throw Problem.badRequest("field adds: " + e.getMessage());
    }
  }

  /** Reads {@code delta}, {@code floor} and {@code ceiling} of an add without an id. */
  static Add add(String counter, JsonBody body) {
    long delta = body.number("delta");
    long floor = body.optionalNumber("floor").orElse(Long.MIN_VALUE);
    long ceiling = body.optionalNumber("ceiling").orElse(Long.MAX_VALUE);
    try {
      return new Add(counter, delta, new Bounds(floor, ceiling), null);
    } catch (IllegalArgumentException e) {
      throw Problem.badRequest(body.place() + e.getMessage());
    }
  }

  /** Reads the {@code delta} of a settlement. */
  static long delta(JsonBody body) {
    return body.number("delta");
  }

  /** Returns an amount or a value of a counter as it is sent. */
  static String text(String counter, long amount) {
    return Long.toString(amount);
  }
}
