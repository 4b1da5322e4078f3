package dev.quipu.server.http.route;

import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.Problem;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** The query parameters of listings: the place where a page begins, as an opaque text; its size. */
final class Cursor {
  private Cursor() {}

  static String encode(String place) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(place.getBytes(StandardCharsets.UTF_8));
  }

  static String decode(String cursor) {
    try {
      String place = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
      if (!place.isEmpty() && encode(place).equals(cursor)) { // as this server would encode it
        return place;
      }
    } catch (IllegalArgumentException e) {
      // malformed
    }
    throw malformed();
  }

  /** Returns the name after which a listing of a prefix continues; empty to start. */
  static String nameAfter(Exchange exchange, String prefix) {
    String after = exchange.parameter("cursor").map(Cursor::decode).orElse("");
    if (!after.isEmpty() && !after.startsWith(prefix)) {
      throw malformed();
    }
    return after;
  }

  static Problem malformed() {
    return Problem.badRequest(
        "malformed query parameter cursor; send the cursor of the previous page");
  }

  /** Returns the query parameter {@code limit}, 1 to {@code max}, or {@code otherwise}. */
  static int limit(Exchange exchange, int otherwise, int max) {
    return exchange.parameter("limit").map(text -> number("limit", text, 1, max)).orElse(otherwise);
  }

  /** Parses a number in a query parameter. */
  static int number(String parameter, String text, int min, int max) {
    if (text.matches("[0-9]{1,9}")) {
      int number = Integer.parseInt(text);
      if (number >= min && number <= max) {
        return number;
      }
    }
    throw Problem.badRequest(
        "query parameter %s is '%s'; it must be an integer from %d to %d"
            .formatted(parameter, text, min, max));
  }
}
