package dev.quipu.verify.steps;

import java.util.List;
import java.util.Map;

/** Runs scenarios from a command line: SCENARIO|all FIRST COUNT. */
public final class StepsMain {
  private StepsMain() {}

  /** Runs seeds until one fails, of each scenario. */
  public static void main(String[] arguments) {
    Map<String, Scenarios.Scenario> all = Scenarios.all();
    long first = Long.parseLong(arguments[1]);
    long count = Long.parseLong(arguments[2]);
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
}
