package dev.quipu.server.http.route;

import dev.quipu.display.DisplayCounters;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import io.netty.handler.codec.http.HttpMethod;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Serves what pages embed: a badge that counts its hits, and the script that sends views. */
record HitRoutes(DisplayCounters display) {
  static final String BADGE = "/hit/{name}.svg";

  private static final String PREFIX = "hit/";

  /** GET /hit/{name}.svg: counts a hit and returns the number of hits. HEAD counts nothing. */
  HttpReply badge(Exchange exchange) {
    exchange.allowParameters(Set.of("label"));
    String label = Badge.label(exchange, "hits");
    String name = PREFIX + exchange.variable();
    OptionalLong counted =
        exchange.method().equals(HttpMethod.HEAD)
            ? OptionalLong.empty()
            : display.view(name, Optional.empty());
    String hits = counted.isPresent() ? Long.toString(counted.getAsLong()) : hits(name);
    // An image proxy that cached the badge would hide the next hits from the server.
    return HttpReply.text(200, "image/svg+xml; charset=utf-8", Badge.svg(label, hits))
        .with("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")
        .with("Pragma", "no-cache")
        .with("Expires", "Thu, 01 Jan 1970 00:00:00 GMT");
  }

  /** GET /hit/{name}.json: the number for shields.io. Counts nothing, since shields.io caches. */
  HttpReply shield(Exchange exchange) {
    exchange.allowParameters(Set.of("label"));
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("schemaVersion", 1);
    members.put("label", Badge.label(exchange, "hits"));
    members.put("message", hits(PREFIX + exchange.variable()));
    members.put("color", "blue");
    return HttpReply.json(200, members);
  }

  private String hits(String name) {
    return display.read(name).map(each -> each.text(each.value())).orElse("0");
  }

  /** GET /views.js */
  HttpReply script(Exchange exchange) {
    List<byte[]> text = List.of(OpenApi.resource("views.js"));
    return HttpReply.bytes(200, "text/javascript; charset=utf-8", text)
        .with("Cache-Control", "max-age=3600");
  }
}
