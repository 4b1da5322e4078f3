package dev.quipu.micrometer;

import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import java.util.Locale;

/** The outcome of an add, as the values of a tag. */
enum AddOutcome {
  APPLIED,
  REPLAYED,
  CONFLICT,
  REJECTED_FLOOR,
  REJECTED_CEILING,
  REJECTED_OVERFLOW,
  REJECTED_HELD_ELSEWHERE,
  REJECTED_CANCELED,
  NOT_APPLIED,
  UNKNOWN,
  INVALID;

  /** Returns the outcome of a result. */
  static AddOutcome of(ItemResult result) {
    return switch (result) {
      case AddResult.Applied applied -> APPLIED;
      case AddResult.Replayed replayed -> REPLAYED;
      case AddResult.Conflict conflict -> CONFLICT;
      case AddResult.Rejected rejected ->
          switch (rejected.why()) {
            case FLOOR -> REJECTED_FLOOR;
            case CEILING -> REJECTED_CEILING;
            case OVERFLOW -> REJECTED_OVERFLOW;
            case HELD_ELSEWHERE -> REJECTED_HELD_ELSEWHERE;
            case CANCELED -> REJECTED_CANCELED;
          };
      case ItemResult.Failed failed -> ofFailure(failed.cause());
    };
  }

  private static AddOutcome ofFailure(RuntimeException cause) {
    return switch (cause) {
      case QuipuException e -> e.outcome() == Outcome.UNKNOWN ? UNKNOWN : NOT_APPLIED;
      case IllegalArgumentException e -> INVALID;
      case UnsupportedOperationException e -> INVALID;
      default -> UNKNOWN;
    };
  }

  /** Returns the value of the tag. */
  String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
