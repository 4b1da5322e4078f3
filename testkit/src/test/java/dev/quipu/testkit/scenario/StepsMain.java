package dev.quipu.testkit.scenario;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.LongStream;

/** Runs scenarios from a command line. */
public final class StepsMain {
  private static final long SEEDS = 1_000;
  private static final long PLANTED_SEEDS = 10_000;
  private static final String USAGE =
      """
      Usage: ./dev simulate techniques [OPTION VALUE]...
        --scenario REGEX  run the scenarios with matching names (default: all)
        --seeds N         run N seeds of each (default: 1,000)
        --from N          start at seed N (default: 1)
        --seed N          replay seed N
        --planted all     plant faults in the code, and print what finds them\
      """;

  private StepsMain() {}

  /** Runs seeds of each scenario until one fails. */
  public static void main(String[] arguments) throws ReflectiveOperationException {
    System.exit(run(arguments));
  }

  /** Returns the exit code: 0 without violations, 1 if a scenario failed, 2 for a usage error. */
  static int run(String... arguments) throws ReflectiveOperationException {
    String pattern = ".*";
    long first = 1;
    long seeds = SEEDS;
    for (int i = 0; i < arguments.length; i += 2) {
      String value = i + 1 < arguments.length ? arguments[i + 1] : "";
      switch (arguments[i]) {
        case "--scenario" -> pattern = value;
        case "--from" -> first = number(value);
        case "--seeds" -> seeds = number(value);
        case "--seed" -> {
          first = number(value);
          seeds = 1;
        }
        case "--planted" -> {
          planted();
          return 0;
        }
        default -> first = 0;
      }
    }
    if (first < 1 || seeds < 1) {
      System.err.println(USAGE);
      return 2;
    }
    Map<String, Scenarios.Scenario> chosen = new LinkedHashMap<>(Scenarios.all());
    try {
      chosen.keySet().retainAll(named(pattern));
    } catch (PatternSyntaxException e) {
      System.err.printf("--scenario is not a regular expression: %s%n", e.getDescription());
      return 2;
    }
    if (chosen.isEmpty()) {
      System.err.printf(
          "no scenario has the name '%s'; there are:%n  %s%n",
          pattern, String.join("%n  ".formatted(), Scenarios.all().keySet()));
      return 2;
    }
    boolean hasFailed = false;
    for (Map.Entry<String, Scenarios.Scenario> each : chosen.entrySet()) {
      hasFailed |= !run(each.getKey(), each.getValue(), first, seeds);
    }
    return hasFailed ? 1 : 0;
  }

  private static List<String> named(String pattern) {
    return Scenarios.all().keySet().stream()
        .filter(Pattern.compile(pattern).asMatchPredicate())
        .toList();
  }

  private static boolean run(String name, Scenarios.Scenario scenario, long first, long seeds) {
    long start = System.nanoTime();
    AtomicLong done = new AtomicLong();
    Optional<String> problem =
        LongStream.range(first, first + seeds)
            .peek(seed -> done.incrementAndGet())
            .mapToObj(seed -> Scenarios.problem(name, scenario, seed))
            .flatMap(Optional::stream)
            .findFirst();
    double spent = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        "%s: %d seeds in %.1f s: %s%n", name, done.get(), spent, problem.orElse("as promised"));
    return problem.isEmpty();
  }

  private static void planted() throws ReflectiveOperationException {
    System.out.printf("| planted fault | scenario | first seed that finds it |%n|---|---|---|%n");
    for (Planted each : PlantedFaults.all()) {
      String found = each.find(1, PLANTED_SEEDS);
      String seed = found.isEmpty() ? "none" : found.replaceFirst("seed (\\d+).*", "$1");
      System.out.printf("| %s | %s | %s |%n", each.name(), each.scenario(), seed);
    }
  }

  /** Returns 0 if it is not a positive number. */
  private static long number(String value) {
    return value.matches("[1-9][0-9]{0,17}") ? Long.parseLong(value) : 0;
  }
}
