package dev.quipu.simpledbserver;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a page ended: what the service hands out as a token.
 *
 * @param query what the page was of
 * @param rank what its last item is sorted by
 * @param name the last item
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
      // said below
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
