package dev.quipu;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;

/** Executes adds in parallel, those to one counter in order. */
final class ParallelAdds {
  /** Adds at the same time. */
  private static final int ADDS_MAX = 16;

  private final Counters counters;
  private final List<Add> adds;
  private final BooleanSupplier mayBegin;
  private final ItemResult[] results; // each place is written by one thread
  private final Queue<List<Integer>> waiting; // places of the adds to one counter

  private ParallelAdds(Counters counters, List<Add> adds, BooleanSupplier mayBegin) {
    this.counters = counters;
    this.adds = adds;
    this.mayBegin = mayBegin;
    this.results = new ItemResult[adds.size()];
    Map<String, List<Integer>> places = new LinkedHashMap<>();
    for (int i = 0; i < adds.size(); i++) {
      places.computeIfAbsent(adds.get(i).counter(), name -> new ArrayList<>()).add(i);
    }
    this.waiting = new ConcurrentLinkedQueue<>(places.values());
  }

  static List<ItemResult> addAll(Counters counters, List<Add> adds, BooleanSupplier mayBegin) {
    Limits.checkBatch(adds.size());
    ParallelAdds all = new ParallelAdds(counters, adds, mayBegin);
    int threads = Math.min(ADDS_MAX, all.waiting.size());
    if (threads <= 1) {
      all.work();
    } else {
      all.work(threads);
    }
    return List.of(all.results);
  }

  private void work(int threads) {
    List<Future<?>> running = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < threads; i++) {
        running.add(executor.submit(() -> work()));
      }
    }
    for (Future<?> each : running) {
      try {
        each.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("adds ended in an error", e.getCause());
      } catch (InterruptedException e) {
        throw new IllegalStateException("all of them have ended", e);
      }
    }
  }

  private void work() {
    for (List<Integer> places = waiting.poll(); places != null; places = waiting.poll()) {
      for (int place : places) {
        results[place] = mayBegin.getAsBoolean() ? add(counters, adds.get(place)) : late();
      }
    }
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
}
