package dev.quipu.simulation;

import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.simulation.checker.Verdict;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** Simulates a technique with many seeds and checks the guarantees of its specification. */
public final class GuaranteeCheck {
  private static final Simulation.Size FREE = new Simulation.Size(3, 6, 0.2, false);
  private static final Simulation.Size BOUNDED = new Simulation.Size(3, 6, 0.2, true);

  private GuaranteeCheck() {}

  /**
   * The result.
   *
   * @param runs number of runs in which replies were lost; other runs prove nothing
   * @param broken the first guarantee that was violated, with seed and history
   */
  public record Report(long runs, Optional<String> broken) {}

  /** Opens the counters of a run. */
  public interface Opener {
    /**
     * Opens the counters.
     *
     * @param bounds the bounds of every add
     */
    Counters open(Store store, RandomGenerator random, Bounds bounds);
  }

  /** Checks the technique of this name with {@code seeds} seeds. */
  public static Report run(String name, long firstSeed, long seeds) {
    TechniqueSpec spec = Techniques.named(name);
    return run(
        spec,
        (store, random, bounds) -> Backends.technique(spec, store, random, Optional.empty()),
        firstSeed,
        seeds);
  }

  /** Checks the counters that {@code opener} opens against the guarantees of {@code spec}. */
  public static Report run(TechniqueSpec spec, Opener opener, long firstSeed, long seeds) {
    long runs = 0;
    for (long seed = firstSeed; seed < firstSeed + seeds; seed++) {
      for (Simulation.Size size : sizes(spec)) {
        for (Simulation.Repeat repeat : repeats(spec)) {
          Bounds bounds = size.bounds();
          Simulation.Result result =
              Simulation.run(
                  (store, random) -> opener.open(store, random, bounds), repeat, size, seed);
          runs += result.hasLostReplies() ? 1 : 0;
          for (Guarantee guarantee : spec.guarantees()) {
            if (concerns(guarantee, repeat, size)
                && result.check(guarantee) instanceof Verdict.Broken broken) {
              return new Report(
                  runs,
                  Optional.of(
                      "%s broken: %s%nReplay: ./quipu verify --technique %s --seed %d%n%s"
                          .formatted(
                              guarantee, broken.why(), spec.name(), seed, result.history())));
            }
          }
        }
      }
    }
    return new Report(runs, Optional.empty());
  }

  private static List<Simulation.Size> sizes(TechniqueSpec spec) {
    return spec.promises(Guarantee.BOUNDED) ? List.of(FREE, BOUNDED) : List.of(FREE);
  }

  private static List<Simulation.Repeat> repeats(TechniqueSpec spec) {
    List<Simulation.Repeat> repeats = new ArrayList<>(List.of(Simulation.Repeat.NEVER));
    if (spec.remembersIds()) {
      repeats.add(Simulation.Repeat.UNDER_ID);
    }
    return repeats;
  }

  /** Returns whether a run of this kind can violate a guarantee. */
  private static boolean concerns(
      Guarantee guarantee, Simulation.Repeat repeat, Simulation.Size size) {
    return switch (guarantee) {
      case AT_MOST_ONCE, AT_LEAST_ONCE -> repeat == Simulation.Repeat.NEVER;
      case IDEMPOTENT, IDEMPOTENT_WITHIN_WINDOW -> repeat == Simulation.Repeat.UNDER_ID;
      case BOUNDED -> size.bounded();
      case ADD_AND_GET -> !size.bounded();
      case LINEARIZABLE_READ -> true;
    };
  }
}
