package dev.quipu.server.http.route;

import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Serves the page for people, which the build of server/web has written to the resources. It has no
 * data; its script reads those from the other routes, with the token that the user enters.
 */
final class PageRoutes {
  private static final String PLACE = "page/";
  private static final Pattern ASSET = Pattern.compile("assets/([A-Za-z0-9_.-]+)");

  /** Names of assets contain a hash of their content. */
  private static final String FOREVER = "public, max-age=31536000, immutable";

  /** Nothing from elsewhere, nothing inline, and no frame around it. */
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** GET /, with any query, since links to a page get parameters of others. */
  HttpReply index(Exchange exchange) {
    return reply("text/html; charset=utf-8", "index.html")
        .with("Content-Security-Policy", POLICY)
        .with("Referrer-Policy", "no-referrer")
        .with("Cross-Origin-Opener-Policy", "same-origin");
  }

  /** GET /icon.svg */
  HttpReply icon(Exchange exchange) {
    return reply("image/svg+xml", "icon.svg");
  }

  /** GET /assets/{name} */
  HttpReply asset(Exchange exchange) {
    String name = exchange.variable();
    Matcher assets = ASSET.matcher(new String(file("index.html"), StandardCharsets.UTF_8));
    while (assets.find()) {
      if (assets.group(1).equals(name)) {
        String type = name.endsWith(".css") ? "text/css" : "text/javascript";
        return reply(type + "; charset=utf-8", "assets/" + name).with("Cache-Control", FOREVER);
      }
    }
    throw Problem.notFound("no such file; reload the page");
  }

  private static HttpReply reply(String type, String name) {
    return HttpReply.bytes(200, type, List.of(file(name)));
  }

  private static byte[] file(String name) {
    return OpenApi.resource(PLACE + name);
  }
}
