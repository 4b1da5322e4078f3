package dev.quipu.technique;

import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.WriteResult;
import java.util.Optional;

/**
 * Stores a whole item if it is unchanged since it was read, and resolves a lost reply by a tag that
 * the write leaves in the item.
 */
abstract class ConditionalPut {
  private static final int RESENDS_MAX = 5;

  /** The definite result of a write. */
  enum Result {
    /** The item is stored. */
    STORED,
    /** Another writer changed the item first: this one is not stored, and never will be. */
    OVERTAKEN,
    /** It is not stored, since a write to another item in the batch failed. */
    NO_ROOM_BESIDE
  }

  private final Store store;
  private final Key key;
  private final Optional<Item> found;

  /** Creates a write of the item under {@code key}, on condition that it is still {@code found}. */
  ConditionalPut(Store store, Key key, Optional<Item> found) {
    this.store = store;
    this.key = key;
    this.found = found;
  }

  /** Sends the write. */
  abstract WriteResult send();

  /** Returns whether the item, as read after a lost reply, shows that this write was applied. */
  abstract boolean isApplied(Optional<Item> now);

  /** Returns whether an item that others changed since shows that this write was not applied. */
  abstract boolean isOvertaken(Optional<Item> now);

  /**
   * Sends the write until the result is definite. A repeat is harmless: of all copies, only one can
   * meet the condition.
   *
   * @throws OutcomeUnknownException if a reply was lost and the item does not show the result
   */
  final Result run() {
    for (int sent = 1; ; sent++) {
      QuipuException lost;
      try {
        WriteResult result = send();
        if (result instanceof WriteResult.Applied) {
          return Result.STORED;
        }
        if (result instanceof WriteResult.ConditionFailed failed && sent == 1) {
          return failed.key().equals(key) ? Result.OVERTAKEN : Result.NO_ROOM_BESIDE;
        }
        lost = new OutcomeUnknownException(Reason.UNAVAILABLE, "a reply was lost", null);
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.NOT_APPLIED && sent == 1) {
          throw e;
        }
        lost = e;
      }
      Optional<Item> now = readBack(lost);
      if (isApplied(now)) {
        return Result.STORED;
      }
      boolean same = now.map(Item::version).equals(found.map(Item::version));
      if (!same && isOvertaken(now)) {
        return Result.OVERTAKEN; // the expected state is gone
      }
      if (!same || sent == RESENDS_MAX) {
        throw new OutcomeUnknownException(
            Reason.UNAVAILABLE, "a reply was lost, and others wrote since", lost);
      }
    }
  }

  private Optional<Item> readBack(QuipuException lost) {
    try {
      return store.get(key);
    } catch (QuipuException e) {
      lost.addSuppressed(e);
      throw new OutcomeUnknownException(
          e.reason(), "a reply was lost, and the item could not be read back", lost);
    }
  }
}
