package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Calls the engine repeatedly. */
final class SimClient {
  private final SimWorld world;
  private final SplittableRandom random;
  private final SimFaultPlan plan;
  private final Engine engine;
  private @Nullable SimOperation current;
  private boolean isCalling;
  private @Nullable Thread thread;
  private long calledNanos;

  SimClient(SimWorld world, SplittableRandom random, SimFaultPlan plan, Engine engine) {
    this.world = world;
    this.random = random;
    this.plan = plan;
    this.engine = engine;
  }

  /** Returns the current call; null if there is none, or one that the model does not know. */
  @Nullable SimOperation current() {
    return current;
  }

  /** Interrupts its thread within a call. */
  void interrupt() {
    Thread calling = thread;
    if (isCalling && calling != null) {
      calling.interrupt();
      world.report.result("interrupted");
    }
  }

  boolean isCalling() {
    return isCalling;
  }

  long calledNanos() {
    return calledNanos;
  }

  void run(int calls) {
    thread = Thread.currentThread();
    for (int i = 0; i < calls && !hasStopped(); i++) {
      world.report.operations++;
      if (world.config.thinks
          && random.nextInt(3) > 0) { // otherwise it would lead for the others too
        SimHooks.parkNanos(this, random.nextInt(2_000_000));
      }
      if (random.nextInt(world.config.checkpointOneIn) == 0) {
        call(null, engine::checkpoint);
      } else if (random.nextInt(world.config.sweepOneIn) == 0) {
        call(null, engine::sweep);
      } else {
        SimOperation operation = next();
        call(operation, () -> operation.call(engine));
      }
    }
  }

  private boolean hasStopped() {
    try {
      return engine.failure().isPresent();
    } catch (Error e) { // injected
      return false;
    }
  }

  private void stop(Error why) {
    try {
      engine.stop(why);
    } catch (Error e) { // injected
      world.report.result("error while stopping");
    }
  }

  private SimOperation next() {
    int choice = random.nextInt(10);
    if (world.config.churns && choice < 8) {
      return new SimOperations(world, random, 1 + random.nextInt(4));
    } else if (world.config.transacts && choice < 5) {
      return new SimTransactions(world, random);
    } else if (choice < 3) {
      return new SimAdds(world, adds());
    } else if (choice < 7) {
      return new SimOperations(world, random, random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(5));
    } else if (choice < 9 && world.config.items > 0) {
      return new SimItems(world, random);
    }
    return new SimReads(world, random);
  }

  private List<Add> adds() {
    int count = random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(world.config.addsMax);
    List<Add> adds = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      boolean hasId = random.nextInt(4) > 0;
      long id = world.config.id(random);
      adds.add(
          new Add(
              world.config.counter(random),
              world.config.delta(random, id),
              world.config.bounds(random, id),
              hasId ? world.config.request(id) : null));
    }
    return adds;
  }

  private void call(@Nullable SimOperation operation, Runnable work) {
    current = operation;
    isCalling = true;
    calledNanos = world.clock.calmNanos();
    try {
      work.run();
      isCalling = false;
      boolean unused = Thread.interrupted();
      answered(operation);
    } catch (QuipuException e) {
      isCalling = false;
      boolean unused = Thread.interrupted();
      failed(operation, e);
    } catch (RuntimeException e) {
      isCalling = false;
      java.io.StringWriter trace = new java.io.StringWriter();
      e.printStackTrace(new java.io.PrintWriter(trace));
      world.violation("%s: threw %s".formatted(operation, trace));
    } catch (Error e) { // injected
      isCalling = false;
      world.report.result("error");
      if (plan.stopsOnError) {
        stop(e);
      }
    }
    current = null;
  }

  private void answered(@Nullable SimOperation operation) {
    world.report.result("answered");
    if (operation == null) {
      return;
    }
    if (operation.position < 0) {
      world.violation("%s: answered, but not run".formatted(operation));
      return;
    }
    operation.answered();
    acknowledge(operation);
  }

  private void acknowledge(SimOperation operation) {
    world.model.acknowledge(operation.position);
  }

  private void failed(@Nullable SimOperation operation, QuipuException e) {
    world.report.result(e.outcome() + " " + e.reason());
    if (operation == null || e.outcome() != Outcome.NOT_APPLIED) {
      return;
    }
    operation.expect(!operation.isApplied(), "outcome", Outcome.UNKNOWN, e.outcome());
    if (operation.hasChanged) {
      world.model.deny(operation.position);
    }
  }
}
