package dev.quipu.engine;

import java.util.Map;
import java.util.TreeMap;

/** Statistics of a simulation. */
final class SimReport {
  long seeds;
  long operations;
  long opens;
  long diskOperations;
  long steps;
  double virtualHours; // over a million seeds: more nanoseconds than a long holds
  final Map<String, Long> faults = new TreeMap<>();
  final Map<String, Long> states = new TreeMap<>();
  final Map<String, Long> results = new TreeMap<>();

  void fault(String kind) {
    faults.merge(kind, 1L, Long::sum);
  }

  void state(String reached) {
    states.merge(reached, 1L, Long::sum);
  }

  void result(String kind) {
    results.merge(kind, 1L, Long::sum);
  }

  long faultCount() {
    return faults.values().stream().mapToLong(Long::longValue).sum();
  }
}
