package dev.quipu.simulation.proxy;

import dev.quipu.time.Randomness;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * Decides which requests fail, and how. Called for each read and each write, in order of arrival.
 */
public interface FaultPlan {
  /** Returns the fault of this request; empty for none. */
  Optional<WireFault> next(Protocol.Request request);

  /** Returns a plan without faults. */
  static FaultPlan none() {
    return request -> Optional.empty();
  }

  /**
   * Returns a plan in which the next requests of each fault's kind fail in this order, and no
   * others.
   */
  static FaultPlan of(WireFault... faults) {
    ConcurrentLinkedQueue<WireFault> left = new ConcurrentLinkedQueue<>(List.of(faults));
    return request -> {
      WireFault first = left.peek();
      boolean fits = first != null && first.isOfReads() == (request.kind() == Protocol.Kind.READ);
      return fits ? Optional.ofNullable(left.poll()) : Optional.empty();
    };
  }

  /**
   * Returns a plan in which writes fail at random.
   *
   * @param probability from 0 to 1
   * @param concerned selects the writes that may fail
   */
  static FaultPlan atRandom(
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
