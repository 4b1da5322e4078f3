package dev.quipu.server.http.route;

import dev.quipu.CounterPage;
import dev.quipu.Limits;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.rank.Listing;
import dev.quipu.server.rank.Place;
import dev.quipu.server.rank.Ranking;
import dev.quipu.server.rank.Selection;
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
 */
record NumberedLists(String what, String name, String number) {
  private static final int PAGE_NAMES = 100;

  /** Serves a list: parameters prefix, q, sort, limit and cursor. */
  HttpReply list(Exchange exchange, Listing listing) {
    exchange.allowParameters(Set.of("prefix", "q", "sort", "limit", "cursor"));
    String sort = exchange.parameter("sort").orElse(name);
    if (!Set.of(name, number, "-" + number).contains(sort)) {
      throw Problem.badRequest(
          "query parameter sort is '%s'; it must be %s, %s or -%s"
              .formatted(sort, name, number, number));
    }
    Selection selection =
        new Selection(exchange.parameter("prefix").orElse(""), exchange.parameter("q").orElse(""));
    int limit = Cursor.limit(exchange, PAGE_NAMES, Limits.PAGE_COUNTERS_MAX);
    exchange.reserve((2L * limit + Limits.PAGE_COUNTERS_MAX) * CounterRoutes.LISTED_BYTES);
    if (sort.equals(name)) {
      String after = Cursor.nameAfter(exchange, selection.prefix());
      CounterPage page = selection.page(listing, after, limit, exchange::mayBegin);
      return reply(page.counters(), page.resumeAfter());
    }
    Ranking ranking = new Ranking(selection, !sort.equals(number));
    Optional<Place> after = exchange.parameter("cursor").map(Cursor::decode).map(RankRoutes::place);
    Ranking.Page page = ranking.page(listing, after, limit, exchange::mayBegin);
    return reply(page.counters(), page.resumeAfter().map(RankRoutes::text));
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
