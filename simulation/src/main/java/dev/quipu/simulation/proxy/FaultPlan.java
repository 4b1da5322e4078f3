package dev.quipu.simulation.proxy;

import dev.quipu.time.Randomness;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/** Which requests go wrong, and how. Called for each read and each write, in order of arrival. */
public interface FaultPlan {
  /** What goes wrong with this request; empty if nothing does. */
  Optional<WireFault> next(Protocol.Request request);

  /** Nothing goes wrong. */
  static FaultPlan none() {
    return request -> Optional.empty();
  }

  /** The next request of the kind goes wrong so, then the next one so, and then nothing. */
  static FaultPlan of(WireFault... faults) {
    ConcurrentLinkedQueue<WireFault> left = new ConcurrentLinkedQueue<>(List.of(faults));
    return request -> {
      WireFault first = left.peek();
      boolean fits = first != null && first.isOfReads() == (request.kind() == Protocol.Kind.READ);
      return fits ? Optional.ofNullable(left.poll()) : Optional.empty();
    };
  }

  /**
   * Writes go wrong by chance.
   *
   * @param probability from 0 to 1
   * @param concerned of which writes; the others never do
   */
  static FaultPlan byChance(
      long seed, double probability, WireFault fault, Predicate<byte[]> concerned) {
    RandomGenerator random = Randomness.seeded(seed);
    return request -> {
      if (request.kind() != Protocol.Kind.WRITE || !concerned.test(request.written())) {
        return Optional.empty();
      }
      synchronized (random) {
        return random.nextDouble() < probability ? Optional.of(fault) : Optional.empty();
      }
    };
  }
}
