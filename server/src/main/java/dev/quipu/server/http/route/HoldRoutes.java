package dev.quipu.server.http.route;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Decimal;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.Transactions;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Problem;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves holds: amounts that are reserved first, and settled or released later.
 *
 * @param bounds returns those of adds that have none of their own
 */
record HoldRoutes(Supplier<Holds> holds, Supplier<Bounds> bounds) {
  private static final int PAGE_HOLDS = 100;

  /** Holds that are read at once: each may have 64 counters with long names. */
  private static final int BATCH_HOLDS = 16;

  /** A page ends early when its names have this length, in characters. */
  private static final int PAGE_CHARACTERS = 1 << 20;

  private static final int ENCODED_FACTOR = 6;

  private static final String RETURNED = ". Everything was returned";
  private static final String NOT_LATE =
      ". Only a hold with late apply, whose counters exist, can be settled after its expiry; add"
          + " what was used";

  private static final String ID_REMEDY = "the id of the hold in the path is enough";

  /** POST /v1/counters/{name}/holds */
  HttpReply placeOne(Exchange exchange) {
    Amounts.reserve(exchange);
    RequestId id = exchange.requiredIdempotencyKey();
    JsonBody body = exchange.json(Set.of("delta", "floor", "ceiling", "ttl", "late", "excess"));
    return place(id, List.of(Amounts.add(exchange.variable(), body, exchange.isInUnits())), body);
  }

  /** POST /v1/holds */
  HttpReply place(Exchange exchange) {
    Amounts.reserve(exchange);
    RequestId id = exchange.requiredIdempotencyKey();
    JsonBody body = exchange.json(Set.of("adds", "ttl", "late", "excess"));
    return place(id, Amounts.adds(body, exchange.isInUnits()), body);
  }

  private HttpReply place(RequestId id, List<Add> adds, JsonBody body) {
    HoldRequest request =
        new HoldRequest(
            id,
            adds,
            ttl(body),
            policy(body, "late", HoldRequest.Late.REJECT, HoldRequest.Late.values()),
            policy(body, "excess", HoldRequest.Excess.REJECT, HoldRequest.Excess.values()));
    HoldResult result = holds.get().place(request);
    boolean isNew = result instanceof HoldResult.Done done && !done.isReplayed();
    return reply(isNew ? 201 : 200, id.text(), adds, result, "");
  }

  private static Duration ttl(JsonBody body) {
    String text = body.text("ttl");
    try {
      return HoldRequest.checkTtl(Duration.parse(text));
    } catch (DateTimeParseException e) {
      throw Problem.badRequest(
          "field ttl is '%s'; send an ISO-8601 duration, such as PT10M".formatted(text));
    } catch (IllegalArgumentException e) {
      throw Problem.badRequest("field " + e.getMessage());
    }
  }

  private static <E extends Enum<E>> E policy(
      JsonBody body, String field, E otherwise, E[] policies) {
    String text = body.optionalText(field).orElse(word(otherwise));
    for (E each : policies) {
      if (word(each).equals(text)) {
        return each;
      }
    }
    throw Problem.badRequest(
        "field %s is '%s'; it must be %s or %s"
            .formatted(field, text, word(policies[0]), word(policies[1])));
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** POST /v1/holds/{id}/settle */
  HttpReply settle(Exchange exchange) {
    exchange.requireNoIdempotencyKey(ID_REMEDY);
    Amounts.reserve(exchange);
    JsonBody body = exchange.json(Set.of("delta", "adds"));
    if (body.has("delta") == body.has("adds")) {
      throw Problem.badRequest(
          "send either delta, to keep the same on each counter, or adds, with counter and delta");
    }
    Settlement settlement = exchange.isInUnits() ? inUnits(body) : decimals(body);
    return change(
        exchange,
        NOT_LATE,
        id -> {
          HoldResult result = holds.get().settle(id, settlement);
          if (result instanceof HoldResult.Rejected rejected) {
            throw beyond(id, settlement, rejected);
          }
          return result;
        });
  }

  /** Returns the problem of a settlement that a bound rejects; only it has the amounts. */
  private Problem beyond(RequestId id, Settlement settlement, HoldResult.Rejected rejected) {
    String what = "the settlement";
    Optional<HoldReading> hold = holds.get().find(id);
    List<HoldReading.Part> parts = hold.map(HoldReading::counters).orElseGet(List::of);
    long[] kept = hold.map(settlement::deltasFor).orElseGet(() -> new long[0]);
    for (int i = 0; i < kept.length; i++) {
      HoldReading.Part part = parts.get(i);
      if (part.counter().equals(rejected.counter())) {
        what =
            "%s, by which the settlement exceeds the %s that the hold reserved,"
                .formatted(part.text(kept[i] - part.delta()), part.text(part.delta()));
      }
    }
    AddResult.Rejected why =
        new AddResult.Rejected(
            rejected.why(), rejected.valueIfKnown(), List.of(), rejected.scale());
    Problem problem = Rejections.problem(what, Bounds.none(), why);
    return rejected.counter().isEmpty() ? problem : problem.with("counter", rejected.counter());
  }

  private static Settlement inUnits(JsonBody body) {
    return body.has("delta")
        ? Settlement.each(body.number("delta"))
        : Settlement.of(deltas(body, each -> each.number("delta")));
  }

  private static Settlement decimals(JsonBody body) {
    return body.has("delta")
        ? Settlement.each(body.decimal("delta"))
        : Settlement.ofDecimals(deltas(body, each -> each.decimal("delta")));
  }

  private static <T> Map<String, T> deltas(JsonBody body, Function<JsonBody, T> delta) {
    Map<String, T> deltas = new HashMap<>();
    for (JsonBody each : body.objects("adds", Set.of("counter", "delta"))) {
      String counter = each.text("counter");
      if (deltas.put(counter, delta.apply(each)) != null) {
        throw Problem.badRequest("field adds: two entries are for the counter " + counter);
      }
    }
    return deltas;
  }

  /** POST /v1/holds/{id}/release */
  HttpReply release(Exchange exchange) {
    exchange.requireNoIdempotencyKey(ID_REMEDY);
    exchange.allowParameters(Set.of());
    if (exchange.bodyBytes() > 0) {
      exchange.json(Set.of());
    }
    return change(exchange, RETURNED, id -> holds.get().release(id));
  }

  /** POST /v1/holds/{id}/extend */
  HttpReply extend(Exchange exchange) {
    exchange.requireNoIdempotencyKey(ID_REMEDY);
    Duration ttl = ttl(exchange.json(Set.of("ttl")));
    return change(exchange, RETURNED, id -> holds.get().extend(id, ttl));
  }

  /**
   * Changes a hold.
   *
   * @param whyExpired what it means for the call that the hold has expired
   */
  private HttpReply change(
      Exchange exchange, String whyExpired, Function<RequestId, HoldResult> call) {
    HoldResult result = call.apply(RequestId.of(exchange.variable()));
    return reply(200, exchange.variable(), List.of(), result, whyExpired);
  }

  private HttpReply reply(
      int status, String id, List<Add> adds, HoldResult result, String whyExpired) {
    return switch (result) {
      case HoldResult.Done done -> {
        Map<String, Object> members = members(id, done.hold());
        members.put("replayed", done.isReplayed());
        HttpReply reply = HttpReply.json(status, members);
        yield done.isReplayed() ? reply.with(TransactionRoutes.REPLAYED, "true") : reply;
      }
      case HoldResult.Rejected rejected ->
          throw TransactionRoutes.rejected(
              adds,
              bounds.get(),
              rejected.counter(),
              new AddResult.Rejected(
                  rejected.why(), rejected.valueIfKnown(), List.of(), rejected.scale()));
      case HoldResult.Exceeded exceeded ->
          throw new Problem(
                  409,
                  "hold-exceeded",
                  "Hold exceeded",
                  result.explanation()
                      + "; nothing changed. Place it with excess allow to add more")
              .with("counter", exceeded.counter())
              .with("held", Decimal.text(exceeded.held(), exceeded.scale()));
      case HoldResult.Closed closed ->
          throw new Problem(
                  409,
                  "hold-closed",
                  "Hold closed",
                  "hold %s %s; nothing changed%s"
                      .formatted(
                          id,
                          closed.hold().explanation(),
                          closed.hold().state() == HoldReading.State.EXPIRED ? whyExpired : ""))
              .with("state", word(closed.hold().state()))
              .with("hold", members(id, closed.hold()));
      case HoldResult.NotFound notFound -> throw notFound();
      case HoldResult.Conflict conflict -> throw TransactionRoutes.conflict(result.explanation());
    };
  }

  private static Problem notFound() {
    return new Problem(
        404,
        "hold-not-found",
        "Hold not found",
        "no hold with this id is known: it was never placed, or is no longer remembered");
  }

  /** GET /v1/holds/{id} */
  HttpReply read(Exchange exchange) {
    exchange.allowParameters(Set.of());
    HoldReading hold =
        holds.get().find(RequestId.of(exchange.variable())).orElseThrow(HoldRoutes::notFound);
    return HttpReply.json(200, members(exchange.variable(), hold));
  }

  /** GET /v1/counters/{name}/holds */
  HttpReply list(Exchange exchange) {
    exchange.allowParameters(Set.of("limit", "cursor"));
    int limit = Cursor.limit(exchange, PAGE_HOLDS, Holds.PAGE_HOLDS_MAX);
    RequestId after = exchange.parameter("cursor").map(HoldRoutes::place).orElse(null);
    List<Map<String, Object>> page = new ArrayList<>();
    long characters = 0;
    boolean hasMore = true;
    while (hasMore && page.size() < limit && characters < PAGE_CHARACTERS) {
      int size = Math.min(limit - page.size(), BATCH_HOLDS);
      exchange.reserve(
          ENCODED_FACTOR * characters
              + (long) size * Transactions.COUNTERS_MAX * CounterRoutes.LISTED_BYTES);
      List<HoldReading> batch = holds.get().list(exchange.variable(), after, size);
      for (HoldReading each : batch) {
        page.add(members(each.id().text(), each));
        characters += characters(each);
        after = each.id();
      }
      hasMore = batch.size() == size;
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("holds", page);
    if (hasMore && after != null) {
      members.put("cursor", Cursor.encode(after.bits()));
    }
    return HttpReply.json(200, members);
  }

  private static @Nullable RequestId place(String cursor) {
    String bits = Cursor.decode(cursor);
    RequestId id = bits.length() == 32 ? RequestId.of(bits) : null;
    if (id == null || !id.bits().equals(bits)) {
      throw Cursor.malformed();
    }
    return id;
  }

  /** Returns the approximate length of a hold in the response. */
  private static long characters(HoldReading hold) {
    return 256 + hold.counters().stream().mapToLong(part -> part.counter().length() + 96L).sum();
  }

  /** Returns the members of a hold in a response. */
  static Map<String, Object> members(String id, HoldReading hold) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", id);
    members.put("state", word(hold.state()));
    members.put("counters", hold.counters().stream().map(HoldRoutes::members).toList());
    members.put("expires", hold.expires().toString());
    if (hold.isLate()) {
      members.put("late", true);
    }
    return members;
  }

  private static Map<String, Object> members(HoldReading.Part part) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("counter", part.counter());
    members.put("delta", part.text(part.delta()));
    part.settled().ifPresent(settled -> members.put("settled", part.text(settled)));
    return members;
  }

  /** Returns whether an open hold on the counter has a bound. */
  static boolean hasBound(Holds.Balance balance) {
    return balance.aboveFloor().isPresent() || balance.belowCeiling().isPresent();
  }

  /** Adds what is held of a counter to the members of its reading. */
  static void addBalance(Map<String, Object> members, Reading reading, Holds.Balance balance) {
    Map<String, Object> available = new LinkedHashMap<>();
    balance.aboveFloor().ifPresent(left -> available.put("floor", reading.text(left)));
    balance.belowCeiling().ifPresent(left -> available.put("ceiling", reading.text(left)));
    members.put("held", reading.text(balance.held()));
    members.put("available", available);
  }
}
