package dev.quipu.server.demo;

import dev.quipu.time.Randomness;
import java.util.ArrayList;
import java.util.List;

/**
 * Lets techniques count the same adds under the same failures, each on a store of its own in
 * memory. The same seed, techniques and actions give the same result.
 */
public final class Demo {
  /** What a technique does wrong on either side, and one that is exact. */
  public static final List<String> TECHNIQUES =
      List.of("atomic-add" + Performer.GIVES_UP, "atomic-add", "marker-item");

  /** Maximum number of techniques. */
  public static final int TECHNIQUES_MAX = 4;

  /** Maximum number of adds: a partition has five, other actions have one. */
  public static final int ADDS_MAX = 100;

  private Demo() {}

  /**
   * A technique after an action.
   *
   * @param value what it counted so far
   * @param attempts how often its client sent an add during the action
   */
  public record Count(String technique, long value, int attempts) {}

  /**
   * An action.
   *
   * @param truth the number of adds that clients made so far
   */
  public record Step(Mishap mishap, long truth, List<Count> counts) {
    /** Copies the list. */
    public Step {
      counts = List.copyOf(counts);
    }
  }

  /**
   * Returns what each technique counts.
   *
   * @param techniques names of techniques; one whose client does not repeat ends with {@code
   *     :give-up}
   * @throws IllegalArgumentException naming the limit, or an unknown technique
   */
  public static List<Step> run(long seed, List<String> techniques, List<Mishap> actions) {
    check("techniques", techniques.size(), TECHNIQUES_MAX);
    check("adds", actions.stream().mapToInt(Mishap::adds).sum(), ADDS_MAX);
    List<Performer> performers = techniques.stream().map(Performer::new).toList();
    List<Step> steps = new ArrayList<>();
    long truth = 0;
    for (int i = 0; i < actions.size(); i++) {
      Mishap mishap = actions.get(i);
      truth += mishap.adds();
      List<Count> counts = new ArrayList<>();
      for (Performer each : performers) { // the same failures for all
        each.perform(mishap, Randomness.seeded(seed * ADDS_MAX + i));
        counts.add(new Count(each.name(), each.value(), each.takeAttempts()));
      }
      steps.add(new Step(mishap, truth, counts));
    }
    return steps;
  }

  private static void check(String what, int size, int max) {
    if (size < 1 || size > max) {
      throw new IllegalArgumentException(
          "%d %s; the number must be from 1 to %d".formatted(size, what, max));
    }
  }

  /** Returns the guarantee of a technique after a lost reply, in words. */
  public static String afterLostReply(String technique) {
    return new Performer(technique).spec().afterLostReply();
  }
}
