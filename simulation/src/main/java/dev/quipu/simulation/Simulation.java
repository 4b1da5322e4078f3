package dev.quipu.simulation;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.checker.Checkers;
import dev.quipu.simulation.checker.Verdict;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.history.History;
import dev.quipu.simulation.history.Operation;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.time.Randomness;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/**
 * Simulates a technique, some clients, one counter, and a store whose calls fail, all determined by
 * one seed. The same seed gives the same run.
 */
public final class Simulation {
  private static final String COUNTER = "simulated";
  private static final int ATTEMPTS_MAX = 40;
  private static final int DELTA_MAX = 3;
  private static final Bounds STOCK = Bounds.between(0, 8);

  /** What clients do after an unknown outcome. */
  public enum Repeat {
    /** Give up: the add counts at most once. */
    NEVER,
    /** Resend without an id, as a client library with automatic retries does. */
    BLINDLY,
    /** Resend under the same id. */
    UNDER_ID
  }

  /** Creates the technique under test. */
  public interface Factory {
    /** Opens the counters of a store. */
    Counters open(Store store, RandomGenerator random);

    /**
     * Returns the factory of a technique, which keeps request ids forever if it keeps them at all.
     */
    static Factory of(TechniqueSpec spec) {
      return of(spec, 1);
    }

    /** Returns the factory of a technique, sharded if there are several shards. */
    static Factory of(TechniqueSpec spec, int shards) {
      return (store, random) -> {
        Technique below = Backends.technique(spec, store, random, Optional.empty());
        return shards == 1 ? below : new Sharded(store, below, ShardOptions.fixed(shards), random);
      };
    }
  }

  /**
   * The size of a run.
   *
   * @param clients concurrent clients
   * @param adds adds of each client
   * @param faultRate fraction of calls that fail, from 0 to 1
   * @param bounded whether adds have both signs, within bounds; otherwise they are positive
   */
  public record Size(int clients, int adds, double faultRate, boolean bounded) {
    /** Returns the bounds of every add of the run. */
    public Bounds bounds() {
      return bounded ? STOCK : Bounds.none();
    }
  }

  /**
   * The result of a run.
   *
   * @param history the operations of clients with their results
   * @param finalValue the value of the counter at the end
   * @param faults how often each fault occurred
   */
  public record Result(History history, long finalValue, Map<Fault, Integer> faults) {
    /** Returns the verdict of a guarantee's checker. */
    public Verdict check(Guarantee guarantee) {
      return Checkers.of(guarantee).check(history.operations(), finalValue);
    }

    /**
     * Returns whether a fault occurred that a technique must handle; otherwise the run proves
     * nothing.
     */
    public boolean hasLostReplies() {
      return faults.getOrDefault(Fault.LOST_REPLY, 0) > 0;
    }
  }

  private final Repeat repeat;
  private final Size size;
  private final RandomGenerator random;
  private final History history = new History();
  private final Counters counters;
  private final FaultingDriver driver;
  private final ClientScheduler scheduler;

  private Simulation(Factory technique, Repeat repeat, Size size, long seed) {
    this.repeat = repeat;
    this.size = size;
    this.random = Randomness.seeded(seed);
    this.scheduler = new ClientScheduler(random);
    this.driver =
        new FaultingDriver(new MemoryDriver(), random, size.faultRate(), scheduler::switchClient);
    Store store = new Store(driver, new ManualClock(0), random, RetryPolicy.DEFAULT);
    this.counters = technique.open(store, random);
  }

  /** Runs one seed. */
  public static Result run(Factory technique, Repeat repeat, Size size, long seed) {
    return new Simulation(technique, repeat, size, seed).run();
  }

  private Result run() {
    List<Runnable> clients = new ArrayList<>();
    for (int i = 0; i < size.clients(); i++) {
      int number = i;
      clients.add(() -> client(number));
    }
    try {
      scheduler.run(clients);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    driver.heal();
    long value = counters.read(COUNTER).map(Reading::value).orElse(0L);
    return new Result(history, value, driver.fired());
  }

  private void client(int number) {
    for (int i = 0; i < size.adds(); i++) {
      long delta = 1 + random.nextLong(DELTA_MAX);
      if (size.bounded() && random.nextBoolean()) {
        delta = -delta;
      }
      add("client-" + number + "-add-" + i, delta);
      if (random.nextInt(3) == 0) {
        read();
      }
    }
  }

  private void add(String request, long delta) {
    RequestId id = repeat == Repeat.UNDER_ID ? RequestId.of(request) : null;
    Add add = new Add(COUNTER, delta, size.bounds(), id);
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      boolean definite = addOnce(request, add);
      if (definite || repeat == Repeat.NEVER) {
        return;
      }
    }
  }

  /** Makes one call; returns whether its outcome is definite. */
  private boolean addOnce(String request, Add add) {
    Bounds bounds = size.bounds();
    History.Pending call = history.add(request, add.delta(), bounds.floor(), bounds.ceiling());
    try {
      switch (counters.add(add)) {
        case AddResult.Applied applied -> call.end(Operation.End.OK, applied.valueIfKnown());
        case AddResult.Replayed again -> call.end(Operation.End.REPLAYED, again.valueIfKnown());
        case AddResult.Rejected rejected ->
            call.end(Operation.End.REJECTED, rejected.valueIfKnown());
        case AddResult.Conflict conflict ->
            throw new IllegalStateException("conflict for an unchanged request");
      }
      return true;
    } catch (QuipuException e) {
      boolean unknown = e.outcome() == Outcome.UNKNOWN;
      call.end(unknown ? Operation.End.UNKNOWN : Operation.End.FAILED, OptionalLong.empty());
      return false;
    }
  }

  private void read() {
    History.Pending call = history.read();
    try {
      long value = counters.read(COUNTER).map(Reading::value).orElse(0L);
      call.end(Operation.End.OK, OptionalLong.of(value));
    } catch (QuipuException e) {
      call.end(Operation.End.FAILED, OptionalLong.empty());
    }
  }
}
