package dev.quipu.simulation.steps;

import dev.quipu.time.Randomness;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Runs simulated processes in virtual time, in an order that a seed determines. Needs {@code
 * --add-opens=java.base/java.lang=ALL-UNNAMED}. Not thread-safe: one thread runs it all.
 *
 * <pre>{@code
 * All threads of all simulated processes are virtual threads whose executor is the process, which
 * hands them to this scheduler: a list of runnable threads, of which the seed picks the next. They
 * run on the thread that calls run(), one at a time, so a seed reproduces the interleaving, while
 * the locks and other primitives of java.util.concurrent are the real ones. Time advances when no
 * thread can run: then to the time of the next event. Concurrent simulations need a virtual machine
 * each: a shared lock would disturb the order.
 * }</pre>
 */
public final class StepScheduler {
  private static final MethodHandle BUILDER = builder();

  /** Number of events without a step in between after which the simulation is considered stuck. */
  private static final int EVENTS_MAX = 1_000_000;

  /** The first moment of a simulation, in nanoseconds since 1970: far from 0, to expose bugs. */
  private static final long START_NANOS = Duration.ofDays(20_000).toNanos();

  private final RandomGenerator random;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          Comparator.comparingLong((Event event) -> event.dueNanos)
              .thenComparingLong(event -> event.number));
  private final List<Ready> ready = new ArrayList<>();
  private long nowNanos;
  private long eventCount;
  private long steps;
  private @Nullable Throwable failure;
  private @Nullable Thread runner;

  private record Event(long dueNanos, long number, Runnable work) {}

  private record Ready(SimProcess process, Runnable continuation) {}

  /** Creates a scheduler without processes, at the first moment of the simulation. */
  public StepScheduler(long seed) {
    this.random = Randomness.seeded(seed);
  }

  /** Returns the source of all randomness of the simulation. */
  public RandomGenerator random() {
    return random;
  }

  /**
   * Creates a process.
   *
   * @param skew how far its wall clock is ahead of the true time; negative if it is behind
   */
  public SimProcess process(Duration skew) {
    return new SimProcess(this, skew);
  }

  /** Runs an action after a delay, on no process: a late message, for example. Must not block. */
  public void after(Duration delay, Runnable work) {
    events.add(new Event(nowNanos + Math.max(0, delay.toNanos()), eventCount++, work));
  }

  /** Returns the virtual time since the start, in nanoseconds. */
  public long nowNanos() {
    return nowNanos;
  }

  /** Returns the true wall-clock time, in milliseconds since 1970. */
  public long epochMillis() {
    return (START_NANOS + nowNanos) / 1_000_000;
  }

  /** Returns the number of steps so far: a step is the run of a thread between two waits. */
  public long steps() {
    return steps;
  }

  /** Returns a random duration from 0 to {@code max}. */
  public Duration upTo(Duration max) {
    return Duration.ofNanos(random.nextLong(max.toNanos() + 1));
  }

  /**
   * Runs all processes until no thread can run any more, now or later.
   *
   * @param stepsMax maximum number of steps, after which the simulation is considered endless
   * @throws IllegalStateException if a thread ended in an exception, or after too many steps, or if
   *     time passes but no thread continues: one waits for a lock that another held when it was
   *     killed
   */
  public void run(long stepsMax) {
    long last = steps + stepsMax;
    int idle = 0;
    runner = Thread.currentThread();
    while (failure == null && !(ready.isEmpty() && events.isEmpty())) {
      if (ready.isEmpty()) {
        nowNanos = Math.max(nowNanos, events.element().dueNanos);
      }
      while (!events.isEmpty() && events.element().dueNanos <= nowNanos) {
        events.remove().work.run();
        idle++;
      }
      if (ready.isEmpty()) {
        if (idle > EVENTS_MAX) {
          throw new IllegalStateException("time passes but no simulated thread continues");
        }
        continue;
      }
      idle = 0;
      if (steps++ >= last) {
        throw new IllegalStateException("the simulation has not ended after " + stepsMax);
      }
      int next = random.nextInt(ready.size());
      Ready chosen = ready.get(next);
      ready.set(next, ready.getLast());
      ready.removeLast();
      chosen.process.resume(chosen.continuation);
    }
    if (failure != null) {
      throw new IllegalStateException("a simulated thread failed: " + failure, failure);
    }
  }

  @SuppressWarnings("ReferenceEquality") // of threads
  void ready(SimProcess process, Runnable continuation) {
    Thread caller = Thread.currentThread();
    if (runner != null && caller != runner && !caller.isVirtual()) {
      // It waited for a monitor that another simulation holds: time would advance without it.
      failed(new IllegalStateException("simulations in one virtual machine share a lock"));
    }
    ready.add(new Ready(process, continuation));
  }

  void failed(Throwable thrown) {
    failure = failure == null ? thrown : failure;
  }

  static Thread thread(Executor executor, Runnable work) {
    try {
      return ((Thread.Builder) BUILDER.invokeExact(executor)).unstarted(work);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private static MethodHandle builder() {
    try {
      Constructor<?> constructor =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      constructor.setAccessible(true);
      return MethodHandles.lookup()
          .unreflectConstructor(constructor)
          .asType(MethodType.methodType(Thread.Builder.class, Executor.class));
    } catch (ReflectiveOperationException | RuntimeException e) {
      throw new IllegalStateException(
          "start the virtual machine with --add-opens=java.base/java.lang=ALL-UNNAMED", e);
    }
  }
}
