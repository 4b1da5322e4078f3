package dev.quipu.engine;

/** Runs the simulation from a command line. */
public final class SimulationMain {
  private static final long SEEDS = 1_000;

  private SimulationMain() {}

  /** Runs seeds until one fails, or the requested number. */
  public static void main(String[] arguments) throws Exception {
    System.setProperty("jdk.trackAllThreads", "false");
    long seeds = 0;
    long from = 1;
    long keepGoing = 0;
    long seconds = 0;
    if (!String.join(" ", arguments).matches("((--[a-z-]+ [1-9][0-9]{0,17}( |$))*)")) {
      usage();
    }
    for (int i = 0; i < arguments.length; i += 2) {
      long value = Long.parseLong(arguments[i + 1]);
      switch (arguments[i]) {
        case "--seeds" -> seeds = value;
        case "--from" -> from = value;
        case "--seconds" -> seconds = value;
        case "--seed" -> {
          from = value;
          seeds = 1;
        }
        case "--keep-going" -> keepGoing = value;
        case "--planted" -> {
          planted(value);
          return;
        }
        default -> usage();
      }
    }
    if (seeds == 0) {
      seeds = seconds == 0 ? SEEDS : Long.MAX_VALUE - from;
    }
    SimLoader loader = new SimLoader(true, null);
    SimRunner.In runner = SimRunner.in(loader);
    long start = System.nanoTime();
    long done = 0;
    boolean hasFailed = false;
    for (long seed = from; seed < from + seeds; seed++) {
      String wrong = runner.run(seed);
      done++;
      if (wrong != null) {
        hasFailed = true;
        System.out.println("seed " + seed + ": " + wrong);
        System.out.println("replay: ./dev simulate --seed " + seed);
        if (keepGoing-- > 0) {
          continue;
        }
        System.out.println(runner.report());
        System.exit(1);
      }
      if (seconds != 0 && System.nanoTime() - start > seconds * 1_000_000_000L) {
        break;
      }
    }
    double spent = (System.nanoTime() - start) / 1e9;
    System.out.println(runner.report());
    System.out.printf(
        "%d seeds in %.1f s, %.0f a second: %s%n",
        done,
        spent,
        done / spent,
        hasFailed ? "failed" : "nothing lost, duplicated or resurrected");
    if (hasFailed) {
      System.exit(1);
    }
  }

  private static void usage() {
    System.err.println(
        """
        Usage: ./dev simulate [OPTION NUMBER]...
          --seeds N       run N seeds (default: 1,000, unless --seconds is given)
          --from N        start at seed N (default: 1)
          --seconds N     stop after N seconds
          --seed N        replay seed N
          --keep-going N  continue after up to N failed seeds
          --planted N     plant each bug, and search for it in seeds 1 to N\
        """);
    System.exit(2);
  }

  /** Plants bugs, and prints the first seed that finds each of them. */
  private static void planted(long seedsMax) throws ReflectiveOperationException {
    SimRunner.In sound = SimRunner.in(new SimLoader(true, null));
    System.out.println("| planted bug | first seed that finds it | what it finds |");
    System.out.println("|---|---|---|");
    for (var each : SimMutations.all().entrySet()) {
      SimRunner.In runner = SimRunner.in(new SimLoader(true, each.getValue()));
      String found = "| none of " + seedsMax + " | |";
      for (long seed = 1; seed <= seedsMax; seed++) { // each from a separate state
        String wrong = runner.run(seed);
        if (wrong != null && sound.run(seed) == null) {
          String first = wrong.lines().limit(2).reduce("", (a, b) -> a + " " + b).strip();
          found = "| %d | %s |".formatted(seed, first.substring(0, Math.min(160, first.length())));
          break;
        }
      }
      System.out.println("| " + each.getKey() + " " + found);
    }
  }
}
