package dev.quipu.server.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A strict parser of a part of PromQL: it rejects what it does not know. */
final class PromQuery {
  private static final Set<String> AGGREGATIONS = Set.of("sum", "max", "min", "avg");
  private static final Set<String> OF_RANGES = Set.of("rate", "increase");
  private static final String QUANTILE = "histogram_quantile";

  /** Labels that Prometheus adds when it scrapes. */
  private static final Set<String> SCRAPED = Set.of("instance", "job");

  private static final Pattern TOKEN =
      Pattern.compile(
          "\\s*(?:([a-zA-Z_:][a-zA-Z0-9_:]*)|([0-9.]+)|\"([^\"]*)\"|(\\[[^]]*])|(=~|[-+*/(){},=]))");
  private static final Pattern RANGE = Pattern.compile("\\[([0-9]+[smhd]|\\$__rate_interval)]");

  /**
   * A selector of series.
   *
   * @param labels the labels it requires to be equal
   * @param grouping the labels by which it is grouped
   */
  record Selector(String name, Map<String, String> labels, List<String> grouping) {}

  private final List<String> tokens = new ArrayList<>();
  private final List<Selector> selectors = new ArrayList<>();
  private int next;

  private PromQuery(String query) {
    Matcher token = TOKEN.matcher(query);
    int end = 0;
    while (end < query.length()) {
      if (!token.find(end) || token.start() != end) {
        throw new IllegalArgumentException("malformed at %d: %s".formatted(end, query));
      }
      tokens.add(token.group().strip());
      end = token.end();
    }
    expression(List.of());
    if (next != tokens.size()) {
      throw wrong();
    }
  }

  /** Returns the selectors of a query. */
  static List<Selector> selectors(String query) {
    return new PromQuery(query).selectors;
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException(
        "malformed at token %d of %s".formatted(next, String.join(" ", tokens)));
  }

  private String peek() {
    return next < tokens.size() ? tokens.get(next) : "";
  }

  private String take() {
    String token = peek();
    next++;
    return token;
  }

  private void expect(String token) {
    if (!take().equals(token)) {
      throw wrong();
    }
  }

  private void expression(List<String> grouping) {
    term(grouping);
    while (peek().matches("[-+*/]")) {
      next++;
      term(grouping);
    }
  }

  private void term(List<String> grouping) {
    String token = take();
    if (token.matches("[0-9.]+")) {
      return;
    }
    if (token.equals("(")) {
      expression(grouping);
      expect(")");
    } else if (AGGREGATIONS.contains(token)) {
      List<String> by = new ArrayList<>(grouping);
      if (peek().equals("by")) {
        next++;
        by.addAll(labels());
      }
      expect("(");
      expression(by);
      expect(")");
    } else if (OF_RANGES.contains(token)) {
      expect("(");
      selector(take(), grouping);
      if (!RANGE.matcher(take()).matches()) {
        throw wrong();
      }
      expect(")");
    } else if (token.equals(QUANTILE)) {
      expect("(");
      term(grouping);
      expect(",");
      expression(grouping);
      expect(")");
    } else if (!peek().equals("(")) {
      selector(token, grouping);
    } else {
      throw wrong();
    }
  }

  private List<String> labels() {
    List<String> labels = new ArrayList<>();
    expect("(");
    do {
      labels.add(name(take()));
    } while (take().equals(","));
    next--;
    expect(")");
    labels.removeAll(SCRAPED);
    return labels;
  }

  private String name(String token) {
    if (!token.matches("[a-zA-Z_:][a-zA-Z0-9_:]*")) {
      throw wrong();
    }
    return token;
  }

  private void selector(String name, List<String> grouping) {
    Map<String, String> labels = new LinkedHashMap<>();
    if (peek().equals("{")) {
      next++;
      do {
        String label = name(take());
        boolean isScraped = SCRAPED.contains(label);
        expect(isScraped ? "=~" : "=");
        String value = take();
        if (!value.startsWith("\"")) {
          throw wrong();
        }
        if (!isScraped) {
          labels.put(label, value.substring(1, value.length() - 1));
        }
      } while (take().equals(","));
      next--;
      expect("}");
    }
    selectors.add(new Selector(name(name), labels, grouping));
  }
}
