package dev.quipu;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Counters by name, kept by a technique or by the embedded engine. Thread-safe and blocking: use
 * virtual threads for many calls at a time.
 *
 * <p>Each method throws {@link OutcomeUnknownException} if the store gave no definite reply in
 * time, {@link NotAppliedException} if the call certainly had no effect, and {@link
 * IllegalArgumentException} for a name outside {@link Limits}.
 */
public interface Counters {
  /** Returns the name of the technique. */
  String technique();

  /** Returns what these counters guarantee. */
  Set<Guarantee> guarantees();

  /**
   * Returns these counters as another type, such as the engine or a technique; empty if they are
   * not of this type. Counters of {@link Quipu} are of no type but this one: use this method.
   */
  default <T> Optional<T> as(Class<T> type) {
    return type.isInstance(this) ? Optional.of(type.cast(this)) : Optional.empty();
  }

  /** Returns whether these counters have a guarantee. */
  default boolean promises(Guarantee guarantee) {
    return guarantees().contains(guarantee);
  }

  /** Returns whether an add repeated under its request id counts exactly once. */
  default boolean remembersIds() {
    return promises(Guarantee.IDEMPOTENT) || promises(Guarantee.IDEMPOTENT_WITHIN_WINDOW);
  }

  /**
   * Adds exactly once.
   *
   * @throws UnsupportedOperationException if {@code add} has bounds or a request id and this
   *     technique does not support them
   */
  @CheckReturnValue
  AddResult add(Add add);

  /**
   * Executes several adds in order. Each is independent: the outcome of one does not affect
   * another, and no exception is thrown for a single add. Stores that support it commit the adds as
   * a group.
   *
   * @param adds at most {@link Limits#BULK_ADDS_MAX}
   * @return one result for each add, in the same order
   */
  default List<ItemResult> addAll(List<Add> adds) {
    Limits.checkBatch(adds.size());
    List<ItemResult> results = new ArrayList<>(adds.size());
    for (Add add : adds) {
      results.add(ParallelCalls.add(this, add));
    }
    return results;
  }

  /**
   * Executes several adds: those to the same counter in order, those to different counters
   * concurrently.
   *
   * @param mayBegin called before each add, by any thread; once it is false, adds that have not
   *     begun fail as not applied with {@link Reason#TIMEOUT}
   */
  default List<ItemResult> addAll(List<Add> adds, BooleanSupplier mayBegin) {
    return addAll(adds, mayBegin, () -> true);
  }

  /**
   * Executes several adds like {@link #addAll(List, BooleanSupplier)}, but can return before the
   * last of them has ended.
   *
   * @param mayWait called while adds are under way; once it is false, the outcome of those is
   *     unknown with {@link Reason#TIMEOUT}: they may still be applied
   */
  default List<ItemResult> addAll(
      List<Add> adds, BooleanSupplier mayBegin, BooleanSupplier mayWait) {
    return ParallelCalls.addAll(this, adds, mayBegin, mayWait);
  }

  /** Returns the bounds of all counters, which apply in addition to those of an add. */
  default Bounds bounds() {
    return Bounds.none();
  }

  /** Returns the value of a counter; empty if it was never written, or was deleted. */
  Optional<Reading> read(String counter);

  /**
   * Returns the values of several counters, in the order of the names; empty where {@link #read}
   * is. Each value is read independently: they are not a snapshot of one moment.
   *
   * @param counters at most {@link Limits#PAGE_COUNTERS_MAX}
   */
  default List<Optional<Reading>> readAll(List<String> counters) {
    return ParallelCalls.readAll(this, counters);
  }

  /**
   * Sets the value of a counter, regardless of its bounds. Request ids are kept: a repeat of an
   * earlier add stays a replay.
   *
   * @param ifValue the value that the counter must have, where one that was never written is 0;
   *     empty to set it unconditionally
   * @throws UnsupportedOperationException if the technique cannot set a value exactly
   */
  default SetResult set(String counter, long value, OptionalLong ifValue) {
    throw new UnsupportedOperationException(technique() + " cannot set a value exactly");
  }

  /**
   * Sets a counter to an exact decimal, or fixes its scale. Request ids are kept.
   *
   * @throws IllegalArgumentException if a value has more digits after the point than the counter
   * @throws UnsupportedOperationException if the technique cannot set a value exactly, or the
   *     request has a scale and counters have theirs by {@link ScaleRules} only
   */
  default SetResult set(SetRequest request) {
    if (request.scale().isPresent()) {
      throw new UnsupportedOperationException(
          "the scale of a single counter can be set on the engine only; here start the server with"
              + " --scale 'PREFIX*=SCALE'");
    }
    OptionalLong ifValue =
        request
            .ifValue()
            .map(value -> OptionalLong.of(value.unitsAt("field ifValue", 0)))
            .orElseGet(OptionalLong::empty);
    return set(request.counter(), request.value().orElseThrow().unitsAt("field value", 0), ifValue);
  }

  /**
   * Deletes a counter, if it exists. Request ids are kept: a repeat of an earlier add stays a
   * replay.
   *
   * @throws NotAppliedException with {@link Reason#HELD} while it has open holds
   * @throws UnsupportedOperationException if the technique cannot delete a counter exactly
   */
  default void delete(String counter) {
    throw new UnsupportedOperationException(technique() + " cannot delete a counter exactly");
  }

  /**
   * Returns a page of the counters whose name starts with {@code prefix}, ordered by name.
   *
   * @param after only names after this one; empty to start
   * @param limit 1 to {@link Limits#PAGE_COUNTERS_MAX}
   */
  CounterPage list(String prefix, String after, int limit);

  /**
   * Returns the outcome of a request.
   *
   * @throws UnsupportedOperationException if this technique does not support request ids
   */
  RequestOutcome outcome(String counter, RequestId id);

  /**
   * Cancels a request: if it was not applied so far, it never will be. Safe to repeat.
   *
   * @return {@link RequestOutcome.Applied} or {@link RequestOutcome.Canceled}
   * @throws UnsupportedOperationException if this technique does not support request ids
   */
  RequestOutcome cancel(String counter, RequestId id);
}
