package dev.quipu.server.http.route;

import dev.quipu.Counters;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Serves counters for other pages to embed, without a token. Counts nothing.
 *
 * @param isShown returns whether a counter may be shown
 */
record BadgeRoutes(Counters counters, Predicate<String> isShown) {
  private static final int LABEL_MAX = 40;

  /** GET /badge/{name}.svg */
  HttpReply picture(Exchange exchange) {
    exchange.allowParameters(Set.of("label"));
    String name = exchange.variable();
    String label = Badge.label(exchange, name.substring(Math.max(0, name.length() - LABEL_MAX)));
    return HttpReply.text(200, "image/svg+xml; charset=utf-8", Badge.svg(label, read(name)))
        .with("Cache-Control", "no-cache");
  }

  /** GET /badge/{name}.json, for pages of all sites. */
  HttpReply value(Exchange exchange) {
    exchange.allowParameters(Set.of());
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", exchange.variable());
    HttpReply reply;
    try {
      members.put("value", read(exchange.variable()));
      reply = HttpReply.json(200, members);
    } catch (Problem e) { // pages of other sites can read why
      reply = HttpReply.of(e);
    }
    return reply.with("Cache-Control", "no-cache").with("Access-Control-Allow-Origin", "*");
  }

  private String read(String name) {
    if (!isShown.test(name)) {
      throw Problem.notFound(
          "badges do not show %s; start the server with --show and a prefix of this name"
              .formatted(name));
    }
    return counters.read(name).map(each -> each.text(each.value())).orElse("0");
  }

  /** GET /badge.js */
  HttpReply script(Exchange exchange) {
    return HttpReply.bytes(
            200, "text/javascript; charset=utf-8", List.of(OpenApi.resource("badge.js")))
        .with("Cache-Control", "max-age=3600");
  }
}
