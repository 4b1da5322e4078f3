package dev.quipu.hits;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.store.Key;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Values that another client wrote with the plain algorithm: read the highest version, increment,
 * and store the result beside it. A pure function of their texts.
 *
 * <p>A value is {@code Ver016-TIME-PROCESS Base015-TIME-PROCESS Count090}: its version, the version
 * on which it is based, and the count. A version begins with its number, and may continue with
 * anything but spaces. A value without a base is based on the only one with the previous number.
 *
 * @param values by version
 */
record AdoptedValues(Map<String, Value> values) {
  static final AdoptedValues NONE = new AdoptedValues(Map.of());

  private static final Pattern TEXT =
      Pattern.compile(
          "Ver(?<version>(?<number>\\d{1,18})\\S*) (?:Base(?<base>\\d{1,18}\\S*) )?"
              + "Count(?<count>-?\\d{1,18})");

  /** One value; the base is empty if its text has none. */
  record Value(long number, Optional<String> base, long count) {}

  /** Returns the values among these texts; ignores other texts. */
  static AdoptedValues of(Collection<String> texts) {
    Map<String, Value> values = new HashMap<>();
    for (String text : texts) {
      Matcher parts = TEXT.matcher(text);
      if (!parts.matches()) {
        continue;
      }
      String version = parts.group("version");
      Value value =
          new Value(
              Long.parseLong(parts.group("number")),
              Optional.ofNullable(parts.group("base")),
              Long.parseLong(parts.group("count")));
      Value other = values.putIfAbsent(version, value);
      if (other != null && !other.equals(value)) {
        throw unresolved("version %s has two values".formatted(version));
      }
    }
    return values.isEmpty() ? NONE : new AdoptedValues(Map.copyOf(values));
  }

  /**
   * Returns the values that are stored, and those to be added.
   *
   * @throws IllegalArgumentException if a value to be added is malformed, or there are too many
   * @throws NotAppliedException if they have no single result
   */
  static AdoptedValues checked(String counter, Set<String> stored, Set<String> added) {
    Set<String> all = new HashSet<>(stored);
    all.addAll(added);
    if (added.isEmpty() || all.size() > VersionTreeOptions.ADOPTED_MAX) {
      throw new IllegalArgumentException(
          "counter %s has %d values to adopt; the number must be from 1 to %d"
              .formatted(counter, all.size(), VersionTreeOptions.ADOPTED_MAX));
    }
    for (String value : added) {
      if (!TEXT.matcher(value).matches()) {
        throw new IllegalArgumentException(
            "malformed value '%s'; write it as 'Ver016-TIME-PROCESS Base015-TIME-PROCESS Count090'"
                .formatted(value));
      }
    }
    AdoptedValues values = of(all);
    values.count(counter);
    return values;
  }

  /** Adds these texts to an item, each base before the values that are based on it. */
  static void put(Store store, Key key, String field, Set<String> texts) {
    List<String> ordered = new ArrayList<>(texts);
    ordered.sort(Comparator.comparingLong(AdoptedValues::number));
    for (int from = 0; from < ordered.size(); from += Store.TOKENS_MAX) {
      int until = Math.min(from + Store.TOKENS_MAX, ordered.size());
      Set<String> some = Set.copyOf(ordered.subList(from, until));
      IdempotentRetry.result(
          store,
          "adopted values",
          () -> {
            store.addTokens(key, field, some);
            return key;
          });
    }
  }

  private static long number(String text) {
    return of(List.of(text)).values.values().iterator().next().number();
  }

  /**
   * Returns the count: that of the first value, and the difference of each other one to its base.
   *
   * @throws NotAppliedException if the base of more than one value is missing, or ambiguous
   */
  long count(String counter) {
    long sum = 0;
    Optional<String> root = Optional.empty();
    for (Map.Entry<String, Value> each : values.entrySet()) {
      Optional<Value> base = base(each.getKey(), each.getValue());
      if (base.isEmpty()) {
        if (root.isPresent()) {
          throw unresolved(
              "the bases of versions %s and %s are missing".formatted(root.get(), each.getKey()));
        }
        root = Optional.of(each.getKey());
      }
      long before = base.map(Value::count).orElse(0L);
      sum = CounterItems.plus(counter, sum, Math.subtractExact(each.getValue().count(), before));
    }
    return sum;
  }

  private Optional<Value> base(String version, Value value) {
    if (value.base().isPresent()) {
      Optional<Value> base = Optional.ofNullable(values.get(value.base().get()));
      if (base.isPresent() && base.get().number() >= value.number()) {
        throw unresolved("version %s is based on a later one".formatted(version));
      }
      return base;
    }
    var previous =
        values.values().stream().filter(each -> each.number() == value.number() - 1).toList();
    if (previous.size() > 1) {
      throw unresolved("version %s states no base, and has several".formatted(version));
    }
    return previous.stream().findFirst();
  }

  private static NotAppliedException unresolved(String why) {
    return new NotAppliedException(Reason.CORRUPT, "values cannot be resolved: " + why);
  }
}
