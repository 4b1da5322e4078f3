package dev.quipu.server.http.route;

import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.Decimal;
import dev.quipu.Limits;
import dev.quipu.backend.EmbeddedEngine;
import dev.quipu.backend.RecentRequest;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.net.RecentLog;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/** Serves what the server did last: requests to a counter, and entries of its log. */
record RecentRoutes(Counters counters, RecentLog log) {
  /** Maximum number of requests in a response. */
  static final int REQUESTS_MAX = 100;

  private static final int REQUEST_BYTES = 512;

  /** GET /v1/counters/{name}/requests */
  HttpReply requests(Exchange exchange) {
    exchange.allowParameters(Set.of("limit"));
    int limit = Cursor.limit(exchange, REQUESTS_MAX, REQUESTS_MAX);
    String counter = Limits.checkText("name", exchange.variable(), Limits.NAME_BYTES_MAX);
    EmbeddedEngine engine =
        counters
            .as(EmbeddedEngine.class)
            .orElseThrow(() ->
                new UnsupportedOperationException(
                    "technique %s does not keep the last requests; the engine does"
                        .formatted(counters.technique())));
    exchange.reserve((long) limit * REQUEST_BYTES);
    return HttpReply.json(
        200,
        Map.of(
            "name",
            counter,
            "requests",
            engine.recentRequests(counter, limit).stream().map(RecentRoutes::members).toList()));
  }

  private static Map<String, Object> members(RecentRequest request) {
    int scale = request.scale();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", request.id().bits());
    members.put("delta", Decimal.text(request.delta(), scale));
    OptionalLong value =
        switch (request.result()) {
          case AddResult.Applied applied -> outcome(members, "applied", applied.valueIfKnown());
          case AddResult.Replayed replayed -> outcome(members, "replayed", replayed.valueIfKnown());
          case AddResult.Conflict conflict -> outcome(members, "conflict", OptionalLong.empty());
          case AddResult.Rejected rejected -> {
            members.put("why", rejected.why().name().toLowerCase(Locale.ROOT).replace('_', '-'));
            yield outcome(members, "rejected", rejected.valueIfKnown());
          }
        };
    value.ifPresent(known -> members.put("value", Decimal.text(known, scale)));
    members.put("time", request.at().toString());
    return members;
  }

  private static OptionalLong outcome(
      Map<String, Object> members, String outcome, OptionalLong value) {
    members.put("outcome", outcome);
    return value;
  }

  /** GET /v1/events */
  HttpReply events(Exchange exchange) {
    exchange.allowParameters(Set.of("limit"));
    int limit = Cursor.limit(exchange, RecentLog.ENTRIES_MAX, RecentLog.ENTRIES_MAX);
    exchange.reserve(RecentLog.BYTES_MAX);
    List<Map<String, Object>> events =
        log.newest(limit).stream().map(RecentRoutes::members).toList();
    return HttpReply.json(200, Map.of("events", events));
  }

  private static Map<String, Object> members(RecentLog.Entry entry) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("time", entry.at().toString());
    members.put("level", entry.level().toLowerCase(Locale.ROOT));
    members.put("message", entry.message());
    members.put("details", entry.details());
    return members;
  }
}
