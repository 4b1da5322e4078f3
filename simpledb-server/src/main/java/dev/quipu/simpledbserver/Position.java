package dev.quipu.simpledbserver;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The end of a page, encoded as a token.
 *
 * @param query of the page
 * @param rank sort key of its last item
 * @param name of its last item
 */
record Position(String query, String rank, String name) {
  private static final Pattern TEXT = Pattern.compile("([^.]*)\\.([^.]*)\\.([^.]*)");

  static Position parse(String token) {
    Matcher parts = TEXT.matcher(token);
    try {
      if (parts.matches()) {
        return new Position(decode(parts.group(1)), decode(parts.group(2)), decode(parts.group(3)));
      }
    } catch (IllegalArgumentException e) {
      // reported below
    }
    throw SdbException.bad("InvalidNextToken", "The specified next token is not valid.");
  }

  String text() {
    return encode(query) + "." + encode(rank) + "." + encode(name);
  }

  private static String encode(String text) {
    return Base64.getUrlEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String decode(String text) {
    return new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8);
  }
}
