package dev.quipu.server.http.route;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.backend.CounterHistory;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.rank.Namespaces;
import dev.quipu.server.rank.Place;
import dev.quipu.server.rank.Ranking;
import dev.quipu.server.rank.Selection;
import dev.quipu.time.Clock;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Serves counters by value or by a part of their names, and namespaces with sums. */
record RankRoutes(Counters counters, Clock clock) {
  private static final String SORT = "sort";
  private static final String TEXT = "q";
  private static final Set<String> SORTS =
      Set.of("name", "value", "-value", "change", "-change", "rate", "-rate");
  static final Set<String> PARAMETERS =
      Set.of("prefix", "limit", "cursor", "step", "tz", "since", SORT, TEXT);
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
    if (ByChange.isSort(sort)) {
      return counters(exchange, byChange(exchange, selection, sort), limit);
    }
    ByChange.reject(exchange);
    return sort.equals("name")
        ? byName(exchange, selection, limit)
        : byValue(exchange, selection, sort, limit);
  }

  private HttpReply byName(Exchange exchange, Selection selection, int limit) {
    String after = Cursor.nameAfter(exchange, selection.prefix());
    CounterPage page = selection.page(counters::list, after, limit, exchange::mayBegin);
    return reply(page.counters(), page.resumeAfter());
  }

  private HttpReply byValue(Exchange exchange, Selection selection, String sort, int limit) {
    Ranking.Page page =
        new Ranking(selection, sort.equals("-value"))
            .page(counters::list, after(exchange, sort), limit, exchange::mayBegin);
    return reply(page.counters(), page.resumeAfter().map(place -> text(sort, place)));
  }

  /** Returns the place in the cursor of a request, which must be of the same order. */
  static Optional<Place> after(Exchange exchange, String sort) {
    return exchange
        .parameter("cursor")
        .map(Cursor::decode)
        .map(text -> place(after(sort + CURSOR_SEPARATOR, text)));
  }

  /** Returns what follows the start of a cursor. */
  static String after(String start, String text) {
    if (!text.startsWith(start)) { // of another ranking
      throw Cursor.malformed();
    }
    return text.substring(start.length());
  }

  /** Returns the cursor of an order. */
  static String text(String sort, Place place) {
    return sort + CURSOR_SEPARATOR + text(place);
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

  private ByChange byChange(Exchange exchange, Selection selection, String sort) {
    CounterHistory history = HistoryRoutes.history(counters);
    return ByChange.of(exchange, clock, selection, sort)
        .recordedSince(history.began(selection.prefix()));
  }

  private HttpReply counters(Exchange exchange, ByChange ranking, int limit) {
    CounterHistory history = HistoryRoutes.history(counters);
    return ranking.reply(
        "counters",
        "name",
        ranking.movers().page(history, counters, ranking.after(), limit, exchange::mayBegin));
  }

  private HttpReply namespaces(Exchange exchange, ByChange ranking, int limit) {
    Namespaces.Ranked page =
        Namespaces.byChange(
            HistoryRoutes.history(counters),
            counters,
            ranking.movers(),
            ranking.after(),
            limit,
            exchange::mayBegin);
    return ranking.reply(
        "namespaces",
        page.namespaces(),
        page.resumeAfter(),
        (json, each) -> {
          json.writeStringProperty("name", each.name());
          json.writeNumberProperty("counters", each.counters());
          ranking.write(json, each.sum());
        });
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
    if (ByChange.isSort(sort)) {
      return namespaces(exchange, byChange(exchange, new Selection(prefix, ""), sort), limit);
    }
    ByChange.reject(exchange);
    if (sort.equals("name")) {
      String after = Cursor.nameAfter(exchange, prefix);
      Namespaces.Page page =
          Namespaces.byName(counters::list, prefix, after, limit, exchange::mayBegin);
      return namespaces(page.namespaces(), page.resumeAfter());
    }
    Namespaces.Ranked ranked =
        Namespaces.bySum(
            counters::list,
            prefix,
            sort.equals("-sum"),
            after(exchange, sort),
            limit,
            exchange::mayBegin);
    return namespaces(ranked.namespaces(), ranked.resumeAfter().map(place -> text(sort, place)));
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
