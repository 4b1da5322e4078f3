package dev.quipu.sequence;

import dev.quipu.Limits;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.util.Map;
import java.util.Optional;

/*
 * UNIQUE VALUES
 *
 * Problem. No two users may have one e-mail address, no two invoices one number, on stores whose
 * only unique thing is a key. To look whether a value is there and then store it lets two through.
 *
 * Stored. In a partition for the property, an item under the value, with its owner.
 *
 * Protocol.
 *   1. Store the item under the value, if there is none.
 *      a. Stored: the value is the owner's.
 *      b. There is one of the same owner: store it again, if it is still as it was found, and then
 *         it is the owner's already; if not, go to 1.
 *      c. There is another's: rejected, and told whose it is.
 *   2. Unknown: go to 1.
 *   To give a value up, read its item, and delete it if it is the owner's and still as it was read.
 *
 * Why it is right. Only one write under a key finds nothing there. A repeat meets its own item. A
 * delete is of one version of the item, so that one which arrives late, after the owner took the
 * value again, deletes nothing: that is why 1b stores it again.
 *
 * Assumptions. None about time. A put that arrives late, after the owner gave the value up, takes
 * it once more: the value has one owner, who does not know it until somebody asks. Give it up
 * again.
 *
 * Crash table.
 *   | broken off      | stored                | a repeat     |
 *   | before 1        | nothing               | takes it     |
 *   | reply to 1 lost | the value, its owner  | 1b           |
 *   | in a delete     | the value, or nothing | deletes it   |
 *   Take the value first, under an owner that is known before its record is: who dies in between
 *   comes back as the same owner. To change a value, take the new one, then give up the old one.
 *
 * Cost. One round trip and one item a value; a repeat, and to give it up, two.
 *
 * Source. "Sequence numbers for records without a counter" (App Engine), putUniqueValue.
 */

/** Values that have one owner each: a unique constraint for any property. Thread-safe. */
public final class UniqueValues {
  /** Longest property, in bytes of UTF-8. */
  public static final int PROPERTY_BYTES_MAX = 255;

  /** Longest value, in bytes of UTF-8. */
  public static final int VALUE_BYTES_MAX = Key.SORT_BYTES_MAX;

  /** Longest owner, in bytes of UTF-8. */
  public static final int OWNER_BYTES_MAX = 255;

  private static final String PARTITION = "unique/";
  private static final String OWNER = "owner";

  private final Store store;

  /** Who has a value. */
  public sealed interface Result {}

  /**
   * The value is the caller's.
   *
   * @param replayed whether it was already
   */
  public record Owned(boolean replayed) implements Result {}

  /** The value is another's, and nothing changed. */
  public record OwnedByOther(String owner) implements Result {}

  /**
   * Values on {@code store}.
   *
   * @throws IllegalArgumentException if the store has no strong reads
   */
  public UniqueValues(Store store) {
    store.profile().require(Capability.STRONG_READ);
    this.store = store;
  }

  private static Key key(String property, String value) {
    Limits.checkText("property", property, PROPERTY_BYTES_MAX);
    Limits.checkText("value", value, VALUE_BYTES_MAX);
    return new Key(PARTITION + property, value);
  }

  /**
   * Takes a value, unless another has it.
   *
   * @param property what the value is of, as {@code email}
   * @param owner who is to have it; the same each time that it is asked for again
   * @throws QuipuException if the outcome is not known; repeat with the same owner
   */
  public Result putUnique(String property, String value, String owner) {
    Key key = key(property, value);
    Limits.checkText("owner", owner, OWNER_BYTES_MAX);
    RetryPolicy.Attempts attempts = store.attempts();
    do {
      WriteResult result = write(property, put(key, owner, new Condition.Absent()));
      if (!(result instanceof WriteResult.ConditionFailed failed)) {
        return new Owned(false);
      }
      Item found = failed.found().orElseThrow();
      if (!owner(found).equals(owner)) {
        return new OwnedByOther(owner(found));
      }
      if (isKept(property, owner, found)) {
        return new Owned(true);
      }
    } while (attempts.again());
    throw contended(property, attempts);
  }

  /** Stores it again, so that a delete which is still under way deletes nothing. */
  private boolean isKept(String property, String owner, Item found) {
    return write(property, put(found.key(), owner, ifUnchanged(found)))
        instanceof WriteResult.Applied;
  }

  private static Condition ifUnchanged(Item found) {
    return new Condition.VersionIs(found.version());
  }

  private static Write put(Key key, String owner, Condition condition) {
    return new Write.Put(key, Map.of(OWNER, new Field.Text(owner)), Optional.empty(), condition);
  }

  private WriteResult write(String property, Write write) {
    return IdempotentRetry.result(store, "a value of " + property, () -> store.write(write));
  }

  private static QuipuException contended(String property, RetryPolicy.Attempts attempts) {
    return new OutcomeUnknownException(
        Reason.THROTTLED,
        "others change the same value of %s, in %s".formatted(property, attempts),
        null);
  }

  /**
   * Gives a value up.
   *
   * @return whether it is free now; false if another has it
   * @throws QuipuException if the outcome is not known; calling again is harmless
   */
  public boolean drop(String property, String value, String owner) {
    Key key = key(property, value);
    RetryPolicy.Attempts attempts = store.attempts();
    do {
      Optional<Item> found = store.get(key, Consistency.STRONG);
      if (found.isEmpty() || !owner(found.get()).equals(owner)) {
        return found.isEmpty();
      }
      Write delete = new Write.Delete(key, ifUnchanged(found.get()));
      if (write(property, delete) instanceof WriteResult.Applied) {
        return true;
      }
    } while (attempts.again());
    throw contended(property, attempts);
  }

  /** Who has a value; empty if it is free. */
  public Optional<String> owner(String property, String value) {
    return store.get(key(property, value), Consistency.STRONG).map(UniqueValues::owner);
  }

  private static String owner(Item item) {
    return item.text(OWNER).orElseThrow();
  }
}
