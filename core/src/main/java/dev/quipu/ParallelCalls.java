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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Makes calls in parallel, a limited number at the same time. */
final class ParallelCalls {
  private static final int THREADS_MAX = 16;

  /** Time between two calls of {@code mayWait}. */
  private static final long WAIT_MILLIS = 50;

  /** Placeholder for the result of an add that is in progress. */
  private static final ItemResult UNDER_WAY = new ItemResult.Failed(new IllegalStateException());

  /** The result of an add that did not begin in time. */
  private static final ItemResult LATE =
      new ItemResult.Failed(
          new NotAppliedException(
              Reason.TIMEOUT, "the deadline of the batch passed before this add began; retry it"));

  private ParallelCalls() {}

  /** Executes adds, those to one counter in order. */
  static List<ItemResult> addAll(
      Counters counters, List<Add> adds, BooleanSupplier mayBegin, BooleanSupplier mayWait) {
    Limits.checkBatch(adds.size());
    AtomicReferenceArray<@Nullable ItemResult> results = new AtomicReferenceArray<>(adds.size());
    Map<String, List<Integer>> places = new LinkedHashMap<>();
    for (int i = 0; i < adds.size(); i++) {
      places.computeIfAbsent(adds.get(i).counter(), name -> new ArrayList<>()).add(i);
    }
    List<Runnable> tasks = new ArrayList<>();
    for (List<Integer> ofOneCounter : places.values()) {
      tasks.add(() -> {
        for (int place : ofOneCounter) {
          if (mayBegin.getAsBoolean() && results.compareAndSet(place, null, UNDER_WAY)) {
            results.set(place, add(counters, adds.get(place)));
          }
        }
      });
    }
    run(tasks, mayWait);
    return IntStream.range(0, adds.size()).mapToObj(place -> result(results, place)).toList();
  }

  private static ItemResult result(AtomicReferenceArray<@Nullable ItemResult> results, int place) {
    if (results.compareAndSet(place, null, LATE)) { // from here on it cannot begin
      return LATE;
    }
    ItemResult result = results.get(place);
    return result != null && !UNDER_WAY.equals(result)
        ? result
        : new ItemResult.Failed(
            new OutcomeUnknownException(
                Reason.TIMEOUT,
                "the deadline of the batch passed while this add was in progress; retry it"
                    + " with the same id",
                null));
  }

  /** Adds; an exception becomes the result. */
  static ItemResult add(Counters counters, Add add) {
    try {
      return counters.add(add);
    } catch (RuntimeException e) {
      return new ItemResult.Failed(e);
    }
  }

  /** Reads counters; after a failure, reads that have not begun are left out. */
  static List<Optional<Reading>> readAll(Counters counters, List<String> names) {
    Limits.checkReads(names.size());
    AtomicReferenceArray<@Nullable Optional<Reading>> readings =
        new AtomicReferenceArray<>(names.size());
    AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
    List<Runnable> tasks = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      int place = i;
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
    run(tasks, () -> true);
    RuntimeException first = failure.get();
    if (first != null) {
      throw first;
    }
    return IntStream.range(0, names.size()).mapToObj(place -> reading(readings, place)).toList();
  }

  private static Optional<Reading> reading(
      AtomicReferenceArray<@Nullable Optional<Reading>> readings, int place) {
    Optional<Reading> reading = readings.get(place);
    if (reading == null) {
      throw new NotAppliedException(Reason.TIMEOUT, "the thread was interrupted during the reads");
    }
    return reading;
  }

  /** Executes tasks; those still in progress when the caller must stop waiting continue. */
  private static void run(List<Runnable> tasks, BooleanSupplier mayWait) {
    Queue<Runnable> waiting = new ConcurrentLinkedQueue<>(tasks);
    List<Future<?>> running = new ArrayList<>();
    ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    for (int i = 0; i < Math.min(THREADS_MAX, tasks.size()); i++) {
      running.add(executor.submit(() -> work(waiting)));
    }
    executor.shutdown();
    try {
      for (Future<?> each : running) {
        await(each, mayWait);
      }
    } catch (InterruptedException e) {
      executor.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }

  private static void await(Future<?> running, BooleanSupplier mayWait)
      throws InterruptedException {
    while (true) {
      try {
        running.get(WAIT_MILLIS, TimeUnit.MILLISECONDS);
        return;
      } catch (ExecutionException e) {
        throw new IllegalStateException("a call ended in an error", e.getCause());
      } catch (TimeoutException e) {
        if (!mayWait.getAsBoolean()) {
          return;
        }
      }
    }
  }

  private static void work(Queue<Runnable> waiting) {
    for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
      task.run();
    }
  }
}
