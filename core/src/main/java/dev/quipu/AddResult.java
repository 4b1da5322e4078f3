package dev.quipu;

import java.util.List;
import java.util.OptionalLong;

/**
 * The definite answer to an add. What is not definite is thrown: {@link dev.quipu.QuipuException}
 * with {@link dev.quipu.Outcome#UNKNOWN}.
 */
public sealed interface AddResult extends ItemResult {
  @Override
  default AddResult orThrow() {
    return this;
  }

  /**
   * The add was applied by this call.
   *
   * @param added what was added
   * @param value the counter right after this add, if the technique can tell ({@link
   *     dev.quipu.Guarantee#ADD_AND_GET})
   */
  record Applied(long added, OptionalLong value) implements AddResult {}

  /**
   * The add was applied earlier under the same request id; nothing changed now. Its parts repeat
   * the first answer.
   */
  record Replayed(long added, OptionalLong value) implements AddResult {}

  /**
   * The add was not applied, and nothing was consumed.
   *
   * @param why the reason
   * @param value the counter when it was rejected, if it was looked at
   * @param heldBy for {@link Rejection#HELD_ELSEWHERE}, the regions that did not answer
   */
  record Rejected(Rejection why, OptionalLong value, List<String> heldBy) implements AddResult {
    /** Copies the list. */
    public Rejected {
      heldBy = List.copyOf(heldBy);
    }

    /** One for want of room, or for ever. */
    public Rejected(Rejection why, long value) {
      this(why, OptionalLong.of(value), List.of());
    }

    /** One for which the counter was not looked at. */
    public Rejected(Rejection why) {
      this(why, OptionalLong.empty(), List.of());
    }
  }

  /**
   * The request id was used before for another delta or other bounds; nothing changed.
   *
   * @param added what that earlier request added
   */
  record Conflict(long added) implements AddResult {}
}
