package dev.quipu.server.http.route;

import dev.quipu.engine.history.HistoryStep;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.rank.Movers;
import dev.quipu.server.rank.Place;
import dev.quipu.server.rank.Selection;
import dev.quipu.time.Clock;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import tools.jackson.core.JsonGenerator;

/**
 * A request for a ranking by change or by rate.
 *
 * @param sort in the request
 * @param from since when the changes are: a boundary, or when the first recording began
 * @param nowMillis the time of the request
 */
record ByChange(String sort, Movers movers, Instant from, Optional<Place> after, long nowMillis) {
  /** The orders. */
  static final List<String> SORTS = List.of("change", "-change", "rate", "-rate");

  /** The parameters that only such a request has. */
  static final List<String> PARAMETERS = List.of("step", "tz", "since");

  private static final int RATE_DIGITS = 3;

  /** Returns whether an order is one of these. */
  static boolean isSort(String sort) {
    return SORTS.contains(sort);
  }

  /** Returns the ranking that a request is for. */
  static ByChange of(Exchange exchange, Clock clock, Selection selection, String sort) {
    if (isRate(sort)) {
      reject(exchange);
    }
    long now = clock.epochMillis();
    Optional<String> cursor =
        exchange
            .parameter("cursor")
            .map(Cursor::decode)
            .map(text -> RankRoutes.after(sort + " ", text));
    Instant since =
        cursor
            .map(ByChange::sinceOf)
            .orElseGet(() -> isRate(sort) ? aMinuteBefore(now) : since(exchange, now));
    if (cursor.isPresent()
        && exchange.parameter("since").isPresent()
        && !since.equals(since(exchange, now))) {
      throw Problem.badRequest("query parameter since is not that of the cursor");
    }
    return new ByChange(
        sort,
        new Movers(selection, since, sort.startsWith("-")),
        since,
        cursor.map(text -> RankRoutes.place(text.substring(text.indexOf(' ') + 1))),
        now);
  }

  /** Rejects the parameters of such a request in another one. */
  static void reject(Exchange exchange) {
    for (String each : PARAMETERS) {
      if (exchange.parameter(each).isPresent()) {
        throw Problem.badRequest("query parameter %s needs sort=change or -change".formatted(each));
      }
    }
  }

  /** Returns the same with changes that are known from a later time on. */
  ByChange recordedSince(Optional<Instant> began) {
    Instant known = began.filter(it -> it.isAfter(from)).orElse(from);
    return new ByChange(sort, movers, known, after, nowMillis);
  }

  /** Writes the change, and the rate if the ranking is by rate. */
  void write(JsonGenerator json, BigDecimal change) {
    json.writeStringProperty("change", change.toPlainString());
    if (isRate(sort)) {
      long millis = Math.max(1, nowMillis - from.toEpochMilli());
      json.writeStringProperty("rate", perSecond(change, millis));
    }
  }

  /**
   * Returns a reply with the members of each thing of a page.
   *
   * @param field the name of the list
   * @param resumeAfter the place after which the next page starts
   * @param each writes the members of one
   */
  <T> HttpReply reply(
      String field, List<T> page, Optional<Place> resumeAfter, BiConsumer<JsonGenerator, T> each) {
    return HttpReply.written(
        200,
        json -> {
          json.writeStartObject();
          json.writeStringProperty("since", from.toString());
          json.writeArrayPropertyStart(field);
          for (T one : page) {
            json.writeStartObject();
            each.accept(json, one);
            json.writeEndObject();
          }
          json.writeEndArray();
          resumeAfter
              .map(place ->
                  "%s %d %s".formatted(sort, movers.since().toEpochMilli(), RankRoutes.text(place)))
              .ifPresent(place -> json.writeStringProperty("cursor", Cursor.encode(place)));
          json.writeEndObject();
        });
  }

  /** Returns a reply with a page of what moved: the name, the value and the change of each. */
  HttpReply reply(String field, String name, Movers.Page page) {
    return reply(
        field,
        page.moved(),
        page.resumeAfter(),
        (json, each) -> {
          json.writeStringProperty(name, each.name());
          each.reading().ifPresent(it -> json.writeStringProperty("value", it.text(it.value())));
          write(json, each.change());
        });
  }

  private static boolean isRate(String sort) {
    return sort.endsWith("rate");
  }

  private static String perSecond(BigDecimal change, long millis) {
    return change
        .multiply(BigDecimal.valueOf(1_000))
        .divide(BigDecimal.valueOf(millis), RATE_DIGITS, RoundingMode.HALF_EVEN)
        .toPlainString();
  }

  /** Returns the last boundary between minutes that is at least a minute before. */
  private static Instant aMinuteBefore(long nowMillis) {
    return Instant.ofEpochMilli(nowMillis)
        .minus(1, ChronoUnit.MINUTES)
        .truncatedTo(ChronoUnit.MINUTES);
  }

  /** Returns the boundary in a request; by default, the start of the present bucket. */
  private static Instant since(Exchange exchange, long nowMillis) {
    HistoryStep step = HistoryRoutes.step(exchange);
    long at = HistoryRoutes.time(exchange, "since").map(Instant::toEpochMilli).orElse(nowMillis);
    if (at > nowMillis) {
      throw Problem.badRequest("query parameter since is in the future");
    }
    return Instant.ofEpochMilli(step.floor(at));
  }

  private static Instant sinceOf(String cursor) {
    String first = cursor.substring(0, Math.max(0, cursor.indexOf(' ')));
    if (!first.matches("[0-9]{1,14}")) {
      throw Cursor.malformed();
    }
    return Instant.ofEpochMilli(Long.parseLong(first));
  }
}
