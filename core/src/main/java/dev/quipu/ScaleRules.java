package dev.quipu;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The scales that new counters get by their names. A pattern is a name, or a prefix followed by
 * {@code *}; a name is matched first, then the longest prefix. A counter that no pattern matches
 * has the scale 0: it is an integer. Immutable.
 *
 * @param scales scale by pattern
 */
public record ScaleRules(Map<String, Integer> scales) {
  /** Maximum number of patterns: they are compared with the name of each new counter. */
  public static final int PATTERNS_MAX = 100;

  private static final String ANY = "*";
  private static final ScaleRules NONE = new ScaleRules(Map.of());

  /**
   * Checks and copies the patterns.
   *
   * @throws IllegalArgumentException naming the pattern that is malformed, or the limit
   */
  public ScaleRules {
    if (scales.size() > PATTERNS_MAX) {
      throw new IllegalArgumentException(
          "%d patterns with a scale; the limit is %d. Use shorter prefixes"
              .formatted(scales.size(), PATTERNS_MAX));
    }
    scales.forEach((pattern, scale) -> {
      Limits.checkText("pattern", pattern, Limits.NAME_BYTES_MAX);
      if (pattern.indexOf('*') != pattern.length() - 1 && pattern.contains(ANY)) {
        throw new IllegalArgumentException(
            "pattern '%s' has a * that is not at its end; use a name or PREFIX*"
                .formatted(pattern));
      }
      Decimal.checkScale(scale);
    });
    scales = Map.copyOf(scales);
  }

  /** Returns no patterns: every counter is an integer. */
  public static ScaleRules none() {
    return NONE;
  }

  /**
   * Parses rules such as {@code budget/*=2}.
   *
   * @throws IllegalArgumentException naming the rule that is malformed or repeats a pattern
   */
  public static ScaleRules parse(List<String> rules) {
    Map<String, Integer> scales = new TreeMap<>();
    for (String rule : rules) {
      int at = rule.lastIndexOf('=');
      if (at < 1 || !rule.substring(at + 1).matches("[0-9]{1,2}")) {
        throw new IllegalArgumentException(
            "'%s' is not a rule; use PATTERN=SCALE, such as 'budget/*=2', with a scale from 0 to %d"
                .formatted(rule, Decimal.SCALE_MAX));
      }
      String pattern = rule.substring(0, at);
      if (scales.put(pattern, Integer.valueOf(rule.substring(at + 1))) != null) {
        throw new IllegalArgumentException("pattern '%s' has two scales".formatted(pattern));
      }
    }
    return new ScaleRules(scales);
  }

  /** Returns whether there are no patterns. */
  public boolean isEmpty() {
    return scales.isEmpty();
  }

  /** Returns the scale of a new counter of this name. */
  public int of(String counter) {
    if (scales.isEmpty()) {
      return 0;
    }
    Integer exact = scales.get(counter);
    if (exact != null && !counter.endsWith(ANY)) {
      return exact;
    }
    return scales.entrySet().stream()
        .filter(each -> each.getKey().endsWith(ANY))
        .filter(each -> counter.startsWith(prefix(each.getKey())))
        .max(Comparator.comparingInt(each -> each.getKey().length()))
        .map(Map.Entry::getValue)
        .orElse(0);
  }

  private static String prefix(String pattern) {
    return pattern.substring(0, pattern.length() - 1);
  }

  /** Returns the rules, ordered by pattern and separated by commas; empty if there are none. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    new TreeMap<>(scales)
        .forEach((pattern, scale) ->
            text.append(text.isEmpty() ? "" : ",").append(pattern).append('=').append(scale));
    return text.toString();
  }
}
