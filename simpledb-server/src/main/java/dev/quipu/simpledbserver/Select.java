package dev.quipu.simpledbserver;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A select expression.
 *
 * @param output returned attributes; empty for all
 * @param isCount whether it is a count
 * @param where predicate; empty for all items
 * @param whereText normalized text of the predicate, which tokens contain
 * @param order attribute of the order; empty for the name
 * @param limit maximum number of items of a page
 */
record Select(
    List<String> output,
    boolean isCount,
    String domain,
    Optional<Match> where,
    String whereText,
    Optional<String> order,
    boolean descending,
    Optional<Integer> limit) {
  /** Parses an expression. */
  static Select parse(String expression) {
    Tokens tokens = new Tokens(expression);
    tokens.expectWord("select");
    List<String> output = new ArrayList<>();
    boolean isCount = output(tokens, output);
    tokens.expectWord("from");
    String domain = tokens.name();
    int start = tokens.position();
    Optional<Match> where = tokens.takeWord("where") ? Optional.of(or(tokens)) : Optional.empty();
    String whereText = tokens.textSince(start);
    Optional<String> order = Optional.empty();
    boolean descending = false;
    if (tokens.takeWord("order")) {
      tokens.expectWord("by");
      order = Optional.of(attribute(tokens));
      descending = tokens.takeWord("desc");
      if (!descending) {
        tokens.takeWord("asc");
      }
    }
    Optional<Integer> limit = tokens.takeWord("limit") ? limit(tokens) : Optional.empty();
    if (tokens.peek().kind() != Tokens.Kind.END) {
      throw Tokens.wrong("unexpected " + tokens.peek().text());
    }
    Select select = new Select(output, isCount, domain, where, whereText, order, descending, limit);
    select.check();
    return select;
  }

  private void check() {
    if (where.isPresent() && where.get().comparisons() > Limits.COMPARISONS_MAX) {
      throw SdbException.bad(
          "InvalidNumberPredicates", "Too many predicates in the query expression");
    }
    Set<String> names = new HashSet<>();
    where.ifPresent(match -> match.addNames(names));
    if (order.isPresent() && !names.contains(order.get())) {
      throw SdbException.bad(
          "InvalidSortExpression",
          "The sort attribute must be in a predicate, and not in one of is null");
    }
  }

  /** Parses the output; returns true for a count, else fills the attributes, none for all. */
  private static boolean output(Tokens tokens, List<String> output) {
    if (tokens.takeSign("*")) {
      return false;
    }
    do {
      String name = tokens.name();
      if (tokens.takeSign("(")) {
        if (name.equalsIgnoreCase("count")) {
          tokens.expectSign("*");
          tokens.expectSign(")");
          return true;
        }
        tokens.expectSign(")");
        if (!name.equalsIgnoreCase("itemName")) {
          throw Tokens.wrong("unknown function " + name);
        }
        name = Match.ITEM_NAME;
      }
      output.add(name);
    } while (tokens.takeSign(","));
    return false;
  }

  private static Optional<Integer> limit(Tokens tokens) {
    String text = tokens.next().text();
    if (!text.matches("[0-9]{1,9}") || Integer.parseInt(text) < 1) {
      throw Tokens.wrong("limit is " + text);
    }
    return Optional.of(Integer.parseInt(text));
  }

  private static Match or(Tokens tokens) {
    List<Match> matches = new ArrayList<>();
    do {
      matches.add(intersection(tokens));
    } while (tokens.takeWord("or"));
    return matches.size() == 1 ? matches.getFirst() : new Match.Several(false, matches);
  }

  private static Match intersection(Tokens tokens) {
    List<Match> matches = new ArrayList<>();
    do {
      matches.add(and(tokens));
    } while (tokens.takeWord("intersection"));
    return matches.size() == 1 ? matches.getFirst() : new Match.Several(true, matches);
  }

  private static Match and(Tokens tokens) {
    List<Match> matches = new ArrayList<>();
    do {
      matches.add(not(tokens));
    } while (tokens.takeWord("and"));
    return matches.size() == 1 ? matches.getFirst() : Match.and(matches);
  }

  private static Match not(Tokens tokens) {
    if (tokens.takeWord("not")) {
      return new Match.Not(not(tokens));
    }
    if (tokens.takeSign("(")) {
      Match inner = or(tokens);
      tokens.expectSign(")");
      return inner;
    }
    return comparison(tokens);
  }

  private static String attribute(Tokens tokens) {
    boolean plain = tokens.peek().kind() == Tokens.Kind.WORD;
    String name = tokens.name();
    if (plain && name.equalsIgnoreCase("itemName") && tokens.takeSign("(")) {
      tokens.expectSign(")");
      return Match.ITEM_NAME;
    }
    return name;
  }

  private static Match comparison(Tokens tokens) {
    boolean every = false;
    String attribute = attribute(tokens);
    if (attribute.equalsIgnoreCase("every") && tokens.takeSign("(")) {
      every = true;
      attribute = attribute(tokens);
      tokens.expectSign(")");
    }
    Tokens.Token operator = tokens.next();
    if (operator.kind() == Tokens.Kind.SIGN) {
      return compare(attribute, every, Match.test(operator.text(), tokens.text()));
    }
    return switch (operator.text().toLowerCase(Locale.ROOT)) {
      case "like" -> compare(attribute, every, Match.like(tokens.text()));
      case "not" -> {
        tokens.expectWord("like");
        yield compare(attribute, every, Match.like(tokens.text()).negate());
      }
      case "between" -> {
        Predicate<String> low = Match.test(">=", tokens.text());
        tokens.expectWord("and");
        yield compare(attribute, every, low.and(Match.test("<=", tokens.text())));
      }
      case "in" -> compare(attribute, every, in(tokens));
      case "is" -> {
        boolean absent = !tokens.takeWord("not");
        tokens.expectWord("null");
        yield new Match.Compare(attribute, every, absent, text -> true);
      }
      default -> throw Tokens.wrong("unknown operator " + operator.text());
    };
  }

  private static Match compare(String attribute, boolean every, Predicate<String> test) {
    return new Match.Compare(attribute, every, false, test);
  }

  private static Predicate<String> in(Tokens tokens) {
    Set<String> values = new HashSet<>();
    tokens.expectSign("(");
    do {
      values.add(tokens.text());
    } while (tokens.takeSign(","));
    tokens.expectSign(")");
    if (values.size() > Limits.COMPARISONS_MAX) {
      throw SdbException.bad(
          "InvalidNumberValueTests", "Too many value tests per predicate in the query expression");
    }
    return values::contains;
  }
}
