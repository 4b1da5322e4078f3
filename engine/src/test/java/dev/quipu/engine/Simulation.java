package dev.quipu.engine;

import dev.quipu.QuipuException;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.Threads;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.state.CounterContent;
import dev.quipu.engine.state.CounterTable;
import dev.quipu.engine.state.State;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/*
 * One run: several processes, one after the other, over one simulated disk. Each opens the engine,
 * compares the complete state to the model, runs clients, and ends: it is closed, is killed, or the
 * power fails, at a random disk operation, while it is opened or later.
 */

/** A deterministic run of the engine, determined by a seed. */
final class Simulation {
  private static final Path DIRECTORY = Path.of("/simulated/data");
  private static final long STEPS_MAX = 1_000_000;
  private static final int PROCESSES_MAX = 100;

  private final SplittableRandom random;
  private final SimReport report;
  private final SimWorld world;
  private final List<SimClient> clients = new ArrayList<>();
  private final SimTweaks tweaks;
  private SimFaultPlan plan = new SimFaultPlan();
  private @Nullable Engine engine;
  private @Nullable Throwable openFailure;
  private boolean isOpening;
  private boolean isClosing;
  private boolean isEnded;
  private boolean isOpen;
  private long erredNanos;
  private final long operationsBefore;
  private final long faultsBefore;

  /**
   * Deviations of a run from the default: for tests of the simulation itself, and of single sites.
   */
  static class SimTweaks {
    /** Returns the faults that a process meets. */
    SimFaultPlan plan(SimFaultPlan plan) {
      return plan;
    }

    /** Returns whether a run continues until it has met a fault. */
    boolean needsFault() {
      return true;
    }
  }

  private Simulation(long seed, SimReport report, SimTweaks tweaks) {
    this.random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + 0x632BE59BD9B4E019L);
    this.report = report;
    this.tweaks = tweaks;
    this.operationsBefore = report.operations;
    this.faultsBefore = report.faultCount();
    this.world = new SimWorld(seed, random.split(), report);
  }

  /**
   * Runs a seed.
   *
   * @return the violation by the engine; null if there is none
   */
  static @Nullable String run(long seed, SimReport report, SimTweaks tweaks) {
    Simulation simulation = new Simulation(seed, report, tweaks);
    try {
      simulation.run();
    } finally {
      SimHooks.disarm();
    }
    report.seeds++;
    report.virtualHours += simulation.world.clock.nanoTime() / 3.6e12;
    return simulation.world.violation();
  }

  private void run() {
    world.storage.change(names -> {
      names.put(Path.of("/simulated"), SimStorage.DIRECTORY);
      names.put(DIRECTORY, SimStorage.DIRECTORY);
    });
    world.storage.commit();
    int processes = world.config.processes;
    for (int i = 0; world.violation() == null; i++) {
      boolean hasFault = report.faultCount() > faultsBefore || !tweaks.needsFault();
      boolean isLast = i >= processes && operationsLeft() <= 0 && hasFault;
      plan = isLast ? new SimFaultPlan() : tweaks.plan(plan());
      process(isLast);
      if (isLast) {
        break;
      }
      if (i > PROCESSES_MAX) {
        long calls = report.operations - operationsBefore;
        world.violation("only %d calls in %d processes".formatted(calls, i));
      }
      betweenProcesses();
    }
  }

  /** Returns how many calls are missing. */
  private long operationsLeft() {
    return SimConfig.OPERATIONS - (report.operations - operationsBefore);
  }

  private SimFaultPlan plan() {
    SimConfig config = world.config;
    SimFaultPlan made = new SimFaultPlan();
    made.operationNanos = config.passesTime ? 1_000L << random.nextInt(16) : 20_000;
    if (random.nextInt(4) > 0) {
      made.crashAt = 1 + random.nextInt(random.nextInt(3) == 0 ? 40 : 500);
      made.crashMoment =
          switch (random.nextInt(3)) {
            case 0 -> SimFaultPlan.Moment.BEFORE;
            case 1 -> SimFaultPlan.Moment.AMID;
            default -> SimFaultPlan.Moment.AFTER;
          };
    }
    if (config.hasDiskErrors && random.nextBoolean()) {
      made.errorAt = 1 + random.nextInt(300);
      made.errorCount = random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(200);
      if (random.nextBoolean()) {
        EnumSet<SimDisk.Kind> kinds = EnumSet.noneOf(SimDisk.Kind.class);
        for (SimDisk.Kind kind : SimDisk.Kind.values()) {
          if (random.nextInt(3) == 0) {
            kinds.add(kind);
          }
        }
        made.errorKinds = kinds;
        made.errorCount = 1 + random.nextInt(200);
      }
    }
    if (config.getsFull && random.nextBoolean()) {
      made.fullFrom = 1 + random.nextInt(300);
      made.fullUntil = made.fullFrom + 1 + random.nextInt(300);
    }
    if (config.throwsErrors && random.nextBoolean()) {
      made.throwAt = 1 + random.nextInt(random.nextBoolean() ? 2_000 : 60_000);
      made.throwTimes = random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(6);
      made.throwKind = random.nextInt(3);
      made.stopsOnError = random.nextBoolean();
    }
    return made;
  }

  /** Simulates the time, and the jumps of the clock, while no process runs. */
  private void betweenProcesses() {
    if (random.nextInt(3) == 0) {
      world.clock.advance(random.nextLong(world.config.windowMillis * 2) * 1_000_000);
    }
    if (world.config.jumps && random.nextInt(3) == 0) {
      jump();
    }
  }

  private void jump() {
    report.fault("clock jump");
    switch (random.nextInt(4)) {
      case 0 -> world.clock.correct();
      case 1 -> world.clock.jump(random.nextLong(-5_000, 5_000));
      case 2 -> world.clock.jump(random.nextLong(-2, 2) * world.config.windowMillis);
      default -> world.clock.jump((random.nextBoolean() ? 1 : -1) * 10L * 365 * 86_400_000);
    }
  }

  private void process(boolean isLast) {
    SimScheduler scheduler =
        new SimScheduler(random.split(), world.clock, world.config.switchOneIn, this::threadEnded);
    SimDisk disk = new SimDisk(world.storage, scheduler, world.clock, random.split(), plan, report);
    clients.clear();
    engine = null;
    openFailure = null;
    isOpening = true;
    isClosing = false;
    isEnded = false;
    isOpen = false;
    erredNanos = 0;
    SimHooks.install(world, scheduler, world.clock, random.split());
    SimHooks.switchAtSites(world.config.switchAtSites);
    world.begin(scheduler);
    var unused = scheduler.start("process", () -> live(scheduler, disk, isLast));
    if (plan.throwSite >= 0) {
      SimHooks.armSite(plan.throwSite, plan.throwAt, plan.throwKind);
    } else {
      SimHooks.arm(plan.throwAt, plan.throwTimes, plan.throwKind);
    }
    scheduler.run(() -> isEnded, new Watching(scheduler, disk));
    report.steps += scheduler.steps();
    report.diskOperations += disk.operations();
    SimHooks.switchAtSites(0);
    int thrown = SimHooks.fired();
    if (plan.throwAt > 0 && thrown > 0) {
      report.fault("error thrown");
    }
    SimHooks.disarm();
    endProcess(disk, thrown);
  }

  /** Handles an exception of a thread, which must have stopped the engine. */
  private void threadEnded(Throwable e) {
    Engine running = engine;
    boolean isInjected = e instanceof VirtualMachineError && SimHooks.fired() > 0;
    if (!isInjected || (running != null && !failureOf(running).hasEnded())) {
      world.violation("a thread ended with %s".formatted(trace(e)));
    }
  }

  private static Failure failureOf(Engine engine) {
    try {
      java.lang.reflect.Field field = Engine.class.getDeclaredField("failure");
      field.setAccessible(true); // Engine.failure returns the cause only, and not after a close
      return (Failure) java.util.Objects.requireNonNull(field.get(engine));
    } catch (ReflectiveOperationException broken) {
      throw new IllegalStateException(broken);
    }
  }

  static final boolean TRACE = Boolean.getBoolean("simulation.trace");

  static void trace(String format, @Nullable Object... arguments) {
    if (TRACE) {
      System.out.printf(format + "%n", arguments);
    }
  }

  private void endProcess(SimDisk disk, int thrown) {
    trace(
        "process ends: thrown %d at %d, disk errors %d, full %d, crash %s, opening %s closing %s ended %s, open failure %s",
        thrown,
        SimHooks.lastSite(),
        disk.errors(),
        disk.fullRejections(),
        disk.atCrash(),
        isOpening,
        isClosing,
        isEnded,
        openFailure);
    world.end();
    if (world.violation() != null) {
      return;
    }
    Engine ended = engine;
    Throwable cause = ended == null ? null : ended.failure().orElse(null);
    boolean isInjected = cause instanceof IOException || (cause instanceof Error && thrown > 0);
    if (cause != null && !isInjected) {
      world.violation("the engine has stopped: %s".formatted(trace(cause)));
      return;
    }
    Throwable failure = openFailure;
    if (failure != null && !isExcused(failure, disk, thrown)) {
      world.violation("the engine did not open: %s".formatted(trace(failure)));
      return;
    }
    if (!disk.atCrash().isEmpty()) {
      String when = isOpening ? "opening" : isClosing ? "closing" : "running";
      report.state(when + ", " + disk.atCrash());
      String draft = disk.underWay();
      report.state(when + (draft == null ? ", nothing under way" : ", " + draft + " under way"));
    }
    if (world.config.cutsPower && random.nextBoolean()) {
      report.fault("power cut");
      if (!world.config.isSynced) {
        world.model.forgetAcknowledged();
      }
      world.storage.cutPower(random);
    } else {
      if (!disk.atCrash().isEmpty()) {
        report.fault("kill");
      }
      world.storage.killProcess();
    }
  }

  private static boolean isExcused(Throwable failure, SimDisk disk, int thrown) {
    boolean isDamage = failure instanceof DamageException;
    return thrown > 0 || (!isDamage && (disk.errors() > 0 || disk.fullRejections() > 0));
  }

  /** Runs one process. */
  private void live(SimScheduler scheduler, SimDisk disk, boolean isLast) {
    try {
      liveUntilClosed(scheduler, disk, isLast);
    } finally {
      isEnded = true;
    }
  }

  private void liveUntilClosed(SimScheduler scheduler, SimDisk disk, boolean isLast) {
    try {
      engine = Engine.open(DIRECTORY, world.config.options, new Environment(disk, scheduler));
    } catch (QuipuException | VirtualMachineError e) {
      openFailure = e;
      return;
    }
    report.opens++;
    isOpening = false;
    Engine opened = engine;
    try {
      verify(opened);
      if (!isLast) {
        work(scheduler, opened);
      }
    } catch (QuipuException | VirtualMachineError e) {
      if (SimHooks.fired() == 0 && opened.failure().isEmpty()) {
        world.violation("verification failed: %s".formatted(trace(e)));
      }
    }
    isClosing = true;
    try {
      opened.close();
    } catch (VirtualMachineError e) {
      report.result("error while closing");
    }
  }

  private void work(SimScheduler scheduler, Engine opened) {
    isOpen = true;
    List<Thread> threads = new ArrayList<>();
    int calls = (int) Math.max(20, operationsLeft() / Math.max(1, world.config.processes - 1));
    int each = 1 + calls / world.config.clients;
    for (int i = 0; i < world.config.clients; i++) {
      SimClient client = new SimClient(world, random.split(), plan, opened);
      clients.add(client);
      Thread thread =
          scheduler.start(
              "client",
              () -> {
                world.add(Thread.currentThread(), client);
                client.run(each);
              });
      threads.add(thread);
    }
    for (Thread thread : threads) {
      Threads.join(thread);
    }
    isOpen = false;
  }

  /** Compares the complete state to the model. */
  private void verify(Engine opened) {
    SimModel.Seen seen = new SimModel.Seen();
    List<SimModel.Request> requests = world.model.requests();
    Operation reading =
        new Operation() {
          @Override
          public int bytesMax(CounterAccess access) {
            return 0;
          }

          @Override
          public void on(CounterAccess access) {
            readCounters(access, requests, seen);
          }

          @Override
          public void failed(RuntimeException why) {
            world.violation("the state cannot be read: %s".formatted(trace(why)));
          }
        };
    opened.run(List.of(reading));
    SimItems.readAll(opened, seen);
    trace("verify: age %d wall %d, cells %s", seen.ageMillis, seen.wallMillis, seen.cells.keySet());
    String wrong = world.model.recover(seen);
    if (wrong != null) {
      world.violation("after a start: %s".formatted(wrong));
    }
    world.verified();
  }

  private void readCounters(
      CounterAccess access, List<SimModel.Request> requests, SimModel.Seen seen) {
    seen.wallMillis = access.nowMillis();
    State state = world.stateAtWork();
    seen.ageMillis = state.timeMillis;
    List<String> alive = new ArrayList<>();
    CounterTable counters = state.counters;
    for (int ordinal = 0; ordinal < counters.size(); ordinal++) {
      CounterContent content = counters.content(ordinal, state.ids);
      if (content != null && content.isWritten) {
        byte[] text = content.text;
        SimModel.Cell cell =
            new SimModel.Cell(
                content.value,
                text == null ? null : new String(text, StandardCharsets.US_ASCII),
                content.expiresAt);
        seen.cells.put(content.name, cell);
        if (cell.isAlive(seen.wallMillis)) {
          alive.add(content.name);
        }
      }
    }
    Collections.sort(alive);
    List<String> names = access.names("", "", 1_000);
    if (!names.equals(alive)) {
      world.violation("names after a start are %s, expected %s".formatted(names, alive));
    }
    readRequests(state, requests, seen);
    SimHolds.readAll(state, world.model.sharedKeys(), seen);
  }

  /** Reads the request ids of files and tables, older than the window or not. */
  private void readRequests(State state, List<SimModel.Request> requests, SimModel.Seen seen) {
    long[] entry = new long[IdTable.STRIDE];
    for (SimModel.Request request : requests) {
      int ordinal = state.counters.find(request.counter());
      dev.quipu.RequestId id = world.config.request(request.id());
      if (ordinal >= 0 && state.ids.find(id.high(), id.low(), ordinal, 0, entry)) {
        boolean isSealed = IdTable.kind(entry[2]) == IdTable.CANCELED;
        int boundsMark = IdTable.boundsMark(entry[2]);
        seen.marks.put(request, new SimModel.Found(isSealed ? 0 : entry[3], entry[4], boundsMark));
      }
    }
  }

  static String trace(Throwable e) {
    java.io.StringWriter trace = new java.io.StringWriter();
    e.printStackTrace(new java.io.PrintWriter(trace));
    return trace.toString();
  }

  /** Ensures that all calls end, and disturbs them. */
  private final class Watching implements SimScheduler.Observer {
    private final SimScheduler scheduler;
    private final SimDisk disk;

    Watching(SimScheduler scheduler, SimDisk disk) {
      this.scheduler = scheduler;
      this.disk = disk;
    }

    @Override
    public void beforeStep() {
      if (scheduler.steps() > STEPS_MAX) {
        world.violation("no end after %d steps%s".formatted(STEPS_MAX, scheduler.stacks()));
      }
      if (!isOpen) {
        return;
      }
      if (world.config.passesTime && random.nextInt(world.config.leapOneIn) == 0) {
        world.clock.leap(random.nextLong(world.config.windowMillis / 4) * 1_000_000);
      }
      if (world.config.jumps && random.nextInt(200) == 0) {
        jump();
      }
      if (world.config.hasInterrupts && random.nextInt(4) == 0) {
        clients.get(random.nextInt(clients.size())).interrupt();
      }
    }

    @Override
    public void onIdle(boolean hasTimers) {
      if (SimHooks.fired() > 0 && erredNanos == 0) {
        erredNanos = world.clock.calmNanos();
      }
      long patience =
          erredNanos == 0 ? 0 : world.config.options.callDeadline().toNanos() + 30_000_000_000L;
      boolean isLate = world.clock.calmNanos() - erredNanos > patience || !hasTimers;
      if (erredNanos != 0 && !isLate) {
        return;
      }
      if (isOpening || isClosing) {
        world.violation(
            "stuck while %s%s".formatted(isOpening ? "opening" : "closing", scheduler.stacks()));
      }
      for (SimClient client : clients) {
        if (client.isCalling() && (erredNanos == 0 || isLate(client, patience))) {
          world.violation(
              "a call has no answer, and nothing is at work: %s; %d errors, %d disk errors%s"
                  .formatted(
                      client.current(), SimHooks.fired(), disk.errors(), scheduler.stacks()));
        }
      }
    }

    /** A checkpoint or a sweep makes several calls, and waits for those of others. */
    private boolean isLate(SimClient client, long patience) {
      int calls = client.current() == null ? 8 : 1;
      return world.clock.calmNanos() - client.calledNanos() > calls * patience;
    }
  }
}
