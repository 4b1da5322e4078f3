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

/** A predicate of a select expression. */
sealed interface Match {
  /** The pseudo-attribute of the name of an item. */
  String ITEM_NAME = "itemName()";

  /** Returns whether an item matches. */
  boolean holds(Domain.Found item);

  /** Adds the attributes that must exist. */
  void addNames(Set<String> names);

  /** Returns the number of comparisons. */
  int comparisons();

  /** Returns the values of an attribute, or the name of the item. */
  static NavigableSet<String> values(Domain.Found item, String attribute) {
    if (attribute.equals(ITEM_NAME)) {
      return new TreeSet<>(Set.of(item.name()));
    }
    return item.attributes().getOrDefault(attribute, new TreeSet<>());
  }

  /**
   * A comparison of an attribute: some value must pass, or every value.
   *
   * @param absent whether there must be no value
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

  /** Negates a predicate. */
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
   * Several predicates, each of which any value may pass.
   *
   * @param all whether all must match, or one
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

  /** Returns the conjunction; comparisons of an attribute must pass on the same value. */
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

  /** Returns the comparison of an operator. */
  static Predicate<String> test(String operator, String value) {
    return switch (operator) {
      case "=" -> value::equals;
      case "!=" -> text -> !value.equals(text);
      case "<" -> text -> Key.ORDER.compare(text, value) < 0;
      case "<=" -> text -> Key.ORDER.compare(text, value) <= 0;
      case ">" -> text -> Key.ORDER.compare(text, value) > 0;
      case ">=" -> text -> Key.ORDER.compare(text, value) >= 0;
      default -> throw Tokens.wrong("unknown operator " + operator);
    };
  }

  /** Returns the predicate of {@code like}: {@code %} at either end matches any text. */
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
