package dev.quipu.server.demo;

import dev.quipu.Add;
import dev.quipu.Counters;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Randomness;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * A technique on a store of its own in memory, with a client that repeats an add without a reply,
 * or gives up. Each attempt is made by another process, which remembers nothing.
 */
final class Performer {
  /** After the name of a technique: the client does not repeat. */
  static final String GIVES_UP = ":give-up";

  private static final String COUNTER = "count";
  private static final int ATTEMPTS_IN_PARTITION = 2;

  private final String name;
  private final TechniqueSpec spec;
  private final boolean repeats;
  private final MemoryDriver store = new MemoryDriver();
  private final ManualClock clock =
      new ManualClock(Instant.parse("2026-01-01T00:00:00Z").toEpochMilli());
  private int attempts;
  private int adds;

  Performer(String name) {
    this.name = name;
    this.repeats = !name.endsWith(GIVES_UP);
    this.spec = Techniques.named(repeats ? name : name.substring(0, name.indexOf(':')));
  }

  String name() {
    return name;
  }

  TechniqueSpec spec() {
    return spec;
  }

  /** Returns how often the client sent an add since the last call. */
  int takeAttempts() {
    int taken = attempts;
    attempts = 0;
    return taken;
  }

  /** Returns what the technique counted. */
  long value() {
    return open(store, Randomness.seeded(0)).read(COUNTER).map(Reading::value).orElse(0L);
  }

  /** Makes the adds of an action, with the failures that a random number decides. */
  void perform(Mishap mishap, RandomGenerator random) {
    switch (mishap) {
      case NONE -> {
        boolean unused = attempt(next(), Optional.empty(), random);
      }
      case LOST_REPLY -> failThenRepeat(Fault.LOST_REPLY, random);
      case DELIVERED_TWICE -> {
        Add add = next();
        boolean unused = attempt(add, Optional.empty(), random);
        boolean unusedToo = attempt(add, Optional.empty(), random);
      }
      case KILLED_WRITER -> failThenRepeat(lost(random), random);
      case PARTITION -> partition(random);
    }
  }

  private void failThenRepeat(Fault fault, RandomGenerator random) {
    Add add = next();
    if (!attempt(add, Optional.of(fault), random) && repeats) {
      boolean unused = attempt(add, Optional.empty(), random);
    }
  }

  private void partition(RandomGenerator random) {
    List<Add> unanswered = new ArrayList<>();
    for (int i = 0; i < Mishap.PARTITION.adds(); i++) {
      Add add = next();
      boolean isAnswered = attempt(add, Optional.of(lost(random)), random);
      for (int j = 1; j < ATTEMPTS_IN_PARTITION && repeats && !isAnswered; j++) {
        isAnswered = attempt(add, Optional.of(lost(random)), random);
      }
      if (repeats && !isAnswered) {
        unanswered.add(add);
      }
    }
    for (Add each : unanswered) { // the partition has ended
      boolean unused = attempt(each, Optional.empty(), random);
    }
  }

  private static Fault lost(RandomGenerator random) {
    return random.nextBoolean() ? Fault.LOST_REPLY : Fault.LOST_REQUEST;
  }

  private Add next() {
    RequestId id = RequestId.of("add-" + adds++);
    return new Add(COUNTER, 1, spec.remembersIds() ? id : null);
  }

  /** Sends an add from a new process; returns whether it got a reply. */
  private boolean attempt(Add add, Optional<Fault> fault, RandomGenerator random) {
    attempts++;
    FaultingDriver faulting =
        new FaultingDriver(
            store, random, fault.isPresent() ? 1 : 0, fault.stream().toList(), () -> {});
    StoreDriver link = new InterceptingDriver(faulting, new HealthyNames());
    try {
      var unused = open(link, random).add(add).orElseThrow();
      return true;
    } catch (QuipuException e) {
      return false;
    }
  }

  /** Lets a new process enter the name of the counter, which is not what fails here. */
  private final class HealthyNames implements InterceptingDriver.Interceptor {
    @Override
    public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      boolean isName = writes.getFirst() instanceof Write.Put put && put.fields().isEmpty();
      return isName ? store.write(writes.getFirst()) : call.get();
    }
  }

  private Counters open(StoreDriver driver, RandomGenerator random) {
    return Backends.technique(spec, new Store(driver, clock), random, Optional.empty());
  }
}
