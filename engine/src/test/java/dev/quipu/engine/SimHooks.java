package dev.quipu.engine;

import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.state.State;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Hooks that the engine's classes call when {@link SimLoader} has loaded them. */
@SuppressWarnings("exports") // called by bytecode of the internal packages
public final class SimHooks {
  /** Maximum number of sites that a thread passes before it yields to another one. */
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
  private static IdentityHashMap<Object, ReentrantLock> monitors = new IdentityHashMap<>();

  private SimHooks() {}

  /** Yields to another thread. */
  static void step() {
    passed = 0;
  }

  /** Observes what the commit leader does. */
  interface Listener {
    /** Called when a thread neither ends nor waits. */
    void runsOn();

    /** Called when a thread has submitted a task to the committer. */
    void submitted(Task task);

    /** Called before the leader runs a task. */
    void running(Task task, State state);

    /** Called after the leader has run a task, or a part of it. */
    void ran(Task task, State state, boolean isDone);
  }

  static void install(
      Listener added, SimScheduler threads, SimClock time, RandomGenerator randomness) {
    listener = added;
    scheduler = threads;
    clock = time;
    random = randomness;
    monitors = new IdentityHashMap<>();
  }

  /** Replaces the monitor of an object, whose release the virtual machine would order. */
  public static void enter(Object monitor) {
    monitors.computeIfAbsent(monitor, each -> new ReentrantLock()).lock();
  }

  /** Ends {@link #enter}. */
  public static void exit(Object monitor) {
    java.util.Objects.requireNonNull(monitors.get(monitor)).unlock();
  }

  /** Throws at the n-th site passed from now on, and at a number of following ones. */
  static void arm(int after, int times, int which) {
    countdown = after;
    burst = times;
    kind = which;
    fired = 0;
    onlySite = -1;
  }

  /** Throws at one site, at its n-th passage. */
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

  /** Returns how many errors were thrown since {@link #arm}. */
  static int fired() {
    return fired;
  }

  /** Returns how many errors were thrown in total. */
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

  /** A point of the engine that allocates or calls the JDK. */
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

  /** Lets other threads run at a random site now and then. */
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

  /** Replaces {@link Task#run}. */
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

  /** Called at the start of {@code Committer.run}. */
  public static void submitted(Task task) {
    Listener hearing = listener;
    if (hearing != null) {
      hearing.submitted(task);
    }
  }

  /** A planted bug: see {@link SimMutations}. */
  public static void stopUnlessError(Failure failure, Throwable why) {
    if (!(why instanceof Error)) {
      failure.stop(why);
    }
  }

  /** A planted bug: see {@link SimMutations}. */
  public static void unexpire(State state, int ordinal) {
    state.counters.expire(ordinal, 0);
  }

  /** Replaces {@link dev.quipu.time.Randomness#secure}. */
  public static RandomGenerator secure() {
    return random;
  }

  /** Replaces {@link Clock#system}. */
  public static Clock systemClock() {
    return java.util.Objects.requireNonNull(clock);
  }

  /** Replaces {@link LockSupport#parkNanos(Object, long)}. */
  public static void parkNanos(Object blocker, long nanos) {
    java.util.Objects.requireNonNull(scheduler).parkNanos(nanos);
  }

  /** Returns the files of request ids, and those whose ids were merged into others. */
  public static List<IdFile> filesAndReplaced(RequestIds ids) {
    List<IdFile> all = new ArrayList<>(ids.files());
    all.addAll(ids.replaced());
    return all;
  }
}
