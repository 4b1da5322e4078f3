package dev.quipu.verify.simulate;

import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.verify.checker.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** Many seeds of one technique, against the promises of its specification. */
public final class Trial {
  private static final Simulation.Size FREE = new Simulation.Size(3, 6, 0.2, false);
  private static final Simulation.Size BOUNDED = new Simulation.Size(3, 6, 0.2, true);

  private Trial() {}

  /**
   * What came of it.
   *
   * @param runs runs in which replies were lost; the others count as not run
   * @param broken the first promise that was broken: which, on which seed, how
   */
  public record Report(long runs, Optional<String> broken) {}

  /** Opens what is tried. */
  public interface Opener {
    /**
     * Opens it.
     *
     * @param bounds what every add will bring
     */
    Counters open(Store store, RandomGenerator random, Bounds bounds);
  }

  /** Tries the technique of this name on so many seeds. */
  public static Report of(String name, long firstSeed, long seeds) {
    TechniqueSpec spec = Techniques.named(name);
    return of(
        spec,
        (store, random, bounds) -> Backends.technique(spec, store, random, Optional.empty()),
        firstSeed,
        seeds);
  }

  /** Tries what the opener opens, against the promises of {@code spec}. */
  public static Report of(TechniqueSpec spec, Opener opener, long firstSeed, long seeds) {
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

  /** Whether a run of this kind can say anything about a promise. */
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
