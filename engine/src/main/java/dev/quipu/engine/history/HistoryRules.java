package dev.quipu.engine.history;

import dev.quipu.Limits;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Of which counters the values at past boundaries are kept, and for how long. A pattern is a name,
 * or a prefix followed by {@code *}; a name is matched first, then the longest prefix. Immutable.
 *
 * @param rules the steps of each pattern, and how long their values are kept
 * @param discarded the patterns whose recorded past may be discarded, where their rule differs from
 *     that with which it was recorded; any, if there are no rules and no such patterns
 */
public record HistoryRules(
    Map<String, SortedMap<HistoryStep, Duration>> rules, Set<String> discarded) {
  /** Maximum number of patterns, and of steps of a pattern. */
  public static final int PATTERNS_MAX = 100;

  static final int STEPS_MAX = 8;
  private static final Duration KEPT_MIN = Duration.ofMinutes(1);
  private static final Duration KEPT_MAX = Duration.ofDays(36_525);
  private static final Duration YEAR = Duration.ofHours(8_766); // 365.25 days
  private static final Pattern KEPT = Pattern.compile("([0-9]{1,9})([mhdy])");

  /** Before the steps of a rule, or instead of them: the recorded past may be discarded. */
  private static final String DISCARDED = "none";

  /** Checks and copies the rules. */
  public HistoryRules {
    rules = Map.copyOf(rules);
    discarded = Set.copyOf(discarded);
    if (rules.size() > PATTERNS_MAX) {
      throw new IllegalArgumentException(
          "%d patterns with a history; the limit is %d. Use shorter prefixes"
              .formatted(rules.size(), PATTERNS_MAX));
    }
  }

  /** Returns no rules; they discard the recorded past of all patterns. */
  public static HistoryRules none() {
    return new HistoryRules(Map.of(), Set.of());
  }

  /**
   * Parses rules that are separated by semicolons, such as {@code
   * views/*=minute:2d,hour:90d;stock/*=day@Europe/Berlin:5y}. Times end with m, h, d or y: minutes,
   * hours, days, years. {@code views/*=none} keeps nothing, and discards what was recorded; {@code
   * views/*=none,day:5y} discards it if it was recorded with other steps or times.
   *
   * @throws IllegalArgumentException naming what is malformed or repeated
   */
  public static HistoryRules parse(String text) {
    Map<String, SortedMap<HistoryStep, Duration>> rules = new LinkedHashMap<>();
    Set<String> named = new HashSet<>();
    Set<String> discarded = new HashSet<>();
    for (String rule : text.split(";", -1)) {
      int at = rule.lastIndexOf('=');
      if (at < 1) {
        throw new IllegalArgumentException(
            "'%s' is not a rule; use PATTERN=STEP:TIME,…, such as 'views/*=minute:2d,hour:90d,day:5y'"
                .formatted(rule));
      }
      String pattern = rule.substring(0, at).strip();
      Limits.checkText("pattern", pattern, Limits.NAME_BYTES_MAX);
      if (pattern.indexOf('*') != pattern.length() - 1 && pattern.contains("*")) {
        throw new IllegalArgumentException(
            "pattern '%s' has a * that is not at its end; use a name or PREFIX*"
                .formatted(pattern));
      }
      if (!named.add(pattern)) {
        throw new IllegalArgumentException("pattern '%s' has two rules".formatted(pattern));
      }
      String steps = rule.substring(at + 1).strip();
      boolean isDiscarded = steps.equals(DISCARDED) || steps.startsWith(DISCARDED + ",");
      if (isDiscarded) {
        discarded.add(pattern);
      }
      if (!steps.equals(DISCARDED)) {
        String kept = isDiscarded ? steps.substring(DISCARDED.length() + 1) : steps;
        rules.put(pattern, steps(rule, kept));
      }
    }
    return new HistoryRules(rules, discarded);
  }

  private static SortedMap<HistoryStep, Duration> steps(String rule, String text) {
    SortedMap<HistoryStep, Duration> steps = new TreeMap<>(HistoryStep.BY_LENGTH);
    for (String part : text.split(",", -1)) {
      int at = part.lastIndexOf(':');
      Matcher kept = KEPT.matcher(part.substring(at + 1));
      if (at < 1 || !kept.matches()) {
        throw new IllegalArgumentException(
            "'%s' in '%s' is not STEP:TIME; use minute, hour or day, and a number with m, h, d or y, such as day:5y"
                .formatted(part, rule));
      }
      HistoryStep step = HistoryStep.parse(part.substring(0, at).strip());
      Duration time = time(Long.parseLong(kept.group(1)), kept.group(2));
      if (time.compareTo(KEPT_MIN) < 0 || time.compareTo(KEPT_MAX) > 0) {
        throw new IllegalArgumentException(
            "the time of '%s' is %s; it must be from 1m to 100y".formatted(part, kept.group()));
      }
      if (steps.put(step, time) != null) {
        throw new IllegalArgumentException("'%s' has the step %s twice".formatted(rule, step));
      }
    }
    if (steps.size() > STEPS_MAX) {
      throw new IllegalArgumentException(
          "'%s' has %d steps; the limit is %d".formatted(rule, steps.size(), STEPS_MAX));
    }
    return steps;
  }

  private static Duration time(long number, String unit) {
    return switch (unit) {
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      case "d" -> Duration.ofDays(number);
      default -> YEAR.multipliedBy(number);
    };
  }

  /** Returns whether there are no rules. */
  public boolean isEmpty() {
    return rules.isEmpty();
  }

  /** Returns the pattern that applies to a counter; empty if no history of it is kept. */
  public Optional<String> patternOf(String counter) {
    if (rules.containsKey(counter)) {
      return Optional.of(counter);
    }
    return rules.keySet().stream()
        .filter(each -> each.endsWith("*"))
        .filter(each -> counter.startsWith(each.substring(0, each.length() - 1)))
        .max(Comparator.comparingInt(String::length));
  }

  /** Returns the patterns that may apply to counters with a prefix. */
  public List<String> patternsWithin(String prefix) {
    return rules.keySet().stream()
        .filter(each -> {
          String start = each.endsWith("*") ? each.substring(0, each.length() - 1) : each;
          return start.startsWith(prefix) || (each.endsWith("*") && prefix.startsWith(start));
        })
        .toList();
  }

  /**
   * Returns the patterns whose recorded past other rules end: those of which they have not the same
   * steps, and those of theirs that apply to some counters of a pattern of these.
   */
  public List<String> endedBy(HistoryRules others) {
    return Stream.concat(
            rules.keySet().stream(),
            others.rules.keySet().stream().filter(each -> isWithin(each, others)))
        .filter(each -> !steps(each).equals(others.steps(each)))
        .distinct()
        .sorted()
        .toList();
  }

  /** Returns whether a pattern is within one that other rules do not discard. */
  private boolean isWithin(String pattern, HistoryRules others) {
    return rules.keySet().stream()
        .filter(each -> each.endsWith("*") && !each.equals(pattern))
        .filter(each -> pattern.startsWith(each.substring(0, each.length() - 1)))
        .anyMatch(each -> steps(each).equals(others.steps(each)) || !others.isDiscarded(each));
  }

  private Optional<SortedMap<HistoryStep, Duration>> steps(String pattern) {
    return Optional.ofNullable(rules.get(pattern));
  }

  /**
   * Checks that other rules end no recorded past but that which they name.
   *
   * @throws IllegalArgumentException naming a pattern whose past would be discarded
   */
  public void checkEndedBy(HistoryRules others) {
    for (String each : endedBy(others)) {
      if (!others.isDiscarded(each)) {
        String none = each + "=" + DISCARDED;
        throw new IllegalArgumentException(
            "--history would discard the past of '%s', which is recorded by '%s'. %s; or use '%s' to discard it"
                .formatted(
                    each,
                    toString(),
                    rules.containsKey(each)
                        ? "Keep that rule"
                        : "Leave out the rule of this pattern",
                    others.rules.containsKey(each)
                        ? none + "," + texts(others.steps(each))
                        : none));
      }
    }
  }

  private boolean isDiscarded(String pattern) {
    return discarded.contains(pattern) || (discarded.isEmpty() && rules.isEmpty());
  }

  /** Returns all steps, the shorter ones first, and the longest time that each is kept. */
  public SortedMap<HistoryStep, Duration> steps() {
    SortedMap<HistoryStep, Duration> all = new TreeMap<>(HistoryStep.BY_LENGTH);
    for (SortedMap<HistoryStep, Duration> each : rules.values()) {
      each.forEach((step, time) -> all.merge(step, time, HistoryRules::longer));
    }
    return all;
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /** Returns the rules in the form of {@link #parse}, without what they discard. */
  @Override
  public String toString() {
    return rules.keySet().stream()
        .sorted()
        .map(each -> each + "=" + texts(steps(each)))
        .collect(Collectors.joining(";"));
  }

  private static String texts(Optional<SortedMap<HistoryStep, Duration>> steps) {
    return steps.stream()
        .flatMap(all -> all.entrySet().stream())
        .map(each -> each.getKey() + ":" + text(each.getValue()))
        .collect(Collectors.joining(","));
  }

  private static String text(Duration time) {
    if (time.toMinutes() % YEAR.toMinutes() == 0) {
      return time.toMinutes() / YEAR.toMinutes() + "y";
    } else if (time.toMinutes() % Duration.ofDays(1).toMinutes() == 0) {
      return time.toDays() + "d";
    }
    return time.toMinutes() % 60 == 0 ? time.toHours() + "h" : time.toMinutes() + "m";
  }
}
