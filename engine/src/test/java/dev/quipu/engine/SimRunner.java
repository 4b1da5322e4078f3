package dev.quipu.engine;

import java.lang.reflect.Constructor;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Runs seeds in the class loader that defined this class. */
public final class SimRunner
    implements LongFunction<@Nullable String>,
        BiFunction<Long, Integer, @Nullable String>,
        ToIntFunction<Integer>,
        Supplier<String> {
  private final SimReport report = new SimReport();

  /** Creates a runner; used by {@link #in} only. */
  public SimRunner(int sites) {
    SimHooks.sites(sites);
    var logger = org.slf4j.LoggerFactory.getLogger("dev.quipu.engine");
    ((ch.qos.logback.classic.Logger) logger).setLevel(ch.qos.logback.classic.Level.OFF);
  }

  @Override
  public @Nullable String apply(long seed) {
    return Simulation.run(seed, report, new Simulation.SimTweaks());
  }

  /** Runs a seed whose only fault is an Error at one site, at its first passage; -1 for none. */
  @Override
  public @Nullable String apply(Long seed, Integer site) {
    long before = SimHooks.thrown();
    Simulation.SimTweaks one =
        new Simulation.SimTweaks() {
          @Override
          SimFaultPlan plan(SimFaultPlan plan) {
            SimFaultPlan made = new SimFaultPlan();
            made.throwSite = SimHooks.thrown() == before ? site : -1;
            made.throwAt = made.throwSite < 0 ? 0 : 1;
            return made;
          }

          @Override
          boolean needsFault() {
            return false;
          }
        };
    return Simulation.run(seed, report, one);
  }

  /** Returns how often a site was passed. */
  @Override
  public int applyAsInt(Integer site) {
    return SimHooks.hits()[site];
  }

  @Override
  public String get() {
    StringBuilder text = new StringBuilder();
    text.append(
        "%d seeds, %d calls, %d starts, %d disk operations, %d steps, %.1f simulated hours%n"
            .formatted(
                report.seeds,
                report.operations,
                report.opens,
                report.diskOperations,
                report.steps,
                report.virtualHours));
    append(text, "faults", report.faults);
    append(text, "results", report.results);
    append(text, "states at the end", report.states);
    return text.toString();
  }

  private static void append(StringBuilder text, String title, Map<String, Long> counts) {
    text.append(title).append(":\n");
    counts.forEach((name, count) -> text.append("  %,10d  %s%n".formatted(count, name)));
  }

  /** Creates a runner in a class loader. */
  static In in(SimLoader loader) throws ReflectiveOperationException {
    loader.loadAll();
    Constructor<?> constructor =
        loader.loadClass(SimRunner.class.getName()).getConstructor(int.class);
    return new In(constructor.newInstance(loader.sites().size()));
  }

  /** A runner that lives in another class loader. */
  record In(Object runner) {
    @SuppressWarnings("unchecked")
    @Nullable String run(long seed) {
      return ((LongFunction<@Nullable String>) runner).apply(seed);
    }

    @SuppressWarnings("unchecked")
    @Nullable String run(long seed, int site) {
      return ((BiFunction<Long, Integer, @Nullable String>) runner).apply(seed, site);
    }

    @SuppressWarnings("unchecked")
    int passed(int site) {
      return ((ToIntFunction<Integer>) runner).applyAsInt(site);
    }

    @SuppressWarnings("unchecked")
    String report() {
      return ((Supplier<String>) runner).get();
    }
  }
}
