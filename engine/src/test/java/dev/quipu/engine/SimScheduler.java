package dev.quipu.engine;

import dev.quipu.engine.environment.Threads;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/*
 * All threads of one simulated process are virtual threads whose executor is this scheduler: a list
 * of runnable threads, from which a seeded random number picks the next. They run on one real
 * thread, so a seed reproduces the interleaving, while all locks, conditions and parks of the
 * engine are the real ones.
 *
 * Timed waits use simulated time, which advances when no thread can run, and a little with each
 * disk operation.
 *
 * When the process is killed its threads are simply never run again.
 */

/** Runs the threads of one simulated process, in an order that a seed determines. */
final class SimScheduler implements Executor, Threads {
  private static final MethodHandle BUILDER = builder();

  private final SplittableRandom random;
  private final SimClock clock;
  private final Consumer<Throwable> uncaught;
  private final PriorityQueue<Timer> timers =
      new PriorityQueue<>(
          Comparator.comparingLong((Timer timer) -> timer.dueNanos)
              .thenComparingLong(timer -> timer.number));
  private Runnable[] ready = new Runnable[16];
  private int readyCount;
  private long timerCount;
  private final java.util.List<Thread> threads = new java.util.ArrayList<>();
  private final Thread runner = Thread.currentThread();
  private volatile boolean isDisturbed;
  private boolean isKilled;
  private long steps;
  private final int switchOneIn;

  private record Timer(long dueNanos, long number, Runnable work) {}

  SimScheduler(
      SplittableRandom random, SimClock clock, int switchOneIn, Consumer<Throwable> uncaught) {
    this.random = random;
    this.clock = clock;
    this.switchOneIn = switchOneIn;
    this.uncaught = uncaught;
  }

  private static MethodHandle builder() {
    try {
      Constructor<?> constructor =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      constructor.setAccessible(true);
      return MethodHandles.lookup()
          .unreflectConstructor(constructor)
          .asType(java.lang.invoke.MethodType.methodType(Thread.Builder.class, Executor.class));
    } catch (ReflectiveOperationException | RuntimeException e) {
      throw new IllegalStateException(
          "start the virtual machine with --add-opens=java.base/java.lang=ALL-UNNAMED", e);
    }
  }

  @Override
  public void execute(Runnable continuation) {
    Thread current = Thread.currentThread();
    if (!current.isVirtual() && !current.equals(runner)) {
      isDisturbed = true; // and the continuation never runs
      return;
    }
    if (readyCount == ready.length) {
      ready = java.util.Arrays.copyOf(ready, 2 * readyCount);
    }
    ready[readyCount++] = continuation;
  }

  @Override
  public Thread start(String name, Runnable work) {
    Thread thread;
    try {
      thread =
          ((Thread.Builder) BUILDER.invokeExact((Executor) this))
              .unstarted(() -> {
                try {
                  work.run();
                } catch (Throwable e) {
                  uncaught.accept(e);
                }
              });
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    if (!name.equals("signal")) {
      threads.add(thread);
    }
    thread.start();
    return thread;
  }

  @Override
  @SuppressWarnings("WaitNotInLoop") // callers recheck their condition
  public void await(Lock lock, Condition condition, long nanos) throws InterruptedException {
    after(
        nanos,
        () -> {
          var unused = start("signal", () -> signal(lock, condition));
        });
    condition.await();
  }

  private static void signal(Lock lock, Condition condition) {
    lock.lock();
    try {
      condition.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Parks the current thread, at most this time in simulated nanoseconds. */
  void parkNanos(long nanos) {
    Thread current = Thread.currentThread();
    after(nanos, () -> LockSupport.unpark(current));
    LockSupport.park();
  }

  private void after(long nanos, Runnable work) {
    long now = clock.nanoTime();
    long due = nanos > Long.MAX_VALUE - now ? Long.MAX_VALUE : now + nanos;
    timers.add(new Timer(due, timerCount++, work));
  }

  /** Yields to another thread at random. */
  @SuppressWarnings("ThreadPriorityCheck") // the thread scheduler is this class
  void pause() {
    if (readyCount > 0 && (switchOneIn == 1 || random.nextInt(switchOneIn) == 0)) {
      Thread.yield();
    }
  }

  /** Kills the process: none of its threads runs again, including the current one. */
  void kill() {
    isKilled = true;
    hang();
  }

  /** The process was killed, or ends for another reason than {@link #kill}. */
  void stop() {
    isKilled = true;
  }

  private static void hang() {
    while (true) {
      boolean unused = Thread.interrupted();
      LockSupport.park();
    }
  }

  /** Returns the stacks of all threads, for a human reader. */
  String stacks() {
    StringBuilder text = new StringBuilder();
    for (Thread thread : threads) {
      StackTraceElement[] stack = thread.getStackTrace();
      if (stack.length > 0) {
        text.append("\n  ").append(thread.getState()).append(places(stack));
      }
    }
    return text.toString();
  }

  /** Returns the frames of a stack outside the JDK, for a human reader. */
  static String places(StackTraceElement[] stack) {
    StringBuilder text = new StringBuilder();
    for (StackTraceElement each : stack) {
      if (!each.getClassName().startsWith("java.")) {
        text.append(" < ").append(each.getFileName()).append(':').append(each.getLineNumber());
      }
    }
    return text.toString();
  }

  long steps() {
    return steps;
  }

  /** Observes the threads while they run. */
  interface Observer {
    /** Called before each step. */
    void beforeStep();

    /** Called when no thread can run before time advances. */
    void onIdle(boolean hasTimers);
  }

  /** Runs threads until the process was killed or is done. */
  void run(BooleanSupplier done, Observer observer) {
    while (!isKilled && !done.getAsBoolean()) {
      if (isDisturbed) {
        uncaught.accept(
            new IllegalStateException(
                "a thread of the virtual machine ran a thread, as at the release of a monitor"));
        return;
      }
      if (readyCount == 0) {
        observer.onIdle(!timers.isEmpty());
        if (isKilled || timers.isEmpty()) {
          return;
        }
        clock.advance(Math.max(0, timers.peek().dueNanos - clock.nanoTime()));
      }
      while (!timers.isEmpty() && timers.peek().dueNanos <= clock.nanoTime()) {
        timers.poll().work.run();
      }
      observer.beforeStep();
      if (readyCount == 0) {
        continue;
      }
      int next = readyCount == 1 ? 0 : random.nextInt(readyCount);
      Runnable continuation = ready[next];
      ready[next] = ready[--readyCount];
      ready[readyCount] = null;
      steps++;
      SimHooks.step();
      continuation.run();
    }
  }
}
