package dev.quipu;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Executes adds in parallel, those to one counter in order. */
final class ParallelAdds {
  private ParallelAdds() {}

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
    Parallel.run(tasks);
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
}
