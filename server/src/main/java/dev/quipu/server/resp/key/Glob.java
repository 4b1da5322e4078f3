package dev.quipu.server.resp.key;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments.Rejected;
import java.util.List;

/**
 * Glob patterns of one command, with {@code *}, {@code ?}, {@code [a-z]}, {@code [^a]} and {@code
 * \} as escape.
 */
public final class Glob {
  /** Maximum steps of one command over all names: a few tenths of a second, which block others. */
  private static final long STEPS_MAX = 50_000_000;

  /** Number of steps that cost as much as visiting a name. */
  private static final int STEPS_PER_LOOK = 16;

  private final CounterAccess counters;
  private final List<String> patterns;
  private String pattern = ""; // being compared
  private long steps;

  public Glob(CounterAccess counters, List<String> patterns) {
    this.counters = counters;
    this.patterns = patterns;
  }

  /**
   * Returns whether a text matches one of the patterns.
   *
   * @throws Rejected if the command takes too many steps
   */
  public boolean matches(String text) {
    long before = steps;
    try {
      for (String each : patterns) {
        pattern = each;
        if (matchesPattern(text)) {
          return true;
        }
      }
      return false;
    } finally {
      counters.visit(steps / STEPS_PER_LOOK - before / STEPS_PER_LOOK);
    }
  }

  private boolean matchesPattern(String text) {
    int p = 0;
    int t = 0;
    int star = -1;
    int resume = 0;
    while (t < text.length()) {
      int next = p < pattern.length() && pattern.charAt(p) != '*' ? end(p) : -1;
      steps += next < 0 ? 1 : next - p;
      if (steps > STEPS_MAX) {
        throw new Rejected(
            "ERR pattern takes more than %d steps on these keys. Use a shorter one"
                .formatted(STEPS_MAX));
      }
      if (next >= 0 && matchesOne(p, next, text.charAt(t))) {
        p = next;
        t++;
      } else if (p < pattern.length() && pattern.charAt(p) == '*') {
        star = p++;
        resume = t;
      } else if (star >= 0) {
        p = star + 1;
        t = ++resume;
      } else {
        return false;
      }
    }
    while (p < pattern.length() && pattern.charAt(p) == '*') {
      p++;
      steps++;
    }
    return p == pattern.length();
  }

  /** Returns the end of the part of the pattern that matches one character. */
  private int end(int from) {
    char first = pattern.charAt(from);
    if (first == '\\' && from + 1 < pattern.length()) {
      return from + 2;
    }
    if (first != '[') {
      return from + 1;
    }
    int at = from + 1;
    while (at < pattern.length() && pattern.charAt(at) != ']') {
      at += pattern.charAt(at) == '\\' && at + 1 < pattern.length() ? 2 : 1;
    }
    return Math.min(at + 1, pattern.length());
  }

  private boolean matchesOne(int from, int end, char c) {
    char first = pattern.charAt(from);
    if (first == '?') {
      return true;
    }
    if (first == '\\' && end == from + 2) {
      return pattern.charAt(from + 1) == c;
    }
    return first == '[' ? isInSet(from + 1, end, c) : first == c;
  }

  private boolean isInSet(int from, int end, char c) {
    boolean isNegated = from < end && pattern.charAt(from) == '^';
    int at = isNegated ? from + 1 : from;
    int last = end > from && pattern.charAt(end - 1) == ']' ? end - 1 : end;
    boolean found = false;
    while (at < last) {
      if (pattern.charAt(at) == '\\' && at + 1 < last) {
        at++;
      }
      char low = pattern.charAt(at);
      if (at + 2 < last && pattern.charAt(at + 1) == '-') {
        char high = pattern.charAt(at + 2);
        found |= Math.min(low, high) <= c && c <= Math.max(low, high);
        at += 3;
      } else {
        found |= low == c;
        at++;
      }
    }
    return found != isNegated;
  }
}
