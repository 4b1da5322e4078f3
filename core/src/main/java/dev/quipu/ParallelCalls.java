package dev.quipu;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Makes calls in parallel, a limited number at the same time. */
final class ParallelCalls {
  private static final int THREADS_MAX = 16;

  private ParallelCalls() {}

  /** Executes adds, those to one counter in order. */
  static List<ItemResult> addAll(Counters counters, List<Add> adds, BooleanSupplier mayBegin) {
    Limits.checkBatch(adds.size());
    ItemResult[] results = new ItemResult[adds.size()]; // each place is written by one thread
    Map<String, List<Integer>> places = new LinkedHashMap<>();
    for (int i = 0; i < adds.size(); i++) {
      places.computeIfAbsent(adds.get(i).counter(), name -> new ArrayList<>()).add(i);
    }
    List<Runnable> tasks = new ArrayList<>();
    for (List<Integer> ofOneCounter : places.values()) {
      tasks.add(() -> {
        for (int place : ofOneCounter) {
          results[place] = mayBegin.getAsBoolean() ? add(counters, adds.get(place)) : late();
        }
      });
    }
    run(tasks);
    return List.of(results);
  }

  /** Adds, and keeps what is thrown. */
  static ItemResult add(Counters counters, Add add) {
    try {
      return counters.add(add);
    } catch (RuntimeException e) {
      return new ItemResult.Failed(e);
    }
  }

  private static ItemResult late() {
    return new ItemResult.Failed(
        new NotAppliedException(
            Reason.TIMEOUT, "the time for the batch ended before this add began; repeat it"));
  }

  /** Reads counters; after a failure, reads that have not begun are left out. */
  static List<Optional<Reading>> readAll(Counters counters, List<String> names) {
    Limits.checkReads(names.size());
    List<Optional<Reading>> readings = new ArrayList<>();
    AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
    List<Runnable> tasks = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      int place = i; // each place is written by one thread
      readings.add(Optional.empty());
      tasks.add(() -> {
        if (failure.get() != null) {
          return;
        }
        try {
          readings.set(place, counters.read(names.get(place)));
        } catch (RuntimeException e) {
          failure.compareAndSet(null, e);
        }
      });
    }
    run(tasks);
    RuntimeException first = failure.get();
    if (first != null) {
      throw first;
    }
    return readings;
  }

  private static void run(List<Runnable> tasks) {
    Queue<Runnable> waiting = new ConcurrentLinkedQueue<>(tasks);
    int threads = Math.min(THREADS_MAX, tasks.size());
    if (threads <= 1) {
      work(waiting);
      return;
    }
    List<Future<?>> running = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < threads; i++) {
        running.add(executor.submit(() -> work(waiting)));
      }
    }
    for (Future<?> each : running) {
      try {
        each.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("a call ended in an error", e.getCause());
      } catch (InterruptedException e) {
        throw new IllegalStateException("all of them have ended", e);
      }
    }
  }

  private static void work(Queue<Runnable> waiting) {
    for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
      task.run();
    }
  }
}
