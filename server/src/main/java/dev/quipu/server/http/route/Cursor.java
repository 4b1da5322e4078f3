package dev.quipu.server.http.route;

import dev.quipu.server.http.message.Problem;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** The place where the next page of a listing begins, as an opaque text. */
final class Cursor {
  private Cursor() {}

  static String encode(String place) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(place.getBytes(StandardCharsets.UTF_8));
  }

  static String decode(String cursor) {
    try {
      return new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw Problem.badRequest(
          "malformed query parameter cursor; send the cursor of the previous page");
    }
  }
}
