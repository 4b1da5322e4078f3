package dev.quipu.server.http.route;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.rank.Namespaces;
import dev.quipu.server.rank.Ranking;
import dev.quipu.server.rank.Selection;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Serves counters by value or by a part of their names, and namespaces with sums. */
record RankRoutes(Counters counters) {
  private static final String SORT = "sort";
  private static final String TEXT = "q";
  private static final Set<String> SORTS = Set.of("name", "value", "-value");
  private static final int PAGE_COUNTERS = 100;
  private static final char CURSOR_SEPARATOR = ' '; // after the value, which has none

  /** Returns whether a listing is one of these, and not simply by name. */
  static boolean isFor(Exchange exchange) {
    return exchange.parameter(SORT).isPresent() || exchange.parameter(TEXT).isPresent();
  }

  /** GET /v1/counters with sort or q */
  HttpReply list(Exchange exchange) {
    exchange.allowParameters(Set.of("prefix", "limit", "cursor", SORT, TEXT));
    String sort = exchange.parameter(SORT).orElse("name");
    if (!SORTS.contains(sort)) {
      throw Problem.badRequest(
          "query parameter sort is '%s'; it must be name, value or -value".formatted(sort));
    }
    Selection selection =
        new Selection(exchange.parameter("prefix").orElse(""), exchange.parameter(TEXT).orElse(""));
    int limit = Cursor.limit(exchange, PAGE_COUNTERS, Limits.PAGE_COUNTERS_MAX);
    exchange.reserve((2L * limit + Limits.PAGE_COUNTERS_MAX) * CounterRoutes.LISTED_BYTES);
    return sort.equals("name")
        ? byName(exchange, selection, limit)
        : byValue(exchange, new Ranking(selection, sort.equals("-value")), limit);
  }

  private HttpReply byName(Exchange exchange, Selection selection, int limit) {
    String after = Cursor.nameAfter(exchange, selection.prefix());
    List<CounterPage.Entry> found = new ArrayList<>();
    Optional<String> rest =
        selection.forEach(
            counters,
            after,
            exchange::mayBegin,
            counter -> {
              boolean isFull = found.size() == limit;
              if (!isFull) {
                found.add(counter);
              }
              return !isFull;
            });
    return reply(found, rest);
  }

  private HttpReply byValue(Exchange exchange, Ranking ranking, int limit) {
    Optional<Ranking.Place> after =
        exchange.parameter("cursor").map(Cursor::decode).map(RankRoutes::place);
    Ranking.Page page = ranking.page(counters, after, limit, exchange::mayBegin);
    return reply(
        page.counters(),
        page.resumeAfter()
            .map(place -> place.value().toPlainString() + CURSOR_SEPARATOR + place.name()));
  }

  private static Ranking.Place place(String cursor) {
    int end = cursor.indexOf(CURSOR_SEPARATOR);
    if (end > 0 && cursor.substring(0, end).matches("-?[0-9]{1,19}(\\.[0-9]{1,18})?")) {
      return new Ranking.Place(new BigDecimal(cursor.substring(0, end)), cursor.substring(end + 1));
    }
    throw Cursor.malformed();
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
    exchange.allowParameters(Set.of("prefix", "limit", "cursor"));
    String prefix = exchange.parameter("prefix").orElse("");
    int limit = Cursor.limit(exchange, PAGE_COUNTERS, Limits.PAGE_COUNTERS_MAX);
    String after = Cursor.nameAfter(exchange, prefix);
    exchange.reserve(((long) limit + Limits.PAGE_COUNTERS_MAX) * CounterRoutes.LISTED_BYTES);
    Namespaces.Page page = Namespaces.page(counters, prefix, after, limit, exchange::mayBegin);
    return HttpReply.written(
        200,
        json -> {
          json.writeStartObject();
          json.writeArrayPropertyStart("namespaces");
          for (Namespaces.Namespace each : page.namespaces()) {
            json.writeStartObject();
            json.writeStringProperty("name", each.name());
            json.writeNumberProperty("counters", each.counters());
            json.writeStringProperty("sum", each.sum().toPlainString());
            json.writeEndObject();
          }
          json.writeEndArray();
          page.resumeAfter()
              .ifPresent(name -> json.writeStringProperty("cursor", Cursor.encode(name)));
          json.writeEndObject();
        });
  }
}
