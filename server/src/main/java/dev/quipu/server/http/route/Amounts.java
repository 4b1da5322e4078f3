package dev.quipu.server.http.route;

import dev.quipu.Add;
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

  /**
   * Reads the field {@code adds}: 1 to 64, each to another counter.
   *
   * @param inUnits whether amounts are in units of their counters
   */
  static List<Add> adds(JsonBody body, boolean inUnits) {
    List<Add> adds = new ArrayList<>();
    for (JsonBody each : body.objects("adds", FIELDS)) {
      adds.add(add(each.text("counter"), each, inUnits));
    }
    try {
      return Transactions.check(adds);
    } catch (IllegalArgumentException e) {
      throw Problem.badRequest("field adds: " + e.getMessage());
    }
  }

  /** Reads {@code delta}, {@code floor} and {@code ceiling} of an add without an id. */
  static Add add(String counter, JsonBody body, boolean inUnits) {
    try {
      return CounterRoutes.read(counter, body, null, inUnits);
    } catch (IllegalArgumentException e) {
      throw Problem.badRequest(body.place() + e.getMessage());
    }
  }
}
