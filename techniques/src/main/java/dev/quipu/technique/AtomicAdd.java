package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Guarantee;
import dev.quipu.layer.Store;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.TechniqueSpec.Cost;
import dev.quipu.time.Randomness;
import java.util.List;
import java.util.Set;

/**
 * Uses the store's native add: cheap and fast; after a lost reply it is unknown whether it counted.
 * Thread-safe.
 *
 * <pre>{@code
 * ATOMIC ADD
 *
 * Problem. Many processes add to one number. If each of them reads the number, adds to it and
 * writes it back, adds are lost: two processes read 5, and both write 6.
 *
 * Stored. One item holds the number.
 *
 * Protocol.
 *   1. Send the add to the store, which reads the number, adds, checks the bounds and writes the
 *      result in one atomic step.
 *
 * Why it is correct. The store applies adds to the same item one after the other, so none is lost,
 * and a bound is checked against the value that the add produces.
 *
 * Crash table.
 *   | crash            | stored  | a repeat            |
 *   | before 1 is sent | nothing | counts exactly once |
 *   | reply to 1 lost  | the add | COUNTS TWICE        |
 *   | request 1 lost   | nothing | counts exactly once |
 *   The caller cannot distinguish the last two cases, and chooses which error it accepts:
 *   GIVE_UP  never repeats an add: the count may end too low. The caller receives "unknown".
 *   REPEAT   repeats an add until the store replies: the count may end too high. Bounds are not
 *            supported, since a repeat could be rejected because of the amount that its own first
 *            copy added.
 *   Neither of the two supports request ids.
 *
 * Cost. An add takes one round trip and one write. The rate of one counter is limited to the rate
 * at which the store can write one item.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 1.
 * }</pre>
 */
public final class AtomicAdd extends OneItem implements AddPart.Shardable {
  /** The requirements, guarantees and costs. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "atomic-add",
          "The store adds atomically; an outcome after a lost reply stays unknown.",
          "unknown: a repeat may count the add twice, and giving up may lose it",
          Set.of(Capability.STRONG_READ),
          Atomicity.ITEM,
          Set.of(
              Guarantee.AT_MOST_ONCE,
              Guarantee.BOUNDED,
              Guarantee.ADD_AND_GET,
              Guarantee.LINEARIZABLE_READ),
          new Cost(1, 1, 0),
          new Cost(1, 0, 0),
          "Implement resource counters with Amazon DynamoDB, method 1");

  /** The same, with {@link AfterUnknown#REPEAT}. */
  public static final TechniqueSpec SPEC_REPEATING =
      SPEC.promising(Set.of(Guarantee.AT_LEAST_ONCE));

  /** What to do if it is unknown whether an add was applied. */
  public enum AfterUnknown {
    /** Report it to the caller: the count may end too low, never too high. */
    GIVE_UP,
    /** Send it again: the count may end too high, never too low. */
    REPEAT
  }

  private final AfterUnknown afterUnknown;

  /**
   * Creates the technique on {@code store}; it gives up after an unknown outcome.
   *
   * @throws IllegalArgumentException if the store lacks a capability that {@link #SPEC} requires
   */
  public AtomicAdd(Store store) {
    this(store, AfterUnknown.GIVE_UP);
  }

  /** Creates the technique with the given action after an unknown outcome. */
  public AtomicAdd(Store store, AfterUnknown afterUnknown) {
    super(SPEC, store, Randomness.secure());
    this.afterUnknown = afterUnknown;
  }

  @Override
  public TechniqueSpec spec() {
    return afterUnknown == AfterUnknown.REPEAT ? SPEC_REPEATING : SPEC;
  }

  @Override
  public AddResult add(Add add, AddPart part) {
    if (add.id() != null) {
      throw Techniques.keepsNoIds(technique());
    }
    boolean repeats = afterUnknown == AfterUnknown.REPEAT;
    if (repeats && !add.bounds().isNone()) {
      throw Techniques.keepsNoBounds(spec());
    }
    if (part.isWhole()) {
      items.enlist(add.counter());
    }
    Write write = new Write.Update(part.value(), List.of(part.change()), part.condition());
    return repeats
        ? IdempotentRetry.answer(store, "an add to " + add.counter(), () -> send(add, part, write))
        : send(add, part, write);
  }

  private AddResult send(Add add, AddPart part, Write write) {
    return switch (part.write(store, write)) {
      case WriteResult.Applied applied ->
          new AddResult.Applied(add.delta(), part.valueAfter(applied));
      case WriteResult.ConditionFailed failed -> part.rejected(add, failed.found());
    };
  }
}
