package dev.quipu.simpledbserver;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The tokens of a select expression. Keywords depend on their position and ignore case. */
final class Tokens {
  /** The kind of a token. */
  enum Kind {
    /** A name without quotes, a keyword, or a number. */
    WORD,
    /** A name in backticks. */
    NAME,
    /** A quoted text. */
    TEXT,
    /** An operator, a parenthesis or a comma. */
    SIGN,
    /** The end of the expression. */
    END
  }

  record Token(Kind kind, String text) {}

  private final List<Token> tokens = new ArrayList<>();
  private int at;

  Tokens(String expression) {
    int i = 0;
    while (i < expression.length()) {
      char c = expression.charAt(i);
      if (Character.isWhitespace(c)) {
        i++;
      } else if (c == '\'' || c == '"' || c == '`') {
        i = quoted(expression, i, c);
      } else if (isOfWord(c)) {
        int end = i;
        while (end < expression.length() && isOfWord(expression.charAt(end))) {
          end++;
        }
        tokens.add(new Token(Kind.WORD, expression.substring(i, end)));
        i = end;
      } else {
        i = sign(expression, i);
      }
    }
  }

  private static boolean isOfWord(char c) {
    return Character.isLetterOrDigit(c) || c == '_' || c == '$' || c == '-';
  }

  private int quoted(String expression, int start, char quote) {
    StringBuilder text = new StringBuilder();
    for (int i = start + 1; i < expression.length(); i++) {
      char c = expression.charAt(i);
      if (c != quote) {
        text.append(c);
      } else if (i + 1 < expression.length() && expression.charAt(i + 1) == quote) {
        text.append(quote);
        i++;
      } else {
        tokens.add(new Token(quote == '`' ? Kind.NAME : Kind.TEXT, text.toString()));
        return i + 1;
      }
    }
    throw wrong("unclosed quote");
  }

  private int sign(String expression, int start) {
    for (String sign : List.of("<=", ">=", "!=", "<", ">", "=", "(", ")", ",", "*")) {
      if (expression.startsWith(sign, start)) {
        tokens.add(new Token(Kind.SIGN, sign));
        return start + sign.length();
      }
    }
    throw wrong("unexpected " + expression.charAt(start));
  }

  static SdbException wrong(String why) {
    return SdbException.bad(
        "InvalidQueryExpression", "The specified query expression syntax is not valid: " + why);
  }

  Token peek() {
    return at < tokens.size() ? tokens.get(at) : new Token(Kind.END, "the end");
  }

  Token next() {
    Token token = peek();
    at++;
    return token;
  }

  /** Returns the current position, for {@link #textSince}. */
  int position() {
    return at;
  }

  /** Returns the normalized text since a position. */
  String textSince(int position) {
    return tokens.subList(position, at).toString();
  }

  /** Consumes a keyword if it is next; returns whether it was. */
  boolean takeWord(String keyword) {
    return take(Kind.WORD, keyword);
  }

  /** Consumes a sign if it is next; returns whether it was. */
  boolean takeSign(String sign) {
    return take(Kind.SIGN, sign);
  }

  private boolean take(Kind kind, String text) {
    Token token = peek();
    boolean is = token.kind == kind && token.text.toLowerCase(Locale.ROOT).equals(text);
    at += is ? 1 : 0;
    return is;
  }

  void expectWord(String keyword) {
    if (!takeWord(keyword)) {
      throw wrong("expected " + keyword + ", found " + peek().text);
    }
  }

  void expectSign(String sign) {
    if (!takeSign(sign)) {
      throw wrong("expected " + sign + ", found " + peek().text);
    }
  }

  /** Consumes the name of a domain or an attribute. */
  String name() {
    Token token = next();
    if (token.kind != Kind.WORD && token.kind != Kind.NAME) {
      throw wrong("expected a name, found " + token.text);
    }
    return token.text;
  }

  /** Consumes a quoted text. */
  String text() {
    Token token = next();
    if (token.kind != Kind.TEXT) {
      throw wrong("expected a quoted value, found " + token.text);
    }
    return token.text;
  }
}
