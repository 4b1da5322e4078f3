package dev.quipu.simpledb;

import dev.quipu.store.Key;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The domains of a store, and which of them an item is in.
 *
 * @param others domains of all items that are neither hits nor summaries
 * @param hits domains of the hits of a hit log
 * @param summaries domains of the summaries of a hit log
 */
record SimpleDbDomains(List<String> others, List<String> hits, List<String> summaries) {
  SimpleDbDomains {
    for (List<String> each : List.of(others, hits, summaries)) {
      if (each.isEmpty() || each.size() > SimpleDbDriver.DOMAINS_MAX) {
        throw new IllegalArgumentException(
            "%d domains are given; the number must be from 1 to %d"
                .formatted(each.size(), SimpleDbDriver.DOMAINS_MAX));
      }
    }
    others = List.copyOf(others);
    hits = List.copyOf(hits);
    summaries = List.copyOf(summaries);
  }

  /** Returns the same domains for all items. */
  static SimpleDbDomains of(List<String> domains) {
    return new SimpleDbDomains(domains, domains, domains);
  }

  /** Returns all domains, each once. */
  List<String> all() {
    Set<String> all = new LinkedHashSet<>(others);
    all.addAll(hits);
    all.addAll(summaries);
    return List.copyOf(all);
  }

  /** Returns the domain of an item: by a hash among those of its kind. */
  String of(Key key) {
    int hash = 31 * key.partition().hashCode() + key.sort().hashCode();
    int spread = hash ^ (hash >>> 16) ^ (hash >>> 7);
    List<String> some = kind(key);
    return some.get(Math.floorMod(spread, some.size()));
  }

  private List<String> kind(Key key) {
    if (isOfHits(key.partition())) {
      return hits;
    }
    return isOfCounter(key.partition()) && key.sort().equals("summary") ? summaries : others;
  }

  /** Returns the domains that may have items of a partition. */
  List<String> ofPartition(String partition) {
    if (isOfHits(partition)) {
      return hits;
    }
    if (!isOfCounter(partition)) {
      return others;
    }
    Set<String> both = new LinkedHashSet<>(others);
    both.addAll(summaries);
    return List.copyOf(both);
  }

  private static boolean isOfHits(String partition) {
    return partition.startsWith("hits/") || partition.startsWith("amounts/");
  }

  private static boolean isOfCounter(String partition) {
    return partition.startsWith("counter/");
  }
}
