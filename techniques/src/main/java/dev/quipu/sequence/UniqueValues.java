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
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.util.Map;
import java.util.Optional;

/**
 * Values with one owner each: a unique constraint for any property. Thread-safe.
 *
 * <pre>{@code
 * UNIQUE VALUES
 *
 * Problem. No two users may have the same e-mail address, and no two invoices the same number, on
 * stores where only keys are unique. Checking whether a value exists before storing it is a race.
 *
 * Stored. The partition of the property holds an item under each value, with the owner of the
 * value.
 *
 * Protocol.
 *   1. Store the item under the value, if there is none.
 *      a. It is stored: the owner has the value.
 *      b. It exists with the same owner: store it again, if it is unchanged; the owner had the
 *         value already. If it has changed, go to 1.
 *      c. It exists with another owner: the request is rejected, with the name of that owner.
 *   2. If the outcome is unknown, go to 1.
 *   To release a value, read its item, and delete it if it has this owner and is unchanged.
 *
 * Why it is correct. Only one write under a key finds it free. A repeat finds its own item. A
 * delete applies to one version of the item, so a delayed delete that arrives after the owner took
 * the value again has no effect: that is why 1b stores the item again.
 *
 * Assumptions. There are none about time. A delayed write that arrives after the owner released the
 * value takes the value once more, and its owner holds it without knowing. To correct that, look up
 * the value and release it again.
 *
 * Crash table.
 *   | crash           | stored                | a repeat          |
 *   | before 1        | nothing               | takes the value   |
 *   | reply to 1 lost | the value, its owner  | 1b                |
 *   | in a delete     | the value, or nothing | deletes the value |
 *   Take the value first, under an owner that is known before its record exists: after a crash in
 *   between, the caller returns as the same owner. To change a value, take the new one, then
 *   release the old one.
 *
 * Cost. Taking a value takes one round trip, and leaves one item; a repeat or a release takes two
 * round trips.
 *
 * Source. "Sequence numbers for records without a counter" (App Engine), putUniqueValue.
 * }</pre>
 */
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

  /** The result of taking a value. */
  public sealed interface Result {}

  /**
   * The caller owns the value.
   *
   * @param replayed whether the caller owned it already
   */
  public record Owned(boolean replayed) implements Result {}

  /** Another owner has the value, and nothing changed. */
  public record OwnedByOther(String owner) implements Result {}

  /**
   * Creates a constraint on {@code store}.
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
   * Takes a value, unless it has another owner.
   *
   * @param property the name of the property, such as {@code email}
   * @param owner the new owner; the same in each repeat
   * @throws QuipuException if the outcome is unknown; repeat with the same owner
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

  /** Stores the item again, so that a delayed delete has no effect. */
  private boolean isKept(String property, String owner, Item found) {
    return write(property, put(found.key(), owner, ifUnchanged(found)))
        instanceof WriteResult.Applied;
  }

  private static Condition ifUnchanged(Item found) {
    return new Condition.VersionIs(found.version());
  }

  private static Write put(Key key, String owner, Condition condition) {
    return new Write.Put(key, Map.of(OWNER, new Field.Text(owner)), condition);
  }

  private WriteResult write(String property, Write write) {
    return IdempotentRetry.result(store, "a value of " + property, () -> store.write(write));
  }

  private static QuipuException contended(String property, RetryPolicy.Attempts attempts) {
    return new OutcomeUnknownException(
        Reason.THROTTLED,
        "gave up after %s: contention on a value of property %s".formatted(attempts, property),
        null);
  }

  /**
   * Releases a value.
   *
   * @return whether it is free now; false if it has another owner
   * @throws QuipuException if the outcome is unknown; repeating the call is safe
   */
  public boolean drop(String property, String value, String owner) {
    Key key = key(property, value);
    RetryPolicy.Attempts attempts = store.attempts();
    do {
      Optional<Item> found = store.get(key);
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

  /** Returns the owner of a value; empty if it is free. */
  public Optional<String> owner(String property, String value) {
    return store.get(key(property, value)).map(UniqueValues::owner);
  }

  private static String owner(Item item) {
    return item.text(OWNER).orElseThrow();
  }
}
