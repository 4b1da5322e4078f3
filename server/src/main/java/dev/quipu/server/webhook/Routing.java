package dev.quipu.server.webhook;

import dev.quipu.backend.CounterThresholds.Threshold;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Divides thresholds into those whose crossings must be delivered in a common order: to one host
 * and port, of counters that both may apply to. Not thread-safe.
 */
final class Routing {
  private List<Threshold> thresholds = List.of();
  private Map<String, List<String>> groups = Map.of();

  /** Returns the ids of each group, by a name of the group. */
  Map<String, List<String>> groups(List<Threshold> all) {
    if (!all.equals(thresholds)) { // rare: it takes long for a thousand
      thresholds = List.copyOf(all);
      groups = divide(all);
    }
    return groups;
  }

  private static Map<String, List<String>> divide(List<Threshold> all) {
    Map<String, List<List<Threshold>>> byHost = new HashMap<>();
    for (Threshold each : all) {
      List<List<Threshold>> others = byHost.computeIfAbsent(host(each), key -> new ArrayList<>());
      List<Threshold> joined = new ArrayList<>(List.of(each));
      others.removeIf(group -> {
        boolean isCommon = group.stream().anyMatch(other -> overlap(each, other));
        if (isCommon) {
          joined.addAll(group);
        }
        return isCommon;
      });
      others.add(joined);
    }
    Map<String, List<String>> groups = new HashMap<>();
    byHost.values().stream()
        .flatMap(Collection::stream)
        .map(group -> group.stream().map(Threshold::id).sorted().toList())
        .forEach(ids -> groups.put(ids.getFirst(), ids));
    return groups;
  }

  /** Returns the host and port of a webhook. */
  static String host(Threshold threshold) {
    return String.valueOf(threshold.webhook().getAuthority()).toLowerCase(Locale.ROOT);
  }

  /** Returns whether there may be a counter that both apply to: the selector of one is such. */
  private static boolean overlap(Threshold one, Threshold other) {
    return one.appliesTo(other.selector()) || other.appliesTo(one.selector());
  }
}
