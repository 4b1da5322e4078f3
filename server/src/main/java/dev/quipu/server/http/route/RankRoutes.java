package dev.quipu.server.http.route;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.backend.CounterHistory;
import dev.quipu.engine.history.HistoryStep;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.rank.Movers;
import dev.quipu.server.rank.Namespaces;
import dev.quipu.server.rank.Place;
import dev.quipu.server.rank.Ranking;
import dev.quipu.server.rank.Selection;
import dev.quipu.time.Clock;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import tools.jackson.core.JsonGenerator;

/** Serves counters by value or by a part of their names, and namespaces with sums. */
record RankRoutes(Counters counters, Clock clock) {
  private static final String SORT = "sort";
  private static final String TEXT = "q";
  private static final Set<String> SORTS =
      Set.of("name", "value", "-value", "change", "-change", "rate", "-rate");
  static final Set<String> PARAMETERS =
      Set.of("prefix", "limit", "cursor", "step", "tz", "since", SORT, TEXT);
  private static final int RATE_DIGITS = 3;
  private static final int PAGE_COUNTERS = 100;
  private static final char CURSOR_SEPARATOR = ' '; // after the value, which has none

  /** Returns whether a listing is one of these, and not simply by name. */
  static boolean isFor(Exchange exchange) {
    return Stream.of(SORT, TEXT, "step", "tz", "since")
        .anyMatch(each -> exchange.parameter(each).isPresent());
  }

  /** GET /v1/counters with sort or q */
  HttpReply list(Exchange exchange) {
    exchange.allowParameters(PARAMETERS);
    String sort = exchange.parameter(SORT).orElse("name");
    if (!SORTS.contains(sort)) {
      throw Problem.badRequest(
          "query parameter sort is '%s'; it must be name, value, -value, change, -change, rate or -rate"
              .formatted(sort));
    }
    Selection selection =
        new Selection(exchange.parameter("prefix").orElse(""), exchange.parameter(TEXT).orElse(""));
    int limit = Cursor.limit(exchange, PAGE_COUNTERS, Limits.PAGE_COUNTERS_MAX);
    exchange.reserve((2L * limit + Limits.PAGE_COUNTERS_MAX) * CounterRoutes.LISTED_BYTES);
    if (sort.endsWith("change") || sort.endsWith("rate")) {
      return counters(exchange, byChange(exchange, selection, sort), limit);
    }
    rejectPeriod(exchange);
    return sort.equals("name")
        ? byName(exchange, selection, limit)
        : byValue(exchange, new Ranking(selection, sort.equals("-value")), limit);
  }

  private HttpReply byName(Exchange exchange, Selection selection, int limit) {
    String after = Cursor.nameAfter(exchange, selection.prefix());
    CounterPage page = selection.page(counters::list, after, limit, exchange::mayBegin);
    return reply(page.counters(), page.resumeAfter());
  }

  private HttpReply byValue(Exchange exchange, Ranking ranking, int limit) {
    Optional<Place> after = exchange.parameter("cursor").map(Cursor::decode).map(RankRoutes::place);
    Ranking.Page page = ranking.page(counters::list, after, limit, exchange::mayBegin);
    return reply(page.counters(), page.resumeAfter().map(RankRoutes::text));
  }

  static String text(Place place) {
    return place.rank().toPlainString() + CURSOR_SEPARATOR + place.name();
  }

  static Place place(String cursor) {
    int end = cursor.indexOf(CURSOR_SEPARATOR);
    if (end > 0 && cursor.substring(0, end).matches("-?[0-9]{1,20}(\\.[0-9]{1,18})?")) {
      return new Place(new BigDecimal(cursor.substring(0, end)), cursor.substring(end + 1));
    }
    throw Cursor.malformed();
  }

  /**
   * A ranking by change.
   *
   * @param sort in the request
   * @param from since when the changes are: a boundary, or when the first recording began
   */
  private record ByChange(
      String sort, Movers movers, CounterHistory history, Instant from, Optional<Place> after) {
    boolean isRate() {
      return sort.endsWith("rate");
    }

    void write(JsonGenerator json, BigDecimal change, long nowMillis) {
      json.writeStringProperty("change", change.toPlainString());
      if (isRate()) {
        long millis = Math.max(1, nowMillis - from.toEpochMilli());
        json.writeStringProperty("rate", rate(change, millis));
      }
    }

    /** Returns a reply with the members of each thing of a page. */
    <T> HttpReply reply(
        String field,
        List<T> page,
        Optional<Place> resumeAfter,
        BiConsumer<JsonGenerator, T> each) {
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
                .map(place -> sort + " " + movers.since().toEpochMilli() + " " + text(place))
                .ifPresent(place -> json.writeStringProperty("cursor", Cursor.encode(place)));
            json.writeEndObject();
          });
    }
  }

  private ByChange byChange(Exchange exchange, Selection selection, String sort) {
    boolean isRate = sort.endsWith("rate");
    if (isRate) {
      rejectPeriod(exchange);
    }
    Optional<String> cursor =
        exchange.parameter("cursor").map(Cursor::decode).map(text -> after(sort + " ", text));
    Instant since =
        cursor.map(RankRoutes::sinceOf).orElseGet(() -> isRate ? aMinuteAgo() : since(exchange));
    CounterHistory history = HistoryRoutes.history(counters);
    return new ByChange(
        sort,
        new Movers(selection, since, sort.startsWith("-")),
        history,
        history.began(selection.prefix()).filter(began -> began.isAfter(since)).orElse(since),
        cursor.map(text -> place(text.substring(text.indexOf(CURSOR_SEPARATOR) + 1))));
  }

  private HttpReply counters(Exchange exchange, ByChange ranking, int limit) {
    Movers.Page page =
        ranking.movers.page(ranking.history, counters, ranking.after, limit, exchange::mayBegin);
    long now = clock.epochMillis();
    return ranking.reply(
        "counters",
        page.counters(),
        page.resumeAfter(),
        (json, each) -> {
          json.writeStringProperty("name", each.name());
          each.reading()
              .ifPresent(
                  reading -> json.writeStringProperty("value", reading.text(reading.value())));
          ranking.write(json, each.change(), now);
        });
  }

  private HttpReply namespaces(Exchange exchange, ByChange ranking, int limit) {
    Namespaces.Ranked page =
        Namespaces.byChange(
            ranking.history, counters, ranking.movers, ranking.after, limit, exchange::mayBegin);
    long now = clock.epochMillis();
    return ranking.reply(
        "namespaces",
        page.namespaces(),
        page.resumeAfter(),
        (json, each) -> {
          json.writeStringProperty("name", each.name());
          json.writeNumberProperty("counters", each.counters());
          ranking.write(json, each.sum(), now);
        });
  }

  private static void rejectPeriod(Exchange exchange) {
    for (String each : List.of("step", "tz", "since")) {
      if (exchange.parameter(each).isPresent()) {
        throw Problem.badRequest("query parameter %s needs sort=change or -change".formatted(each));
      }
    }
  }

  private static String after(String start, String text) {
    if (!text.startsWith(start)) { // of another ranking
      throw Cursor.malformed();
    }
    return text.substring(start.length());
  }

  /** Returns a change per second. */
  private static String rate(BigDecimal change, long millis) {
    return change
        .multiply(BigDecimal.valueOf(1_000))
        .divide(BigDecimal.valueOf(millis), RATE_DIGITS, RoundingMode.HALF_EVEN)
        .toPlainString();
  }

  /** Returns the last boundary between minutes that is at least a minute ago. */
  private Instant aMinuteAgo() {
    return Instant.ofEpochMilli(clock.epochMillis())
        .minus(1, ChronoUnit.MINUTES)
        .truncatedTo(ChronoUnit.MINUTES);
  }

  /** Returns the boundary in a request; by default, the start of the present bucket. */
  private Instant since(Exchange exchange) {
    HistoryStep step = HistoryRoutes.step(exchange);
    long at =
        HistoryRoutes.time(exchange, "since")
            .map(Instant::toEpochMilli)
            .orElse(clock.epochMillis());
    if (at > clock.epochMillis()) {
      throw Problem.badRequest("query parameter since is in the future");
    }
    return Instant.ofEpochMilli(step.floor(at));
  }

  private static Instant sinceOf(String cursor) {
    String first = cursor.substring(0, Math.max(0, cursor.indexOf(CURSOR_SEPARATOR)));
    if (!first.matches("[0-9]{1,15}")) {
      throw Cursor.malformed();
    }
    return Instant.ofEpochMilli(Long.parseLong(first));
  }

  private static HttpReply reply(List<CounterPage.Entry> page, Optional<String> cursor) {
    return HttpReply.written(
        200,
        json -> {
          json.writeStartObject();
          json.writeArrayPropertyStart("counters");
          page.forEach(each -> CounterRoutes.write(json, each.name(), each.reading()));
          json.writeEndArray();
          cursor.ifPresent(place -> json.writeStringProperty("cursor", Cursor.encode(place)));
          json.writeEndObject();
        });
  }

  /** GET /v1/namespaces */
  HttpReply namespaces(Exchange exchange) {
    exchange.allowParameters(Set.of("prefix", "limit", "cursor", "step", "tz", "since", SORT));
    String sort = exchange.parameter(SORT).orElse("name");
    if (!sort.matches("name|-?(sum|change|rate)")) {
      throw Problem.badRequest(
          "query parameter sort is '%s'; it must be name, sum, -sum, change, -change, rate or -rate"
              .formatted(sort));
    }
    String prefix = exchange.parameter("prefix").orElse("");
    int limit = Cursor.limit(exchange, PAGE_COUNTERS, Limits.PAGE_COUNTERS_MAX);
    exchange.reserve(((long) limit + Limits.PAGE_COUNTERS_MAX) * CounterRoutes.LISTED_BYTES);
    if (sort.endsWith("change") || sort.endsWith("rate")) {
      return namespaces(exchange, byChange(exchange, new Selection(prefix, ""), sort), limit);
    }
    rejectPeriod(exchange);
    if (sort.equals("name")) {
      String after = Cursor.nameAfter(exchange, prefix);
      Namespaces.Page page =
          Namespaces.byName(counters::list, prefix, after, limit, exchange::mayBegin);
      return namespaces(page.namespaces(), page.resumeAfter());
    }
    Optional<Place> after = exchange.parameter("cursor").map(Cursor::decode).map(RankRoutes::place);
    Namespaces.Ranked ranked =
        Namespaces.bySum(
            counters::list, prefix, sort.equals("-sum"), after, limit, exchange::mayBegin);
    return namespaces(ranked.namespaces(), ranked.resumeAfter().map(RankRoutes::text));
  }

  private static HttpReply namespaces(
      List<Namespaces.Namespace> page, Optional<String> resumeAfter) {
    return HttpReply.written(
        200,
        json -> {
          json.writeStartObject();
          json.writeArrayPropertyStart("namespaces");
          for (Namespaces.Namespace each : page) {
            json.writeStartObject();
            json.writeStringProperty("name", each.name());
            json.writeNumberProperty("counters", each.counters());
            json.writeStringProperty("sum", each.sum().toPlainString());
            json.writeEndObject();
          }
          json.writeEndArray();
          resumeAfter.ifPresent(name -> json.writeStringProperty("cursor", Cursor.encode(name)));
          json.writeEndObject();
        });
  }
}
