package dev.quipu.engine;

import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.state.CounterTable;
import dev.quipu.engine.state.State;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** What the engine's classes call when {@link SimLoader} has loaded them. */
@SuppressWarnings("exports") // called by bytecode of the internal packages
public final class SimHooks {
  /** Sites that a thread passes at most before it lets another one run. */
  private static final int PASSED_MAX = 10_000_000;

  private static int passed;
  private static int switchMax;
  private static int untilSwitch;
  private static int countdown;
  private static int burst;
  private static int kind;
  private static int fired;
  private static int onlySite = -1;
  private static long thrown;
  private static int lastSite = -1;
  private static int[] hits = new int[0];
  private static @Nullable Listener listener;
  private static RandomGenerator random = new SplittableRandom(0);
  private static @Nullable SimScheduler scheduler;
  private static @Nullable SimClock clock;

  private SimHooks() {}

  /** Another thread runs. */
  static void step() {
    passed = 0;
  }

  /** Observes what the commit leader does. */
  interface Listener {
    /** A thread does not end, nor wait for anything. */
    void runsOn();

    /** A thread has handed a task to the committer. */
    void submitted(Task task);

    /** The leader runs a task. */
    void running(Task task, State state);

    /** The leader has run a task, or a part of it. */
    void ran(Task task, State state, boolean isDone);
  }

  static void install(
      Listener added, SimScheduler threads, SimClock time, RandomGenerator randomness) {
    listener = added;
    scheduler = threads;
    clock = time;
    random = randomness;
  }

  /** Throws at the n-th site from now on that the engine passes, and at as many more. */
  static void arm(int after, int times, int which) {
    countdown = after;
    burst = times;
    kind = which;
    fired = 0;
    onlySite = -1;
  }

  /** Throws at one site, when it is passed for the n-th time. */
  static void armSite(int site, int after, int which) {
    arm(0, 1, which);
    onlySite = site;
    countdown = after;
  }

  static void disarm() {
    countdown = 0;
    fired = 0;
    onlySite = -1;
  }

  /** Returns how often something was thrown since {@link #arm}. */
  static int fired() {
    return fired;
  }

  /** Returns how often something was thrown at all. */
  static long thrown() {
    return thrown;
  }

  static int lastSite() {
    return lastSite;
  }

  static void sites(int count) {
    hits = new int[count];
  }

  /** Returns how often each site was passed. */
  static int[] hits() {
    return hits;
  }

  /** A place of the engine where something is allocated, or the JDK is called. */
  public static void at(int site) {
    hits[site]++;
    if (++passed > PASSED_MAX) {
      passed = 0;
      java.util.Objects.requireNonNull(listener).runsOn();
    }
    if (untilSwitch > 0 && --untilSwitch == 0) {
      switchThreads();
    }
    if (countdown != 0 && (onlySite < 0 || onlySite == site) && --countdown == 0) {
      fire(site);
    }
  }

  /** Lets other threads run at a random site once in a while. */
  static void switchAtSites(int sitesMax) {
    switchMax = sitesMax;
    untilSwitch = sitesMax == 0 ? 0 : 1 + random.nextInt(sitesMax);
  }

  private static void switchThreads() {
    untilSwitch = 1 + random.nextInt(switchMax);
    SimScheduler threads = scheduler;
    if (threads != null && Thread.currentThread().isVirtual()) {
      threads.pause();
    }
  }

  private static void fire(int site) {
    fired++;
    thrown++;
    lastSite = site;
    burst--;
    countdown = burst > 0 ? 1 + random.nextInt(4) : 0;
    if (Simulation.TRACE) {
      Simulation.trace("error%s", SimScheduler.places(new Throwable().getStackTrace()));
    }
    switch (kind) {
      case 0 -> throw new OutOfMemoryError("injected at site " + site);
      case 1 -> throw new StackOverflowError("injected at site " + site);
      default -> throw new InternalError("injected at site " + site);
    }
  }

  /** In place of {@link Task#run}. */
  public static boolean run(Task task, State state, Group group) throws IOException {
    Listener hearing = listener;
    if (hearing != null) {
      hearing.running(task, state);
    }
    boolean isDone = task.run(state, group);
    if (hearing != null) {
      hearing.ran(task, state, isDone);
    }
    return isDone;
  }

  /** At the start of {@code Committer.run}. */
  public static void submitted(Task task) {
    Listener hearing = listener;
    if (hearing != null) {
      hearing.submitted(task);
    }
  }

  /** A bug: see {@link SimMutations}. */
  public static void stopUnlessError(Failure failure, Throwable why) {
    if (!(why instanceof Error)) {
      failure.stop(why);
    }
  }

  /** A bug: see {@link SimMutations}. */
  public static void unexpire(CounterTable counters, int ordinal) {
    counters.expire(ordinal, 0);
  }

  /** In place of {@link dev.quipu.time.Randomness#secure}. */
  public static RandomGenerator secure() {
    return random;
  }

  /** In place of {@link Clock#system}. */
  public static Clock systemClock() {
    return java.util.Objects.requireNonNull(clock);
  }

  /** In place of {@link LockSupport#parkNanos(Object, long)}. */
  public static void parkNanos(Object blocker, long nanos) {
    java.util.Objects.requireNonNull(scheduler).parkNanos(nanos);
  }
}
