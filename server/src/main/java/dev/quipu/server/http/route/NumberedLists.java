package dev.quipu.server.http.route;

import dev.quipu.CounterPage;
import dev.quipu.Limits;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.rank.Listing;
import dev.quipu.server.rank.Ranking;
import dev.quipu.server.rank.Selection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/**
 * Lists names that have a number each and are not counters, by name or by that number.
 *
 * @param what the name of the list in a response
 * @param name the name of the name
 * @param number the name of the number, which is also that of the order
 * @param otherSorts orders that the caller serves
 */
record NumberedLists(String what, String name, String number, List<String> otherSorts) {
  private static final Set<String> PARAMETERS = Set.of("prefix", "q", "sort", "limit", "cursor");
  private static final int PAGE_NAMES = 100;

  /** Lists by name or number only. */
  NumberedLists(String what, String name, String number) {
    this(what, name, number, List.of());
  }

  /** Serves a list: parameters prefix, q, sort, limit and cursor. */
  HttpReply list(Exchange exchange, Listing listing) {
    exchange.allowParameters(PARAMETERS);
    return list(exchange, sort(exchange), listing);
  }

  /** Returns the order in a request. */
  String sort(Exchange exchange) {
    String sort = exchange.parameter("sort").orElse(name);
    List<String> all = new ArrayList<>(List.of(name, number, "-" + number));
    all.addAll(otherSorts);
    if (!all.contains(sort)) {
      throw Problem.badRequest(
          "query parameter sort is '%s'; it must be %s or %s"
              .formatted(sort, String.join(", ", all.subList(0, all.size() - 1)), all.getLast()));
    }
    return sort;
  }

  /** Returns what is listed. */
  Selection selection(Exchange exchange) {
    return new Selection(
        exchange.parameter("prefix").orElse(""), exchange.parameter("q").orElse(""));
  }

  /** Returns how many are listed, and reserves memory for them. */
  int limit(Exchange exchange) {
    int limit = Cursor.limit(exchange, PAGE_NAMES, Limits.PAGE_COUNTERS_MAX);
    exchange.reserve((2L * limit + Limits.PAGE_COUNTERS_MAX) * CounterRoutes.LISTED_BYTES);
    return limit;
  }

  /** Serves a list in an order of its own. */
  HttpReply list(Exchange exchange, String sort, Listing listing) {
    Selection selection = selection(exchange);
    int limit = limit(exchange);
    if (sort.equals(name)) {
      String after = Cursor.nameAfter(exchange, selection.prefix());
      CounterPage page = selection.page(listing, after, limit, exchange::mayBegin);
      return reply(page.counters(), page.resumeAfter());
    }
    Ranking ranking = new Ranking(selection, !sort.equals(number));
    Ranking.Page page =
        ranking.page(listing, RankRoutes.after(exchange, sort), limit, exchange::mayBegin);
    return reply(page.counters(), page.resumeAfter().map(place -> RankRoutes.text(sort, place)));
  }

  private HttpReply reply(List<CounterPage.Entry> page, Optional<String> cursor) {
    return HttpReply.written(
        200,
        json -> {
          json.writeStartObject();
          json.writeArrayPropertyStart(what);
          page.forEach(each -> write(json, each));
          json.writeEndArray();
          cursor.ifPresent(place -> json.writeStringProperty("cursor", Cursor.encode(place)));
          json.writeEndObject();
        });
  }

  private void write(JsonGenerator json, CounterPage.Entry each) {
    json.writeStartObject();
    json.writeStringProperty(name, each.name());
    json.writeStringProperty(number, Long.toString(each.reading().value()));
    json.writeEndObject();
  }
}
