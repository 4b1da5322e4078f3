package dev.quipu.verify.steps;

import java.util.List;
import java.util.Map;

/** Runs scenarios from a command line: SCENARIO|all|planted FIRST COUNT. */
public final class StepsMain {
  private StepsMain() {}

  /** Runs seeds until one fails, of each scenario. */
  public static void main(String[] arguments) throws ReflectiveOperationException {
    Map<String, Scenarios.Scenario> all = Scenarios.all();
    long first = Long.parseLong(arguments[1]);
    long count = Long.parseLong(arguments[2]);
    if (arguments[0].equals("planted")) {
      planted(first, count);
      return;
    }
    boolean hasFailed = false;
    for (Map.Entry<String, Scenarios.Scenario> each : all.entrySet()) {
      if (!arguments[0].equals("all") && !each.getKey().matches(arguments[0])) {
        continue;
      }
      long start = System.nanoTime();
      long seed = first;
      List<String> violations = List.of();
      for (; seed < first + count && violations.isEmpty(); seed++) {
        violations = each.getValue().run(seed);
      }
      double spent = (System.nanoTime() - start) / 1e9;
      System.out.printf(
          "%s: %d seeds in %.1f s%s%n",
          each.getKey(),
          seed - first,
          spent,
          violations.isEmpty() ? "" : "; seed " + (seed - 1) + ": " + violations);
      hasFailed |= !violations.isEmpty();
    }
    System.exit(hasFailed ? 1 : 0);
  }

  private static void planted(long first, long count) throws ReflectiveOperationException {
    for (Planted each : PlantedFaults.all()) {
      String found = each.find(first, count);
      System.out.printf(
          "%s: %s: %s%n", each.scenario(), each.name(), found.isEmpty() ? "NOT FOUND" : found);
    }
  }
}
