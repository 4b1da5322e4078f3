package dev.quipu;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Reads counters in parallel; after a failure, reads that have not begun are left out. */
final class ParallelReads {
  private ParallelReads() {}

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
    Parallel.run(tasks);
    RuntimeException first = failure.get();
    if (first != null) {
      throw first;
    }
    return readings;
  }
}
