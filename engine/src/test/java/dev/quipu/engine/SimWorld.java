package dev.quipu.engine;

import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import java.util.IdentityHashMap;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** State shared by the parts of one simulated run. */
final class SimWorld implements SimHooks.Listener {
  final long seed;
  final SimClock clock = new SimClock();
  final SimConfig config;
  final SimModel model;
  final SimReport report;
  final SimStorage storage = new SimStorage();
  final long startMillis = clock.epochMillis();
  private final IdentityHashMap<Task, SimOperation> tasks = new IdentityHashMap<>();
  private final IdentityHashMap<Thread, SimClient> clients = new IdentityHashMap<>();
  private @Nullable State state;
  private @Nullable SimScheduler scheduler;
  private @Nullable String violation;
  private long openNanos;
  private long openWallMillis;
  private long openAgeMillis;
  private boolean hasTicked;
  private boolean isVerified;
  private int leaps; // starts since the engine's time was observed
  private long lastWallMillis;
  private long lastAgeMillis;
  private long ageMillisBefore = Long.MIN_VALUE;

  SimWorld(long seed, SplittableRandom random, SimReport report) {
    this.seed = seed;
    this.report = report;
    this.config = new SimConfig(random, clock);
    this.model = new SimModel(config.windowMillis);
  }

  @Nullable String violation() {
    return violation;
  }

  /** Ends the run because of a violation by the engine. */
  void violation(String what) {
    if (violation == null) {
      violation = what;
    }
    SimScheduler threads = scheduler;
    if (threads != null) {
      threads.stop();
    }
  }

  /** Called when a process starts. */
  void begin(SimScheduler threads) {
    scheduler = threads;
    tasks.clear();
    clients.clear();
    state = null;
    hasTicked = false;
    leaps++;
    openNanos = clock.nanoTime();
    openWallMillis = clock.epochMillis();
  }

  void add(Thread thread, SimClient client) {
    clients.put(thread, client);
  }

  State stateAtWork() {
    return java.util.Objects.requireNonNull(state);
  }

  long wallMillisMax() {
    return model.wallMillisMax();
  }

  @Override
  public void runsOn() {
    java.io.StringWriter trace = new java.io.StringWriter();
    new Throwable().printStackTrace(new java.io.PrintWriter(trace));
    violation("a thread runs on and on: %s".formatted(trace));
    java.util.Objects.requireNonNull(scheduler).kill();
  }

  @Override
  public void submitted(Task task) {
    SimClient client = clients.get(Thread.currentThread());
    SimOperation operation = client == null ? null : client.current();
    if (operation != null) {
      tasks.put(task, operation);
    }
  }

  @Override
  public void running(Task task, State current) {
    state = current;
    checkClocks(current);
    model.sawWall(current.wallMillis);
    model.sawAge(current.timeMillis);
    SimOperation operation = tasks.get(task);
    if (operation != null) {
      operation.running(current);
    }
  }

  @Override
  public void ran(Task task, State current, boolean isDone) {
    SimOperation operation = tasks.get(task);
    if (operation != null) {
      operation.ran(task, current);
      if (isDone) {
        tasks.remove(task);
      }
    }
    SimHolds.swept(model, current, isVerified, this::violation);
  }

  /** Called when the model has the state that the engine found at its start. */
  void verified() {
    isVerified = true;
  }

  /** Called when a process has ended. */
  void end() {
    isVerified = false;
    if (hasTicked) {
      long elapsed = (clock.nanoTime() - openNanos) / 1_000_000;
      ageMillisBefore = Math.max(ageMillisBefore, openAgeMillis + elapsed + 2);
    } else if (ageMillisBefore != Long.MIN_VALUE) { // nothing was observed, but it may have run
      ageMillisBefore += (clock.nanoTime() - openNanos) / 1_000_000 + 2;
    }
  }

  /**
   * Checks the engine's times: neither goes back. The wall time starts at the machine's and then
   * advances at most at 9/8 of real speed; the age time advances at most at real speed, and leaps
   * at a start by at most an eighth of the window. A task sees the times of the start of its group,
   * which may be late.
   */
  private void checkClocks(State current) {
    long elapsed = (clock.nanoTime() - openNanos) / 1_000_000;
    long wall = current.wallMillis;
    long age = current.timeMillis;
    if (wall > openWallMillis + elapsed * 9 / 8 + 2 || (hasTicked && wall < lastWallMillis)) {
      violation("wall time %d, %d ms after a start at %d".formatted(wall, elapsed, openWallMillis));
    }
    if (!hasTicked) {
      openAgeMillis = age;
      long leap = leaps * (config.windowMillis / 8) + elapsed + 2;
      if (model.hasRequests() && age > ageMillisBefore + leap) {
        violation("age time leaps from %d to %d".formatted(ageMillisBefore, age));
      }
    }
    if (hasTicked && (age < lastAgeMillis || age > openAgeMillis + elapsed + 2)) {
      violation("age time %d after %d".formatted(age, lastAgeMillis));
    }
    hasTicked = true;
    leaps = 0;
    lastWallMillis = wall;
    lastAgeMillis = age;
  }
}
