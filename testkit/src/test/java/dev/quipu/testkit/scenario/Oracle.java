package dev.quipu.testkit.scenario;

import dev.quipu.simulation.steps.SimLink;
import java.util.ArrayList;
import java.util.List;

/** The common parts of simulated worlds: their links, and violations of guarantees. */
abstract class Oracle {
  private static final int VIOLATIONS_MAX = 5;

  final List<String> violations = new ArrayList<>();
  final List<SimLink> links = new ArrayList<>();

  /** Runs a scenario; returns the violations. */
  final List<String> checked(Runnable scenario) {
    try {
      scenario.run();
      check(faultCount() > 0, "no fault occurred in this run");
    } catch (IllegalStateException e) {
      violation("%s", e);
    }
    return violations;
  }

  /** Records a violation unless a condition holds. */
  @SuppressWarnings("AnnotateFormatMethod")
  final void check(boolean holds, String text, Object... arguments) {
    if (!holds) {
      violation(text, arguments);
    }
  }

  /** Records a violation. */
  @SuppressWarnings("AnnotateFormatMethod")
  final void violation(String text, Object... arguments) {
    if (violations.size() < VIOLATIONS_MAX) {
      violations.add(text.formatted(arguments));
    }
  }

  private long faultCount() {
    return links.stream().mapToLong(SimLink::faultCount).sum();
  }
}
