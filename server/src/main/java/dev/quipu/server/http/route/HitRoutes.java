package dev.quipu.server.http.route;

import dev.quipu.display.DisplayCounters;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import io.netty.handler.codec.http.HttpMethod;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Serves what pages embed: a badge that counts its hits, and the script that sends views. */
record HitRoutes(DisplayCounters display) {
  private static final String PREFIX = "hit/";
  private static final int LABEL_CHARACTERS_MAX = 64;
  private static final int CHARACTER_WIDTH = 7;
  private static final int PADDING = 10;

  /** GET /hit/{name}.svg: counts a hit and returns the number of hits. HEAD counts nothing. */
  HttpReply badge(Exchange exchange) {
    exchange.allowParameters(Set.of("label"));
    String label = label(exchange);
    String name = PREFIX + exchange.variable();
    OptionalLong counted =
        exchange.method().equals(HttpMethod.HEAD)
            ? OptionalLong.empty()
            : display.view(name, Optional.empty());
    String hits = counted.isPresent() ? Long.toString(counted.getAsLong()) : hits(name);
    // An image proxy that cached the badge would hide the next hits from the server.
    return HttpReply.text(200, "image/svg+xml; charset=utf-8", svg(label, hits))
        .with("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")
        .with("Pragma", "no-cache")
        .with("Expires", "Thu, 01 Jan 1970 00:00:00 GMT");
  }

  /** GET /hit/{name}.json: the number for shields.io. Counts nothing, since shields.io caches. */
  HttpReply shield(Exchange exchange) {
    exchange.allowParameters(Set.of("label"));
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("schemaVersion", 1);
    members.put("label", label(exchange));
    members.put("message", hits(PREFIX + exchange.variable()));
    members.put("color", "blue");
    return HttpReply.json(200, members);
  }

  private String hits(String name) {
    return display.read(name).map(each -> each.text(each.value())).orElse("0");
  }

  private static String label(Exchange exchange) {
    String label = exchange.parameter("label").orElse("hits");
    if (label.isEmpty() || label.length() > LABEL_CHARACTERS_MAX) {
      throw Problem.badRequest(
          "query parameter label has %d characters; it must have 1 to %d"
              .formatted(label.length(), LABEL_CHARACTERS_MAX));
    }
    return label;
  }

  private static String svg(String label, String value) {
    int left = PADDING + CHARACTER_WIDTH * label.length();
    int right = PADDING + CHARACTER_WIDTH * value.length();
    String text = escape(label);
    return """
    <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="20" role="img" aria-label="%4$s: %5$s">
    <rect width="%2$d" height="20" fill="#555"/>
    <rect x="%2$d" width="%3$d" height="20" fill="#3367d6"/>
    <g fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11">
    <text x="%6$d" y="14">%4$s</text>
    <text x="%7$d" y="14">%5$s</text>
    </g>
    </svg>
    """
        .formatted(left + right, left, right, text, value, left / 2, left + right / 2);
  }

  /** Escapes a text for XML, and removes control characters. */
  private static String escape(String text) {
    StringBuilder escaped = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '&' -> escaped.append("&amp;");
        case '"' -> escaped.append("&quot;");
        default -> {
          if (c >= ' ' && c < 0xfffe && !(c >= 0x7f && c < 0xa0)) {
            escaped.append(c);
          }
        }
      }
    }
    return escaped.toString();
  }

  /** GET /views.js */
  HttpReply script(Exchange exchange) {
    List<byte[]> text = List.of(OpenApi.resource("views.js"));
    return HttpReply.bytes(200, "text/javascript; charset=utf-8", text)
        .with("Cache-Control", "max-age=3600");
  }
}
