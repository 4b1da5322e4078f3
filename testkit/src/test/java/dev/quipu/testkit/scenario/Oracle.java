package dev.quipu.testkit.scenario;

import dev.quipu.simulation.steps.SimLink;
import java.util.ArrayList;
import java.util.List;

/** What every simulated world has: its links, and what is not as promised in it. */
abstract class Oracle {
  private static final int VIOLATIONS_MAX = 5;

  final List<String> violations = new ArrayList<>();
  final List<SimLink> links = new ArrayList<>();

  /** Runs a scenario; returns what is not as promised. */
  final List<String> checked(Runnable scenario) {
    try {
      scenario.run();
      check(faultCount() > 0, "nothing went wrong in this run");
    } catch (IllegalStateException e) {
      violation("%s", e);
    }
    return violations;
  }

  /** Notes a violation unless something holds. */
  @SuppressWarnings("AnnotateFormatMethod")
  final void check(boolean holds, String text, Object... arguments) {
    if (!holds) {
      violation(text, arguments);
    }
  }

  /** Notes that something is not as promised. */
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
