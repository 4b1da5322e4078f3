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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Executes adds in parallel, those to one counter in order. */
final class ParallelAdds {
  /** Adds at the same time. */
  private static final int ADDS_MAX = 16;

  /** How often the caller's patience is asked for. */
  private static final long WAIT_MILLIS = 50;

  /** The place of an add that has begun and has no result yet. */
  private static final ItemResult UNDER_WAY = new ItemResult.Failed(new IllegalStateException());

  /** The result of an add that did not begin in time. */
  private static final ItemResult LATE =
      new ItemResult.Failed(
          new NotAppliedException(
              Reason.TIMEOUT, "the time for the batch ended before this add began; repeat it"));

  private final Counters counters;
  private final List<Add> adds;
  private final BooleanSupplier mayBegin;
  private final AtomicReferenceArray<@Nullable ItemResult> results;
  private final Queue<List<Integer>> waiting; // places of the adds to one counter

  private ParallelAdds(Counters counters, List<Add> adds, BooleanSupplier mayBegin) {
    this.counters = counters;
    this.adds = adds;
    this.mayBegin = mayBegin;
    this.results = new AtomicReferenceArray<>(adds.size());
    Map<String, List<Integer>> places = new LinkedHashMap<>();
    for (int i = 0; i < adds.size(); i++) {
      places.computeIfAbsent(adds.get(i).counter(), name -> new ArrayList<>()).add(i);
    }
    this.waiting = new ConcurrentLinkedQueue<>(places.values());
  }

  static List<ItemResult> addAll(
      Counters counters, List<Add> adds, BooleanSupplier mayBegin, BooleanSupplier mayWait) {
    Limits.checkBatch(adds.size());
    ParallelAdds all = new ParallelAdds(counters, adds, mayBegin);
    all.work(Math.min(ADDS_MAX, all.waiting.size()), mayWait);
    return IntStream.range(0, adds.size()).mapToObj(all::result).toList();
  }

  /** Executes the adds on this number of threads; those under way at the end go on. */
  private void work(int threads, BooleanSupplier mayWait) {
    List<Future<?>> running = new ArrayList<>();
    ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    for (int i = 0; i < threads; i++) {
      running.add(executor.submit(() -> work()));
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
        throw new IllegalStateException("adds ended in an error", e.getCause());
      } catch (TimeoutException e) {
        if (!mayWait.getAsBoolean()) {
          return;
        }
      }
    }
  }

  private void work() {
    for (List<Integer> places = waiting.poll(); places != null; places = waiting.poll()) {
      for (int place : places) {
        if (mayBegin.getAsBoolean() && results.compareAndSet(place, null, UNDER_WAY)) {
          results.set(place, add(counters, adds.get(place)));
        }
      }
    }
  }

  private ItemResult result(int place) {
    if (results.compareAndSet(place, null, LATE)) { // from here on it cannot begin
      return LATE;
    }
    ItemResult result = results.get(place);
    return !UNDER_WAY.equals(result)
        ? result
        : new ItemResult.Failed(
            new OutcomeUnknownException(
                Reason.TIMEOUT,
                "the time for the batch ended while this add was under way; repeat it with the"
                    + " same id",
                null));
  }

  /** Adds, and returns what is thrown as a result. */
  static ItemResult add(Counters counters, Add add) {
    try {
      return counters.add(add);
    } catch (RuntimeException e) {
      return new ItemResult.Failed(e);
    }
  }
}
