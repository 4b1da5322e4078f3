package dev.quipu.server.http.route;

import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.Problem;

/** Draws badges. */
final class Badge {
  private static final int LABEL_CHARACTERS_MAX = 64;
  private static final int CHARACTER_WIDTH = 7;
  private static final int PADDING = 10;

  private Badge() {}

  /** Returns the label that a request asks for. */
  static String label(Exchange exchange, String otherwise) {
    String label = exchange.parameter("label").orElse(otherwise);
    if (label.isEmpty() || label.length() > LABEL_CHARACTERS_MAX) {
      throw Problem.badRequest(
          "query parameter label has %d characters; it must have 1 to %d"
              .formatted(label.length(), LABEL_CHARACTERS_MAX));
    }
    return label;
  }

  /** Returns a picture of a label and a value. */
  static String svg(String label, String value) {
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
}
