package dev.quipu.engine.threshold;

import dev.quipu.backend.CounterThresholds.Threshold;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the thresholds of counters, by their names, and remembers them by their ordinals: two bytes
 * for each counter that changed since the thresholds changed.
 */
final class MatchingIndex {
  private static final int PAGE = 4_096;
  private static final short UNKNOWN = 0;

  private final Map<String, List<Defined>> names = new HashMap<>();
  private final Map<String, List<Defined>> prefixes = new HashMap<>();
  private final TreeSet<Integer> prefixLengths = new TreeSet<>();
  private final List<Matching> all = new ArrayList<>(); // one for each set of thresholds
  private final Map<List<Defined>, Short> numbers = new HashMap<>(); // in all, from 1
  private short[][] byOrdinal = {};
  private long memoryBytes;

  static MatchingIndex of(Collection<Defined> thresholds) {
    MatchingIndex index = new MatchingIndex();
    for (Defined each : thresholds) {
      Threshold threshold = each.threshold;
      String selector = threshold.selector();
      if (threshold.isPrefix()) {
        index.prefixLengths.add(selector.length());
      }
      (threshold.isPrefix() ? index.prefixes : index.names)
          .computeIfAbsent(selector, key -> new ArrayList<>())
          .add(each);
    }
    return index;
  }

  long memoryBytes() {
    return memoryBytes;
  }

  @Nullable Matching known(int ordinal) {
    int page = ordinal / PAGE;
    if (page >= byOrdinal.length || byOrdinal[page] == null) {
      return null;
    }
    short number = byOrdinal[page][ordinal % PAGE];
    return number == UNKNOWN ? null : all.get(number - 1);
  }

  Matching find(int ordinal, @Nullable String name) {
    short number = numbers.computeIfAbsent(of(name), this::add);
    page(ordinal)[ordinal % PAGE] = number;
    return all.get(number - 1);
  }

  private short add(List<Defined> thresholds) {
    all.add(new Matching(thresholds));
    return (short) all.size(); // no more than there are selectors, and one without any
  }

  private List<Defined> of(@Nullable String name) {
    if (name == null) {
      return List.of();
    }
    List<Defined> found = new ArrayList<>(names.getOrDefault(name, List.of()));
    for (int length : prefixLengths.headSet(name.length(), true)) {
      found.addAll(prefixes.getOrDefault(name.substring(0, length), List.of()));
    }
    return found;
  }

  private short[] page(int ordinal) {
    int page = ordinal / PAGE;
    if (page >= byOrdinal.length) {
      byOrdinal = Arrays.copyOf(byOrdinal, Math.max(page + 1, byOrdinal.length * 5 / 4));
    }
    if (byOrdinal[page] == null) {
      byOrdinal[page] = new short[PAGE];
      memoryBytes += (long) PAGE * Short.BYTES;
    }
    return byOrdinal[page];
  }

  void forget(int ordinal) {
    int page = ordinal / PAGE;
    if (page < byOrdinal.length && byOrdinal[page] != null) {
      byOrdinal[page][ordinal % PAGE] = UNKNOWN;
    }
  }
}
