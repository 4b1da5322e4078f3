package dev.quipu.simpledbserver;

import dev.quipu.store.Key;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** What a select expression asks of an item. */
sealed interface Match {
  /** The name that stands for the name of the item. */
  String ITEM_NAME = "itemName()";

  /** Whether an item is meant. */
  boolean holds(Domain.Found item);

  /** Adds the attributes that must be there. */
  void addNames(Set<String> names);

  /** How many comparisons it has. */
  int comparisons();

  /** The values of an attribute, or the name of the item. */
  static NavigableSet<String> values(Domain.Found item, String attribute) {
    if (attribute.equals(ITEM_NAME)) {
      return new TreeSet<>(Set.of(item.name()));
    }
    return item.attributes().getOrDefault(attribute, new TreeSet<>());
  }

  /**
   * One comparison of one attribute: some value must pass, or every one.
   *
   * @param absent whether it asks that there is no value
   */
  record Compare(String attribute, boolean every, boolean absent, Predicate<String> test)
      implements Match {
    @Override
    public boolean holds(Domain.Found item) {
      NavigableSet<String> values = values(item, attribute);
      if (absent) {
        return values.isEmpty();
      }
      return every
          ? !values.isEmpty() && values.stream().allMatch(test)
          : values.stream().anyMatch(test);
    }

    @Override
    public void addNames(Set<String> names) {
      if (!absent) {
        names.add(attribute);
      }
    }

    @Override
    public int comparisons() {
      return 1;
    }
  }

  /** Not so. */
  record Not(Match match) implements Match {
    @Override
    public boolean holds(Domain.Found item) {
      return !match.holds(item);
    }

    @Override
    public void addNames(Set<String> names) {
      match.addNames(names);
    }

    @Override
    public int comparisons() {
      return match.comparisons();
    }
  }

  /**
   * Several, each of which any value may pass.
   *
   * @param all whether all must hold, or one
   */
  record Several(boolean all, List<Match> matches) implements Match {
    @Override
    public boolean holds(Domain.Found item) {
      return all
          ? matches.stream().allMatch(each -> each.holds(item))
          : matches.stream().anyMatch(each -> each.holds(item));
    }

    @Override
    public void addNames(Set<String> names) {
      matches.forEach(each -> each.addNames(names));
    }

    @Override
    public int comparisons() {
      return matches.stream().mapToInt(Match::comparisons).sum();
    }
  }

  /** All of these; comparisons of one attribute must pass by one and the same value. */
  static Match and(List<Match> matches) {
    Map<String, Predicate<String>> tests = new LinkedHashMap<>();
    List<Match> others = new ArrayList<>();
    Set<String> several = new HashSet<>();
    for (Match each : matches) {
      if (each instanceof Compare compare && !compare.every && !compare.absent) {
        if (tests.containsKey(compare.attribute)) {
          several.add(compare.attribute);
        }
        tests.merge(compare.attribute, compare.test, Predicate::and);
      } else {
        others.add(each);
      }
    }
    if (several.isEmpty()) {
      return new Several(true, matches);
    }
    tests.forEach((name, test) -> others.add(new Compare(name, false, false, test)));
    return new Several(true, others);
  }

  /** The comparison that an operator stands for. */
  static Predicate<String> test(String operator, String value) {
    return switch (operator) {
      case "=" -> value::equals;
      case "!=" -> text -> !value.equals(text);
      case "<" -> text -> Key.ORDER.compare(text, value) < 0;
      case "<=" -> text -> Key.ORDER.compare(text, value) <= 0;
      case ">" -> text -> Key.ORDER.compare(text, value) > 0;
      case ">=" -> text -> Key.ORDER.compare(text, value) >= 0;
      default -> throw Tokens.wrong("no operator " + operator);
    };
  }

  /** The pattern of {@code like}: {@code %} at its ends stands for any text. */
  static Predicate<String> like(String pattern) {
    StringBuilder regex = new StringBuilder();
    boolean open = pattern.startsWith("%");
    boolean end = pattern.length() > 1 && pattern.endsWith("%") && !pattern.endsWith("\\%");
    String middle = pattern.substring(open ? 1 : 0, end ? pattern.length() - 1 : pattern.length());
    regex.append(open ? ".*" : "").append(Pattern.quote(middle.replace("\\%", "%")));
    regex.append(end ? ".*" : "");
    return Pattern.compile(regex.toString(), Pattern.DOTALL).asMatchPredicate();
  }
}
