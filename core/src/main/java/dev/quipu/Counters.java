package dev.quipu;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Many counters, by name: what a technique or the embedded engine offers. Thread-safe and blocking;
 * callers bring virtual threads.
 *
 * <p>Every method throws {@link dev.quipu.QuipuException} when the store did not give a definite
 * answer in time, and {@link IllegalArgumentException} for a name outside {@link Limits}.
 */
public interface Counters {
  /** The name of the technique that counts. */
  String technique();

  /** What these counters promise. */
  Set<Guarantee> guarantees();

  /** Whether these counters promise this. */
  default boolean promises(Guarantee guarantee) {
    return guarantees().contains(guarantee);
  }

  /** Whether requests have ids under which a repeat counts once. */
  default boolean remembersIds() {
    return promises(Guarantee.IDEMPOTENT) || promises(Guarantee.IDEMPOTENT_WITHIN_WINDOW);
  }

  /**
   * Adds, once.
   *
   * @throws UnsupportedOperationException if {@code add} has bounds or an id that this technique
   *     cannot honour
   */
  AddResult add(Add add);

  /**
   * Adds several, one after the other, each by itself: what becomes of one changes nothing about
   * another. A store that can commits them together.
   *
   * @param adds at most {@link Limits#BULK_ADDS_MAX}
   * @return one result for each add, in the same order
   */
  default List<ItemResult> addAll(List<Add> adds) {
    Limits.checkBatch(adds.size());
    List<ItemResult> results = new ArrayList<>(adds.size());
    for (Add add : adds) {
      results.add(ParallelAdds.add(this, add));
    }
    return results;
  }

  /**
   * The same for a caller who waits for many: adds to one counter are done in order, those to
   * different counters at the same time.
   *
   * @param mayBegin asked before each add, by any thread; once it is false, adds that have not
   *     begun are answered {@link dev.quipu.Reason#TIMEOUT}, not applied
   */
  default List<ItemResult> addAll(List<Add> adds, BooleanSupplier mayBegin) {
    return addAll(adds, mayBegin, () -> true);
  }

  /**
   * The same for a caller who does not wait for the last of them.
   *
   * @param mayWait asked while adds are under way; once it is false, those are answered {@link
   *     dev.quipu.Reason#TIMEOUT}, unknown: they may still apply
   */
  default List<ItemResult> addAll(
      List<Add> adds, BooleanSupplier mayBegin, BooleanSupplier mayWait) {
    return ParallelAdds.addAll(this, adds, mayBegin, mayWait);
  }

  /** The bounds that every counter has, besides those of an add; none unless there are such. */
  default Bounds bounds() {
    return Bounds.none();
  }

  /** The value of a counter; empty if it was never written. */
  Optional<Reading> read(String counter);

  /**
   * Counters whose name starts with {@code prefix}, in order of name.
   *
   * @param after only names behind this one; empty to start
   * @param limit 1 to {@link Limits#PAGE_COUNTERS_MAX}
   */
  CounterPage list(String prefix, String after, int limit);

  /**
   * What became of a request.
   *
   * @throws UnsupportedOperationException if this technique keeps no request ids
   */
  RequestOutcome outcome(String counter, RequestId id);

  /**
   * Makes sure that a request which has not applied never will, and tells which it is: {@link
   * RequestOutcome.Applied} or {@link RequestOutcome.Canceled}. Safe to repeat.
   *
   * @throws UnsupportedOperationException if this technique keeps no request ids
   */
  RequestOutcome cancel(String counter, RequestId id);
}
