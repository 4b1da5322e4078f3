package dev.quipu.server.http.route;

import dev.quipu.Add;
import dev.quipu.Limits;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLog.Hit;
import dev.quipu.hits.HitLog.HitPage;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Problem;
import dev.quipu.store.Scan;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Serves the stored hits of counters, if the technique is {@link HitLog}. */
record HitLogRoutes(CounterRoutes counters) {
  static final String PATH = "/v1/hits/{name}";

  private static final int PAGE_HITS = 100;

  /** Memory of a hit in a response. */
  private static final int LISTED_BYTES = 1_024;

  /** Later times would not sort after earlier ones. */
  private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999Z");

  /** The time in milliseconds, and the id. */
  private static final Pattern HIT = Pattern.compile("([0-9]{1,15})-(.{1,255})");

  /** Where a page begins: see {@link HitLog#startAt}. */
  private static final Pattern PLACE = Pattern.compile("[0-9]{15}/.{0,255}");

  private HitLog hits() {
    return counters
        .counters()
        .as(HitLog.class)
        .orElseThrow(() ->
            new UnsupportedOperationException(
                "the technique keeps no hits; technique hit-log does"));
  }

  /** GET /v1/hits/{name}: the stored hits, ordered by time. */
  HttpReply list(Exchange exchange) {
    exchange.allowParameters(Set.of("from", "until", "limit", "cursor"));
    String name = exchange.variable();
    int limit = Cursor.limit(exchange, PAGE_HITS, Scan.ITEMS_MAX);
    Optional<String> from = exchange.parameter("from").map(text -> start("from", text));
    Optional<String> until = exchange.parameter("until").map(text -> start("until", text));
    if (from.isPresent() && until.isPresent() && from.get().compareTo(until.get()) > 0) {
      throw Problem.badRequest("query parameter until is before from; exchange them");
    }
    String start =
        exchange.parameter("cursor").map(text -> place(text, from)).or(() -> from).orElse("");
    HitLog log = hits();
    exchange.reserve((long) limit * LISTED_BYTES);
    HitPage page = log.page(name, start, limit);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", name);
    members.put(
        "hits",
        page.hits().stream()
            .filter(hit -> isBefore(HitLog.startAt(hit.at()), until))
            .map(HitLogRoutes::members)
            .toList());
    page.resumeAt()
        .filter(place -> isBefore(place, until))
        .ifPresent(place -> members.put("cursor", Cursor.encode(place)));
    return HttpReply.json(200, members);
  }

  private static String place(String cursor, Optional<String> from) {
    String place = Cursor.decode(cursor);
    if (!PLACE.matcher(place).matches() || isBefore(place, from.or(() -> Optional.of("")))) {
      throw Cursor.malformed();
    }
    return place;
  }

  private static boolean isBefore(String place, Optional<String> until) {
    return until.isEmpty() || place.compareTo(until.get()) < 0;
  }

  private static String start(String field, String text) {
    return HitLog.startAt(time(field, text));
  }

  private static Instant time(String field, String text) {
    Instant time = ViewRoutes.time(field, text).truncatedTo(ChronoUnit.MILLIS);
    if (time.isBefore(Instant.EPOCH) || time.isAfter(LATEST)) {
      throw Problem.badRequest(
          "%s is %s; it must be from %s to %s".formatted(field, time, Instant.EPOCH, LATEST));
    }
    return time;
  }

  private static Map<String, Object> members(Hit hit) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("hit", hit.at().toEpochMilli() + "-" + hit.id());
    members.put("at", hit.at().toString());
    members.put("amount", Long.toString(hit.amount()));
    return members;
  }

  /** POST /v1/hits/{name}: adds a hit of the past. */
  HttpReply insert(Exchange exchange) {
    exchange.allowParameters(Set.of());
    JsonBody body = exchange.json(Set.of("amount", "at"));
    long amount = body.number("amount");
    if (amount == 0) {
      throw Problem.badRequest("field amount is 0; send another number, which is added");
    }
    Instant at = time("field at", body.text("at"));
    Add add = new Add(exchange.variable(), amount, exchange.idempotencyKey().orElse(null));
    return counters.reply(add, hits().add(add, at));
  }

  /** PUT /v1/hits/{name}: changes the amount of a hit. */
  HttpReply set(Exchange exchange) {
    long amount = exchange.json(Set.of("amount"), Set.of("hit")).number("amount");
    Hit hit = edit(exchange, amount);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", exchange.variable());
    members.putAll(members(new Hit(hit.at(), hit.id(), amount)));
    return HttpReply.json(200, members);
  }

  /** DELETE /v1/hits/{name} */
  HttpReply delete(Exchange exchange) {
    edit(exchange, 0);
    return HttpReply.text(204, "text/plain", "");
  }

  private Hit edit(Exchange exchange, long amount) {
    exchange.requireNoIdempotencyKey("omit it: a repeat has the same effect");
    exchange.allowParameters(Set.of("hit"));
    String text = exchange.requiredParameter("hit");
    Matcher parts = HIT.matcher(text);
    if (!parts.matches()) {
      throw Problem.badRequest(
          "query parameter hit is '%s'; send the field hit of a listed hit"
              .formatted(text.length() > Limits.REQUEST_ID_BYTES_MAX ? "too long" : text));
    }
    Instant at = Instant.ofEpochMilli(Long.parseLong(parts.group(1)));
    Hit hit = new Hit(at, parts.group(2), amount);
    String name = exchange.variable();
    if (!hits().edit(name, hit, amount)) {
      throw Problem.notFound(
          "no hit %s of counter %s is stored; if it was swept, add the difference instead"
              .formatted(text, name));
    }
    return hit;
  }
}
