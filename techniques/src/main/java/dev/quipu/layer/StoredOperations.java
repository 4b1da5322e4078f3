package dev.quipu.layer;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The operations of memcached, implemented by conditional writes to one item per key.
 *
 * <p>A number up to 2^63 - 1 is stored as a number, so that {@code incr} and {@code decr} are a
 * single conditional write: it is a number and stays in range. All other cases, such as an overflow
 * or a {@code decr} that stops at 0, replace the item if it is unchanged, and retry if not.
 */
final class StoredOperations implements AtomicOperations {
  private static final String SORT = "value";
  private static final String FORM = "form";
  private static final String TEXT = "text";
  private static final Field NUMBER_FORM = new Field.Text("number");
  private static final Field TEXT_FORM = new Field.Text("text");
  private static final int ROUNDS_MAX = 1_000;

  private final Store store;

  StoredOperations(Store store) {
    this.store = store;
  }

  @Override
  public Optional<Value> get(String key) {
    return store.get(at(key)).map(StoredOperations::value);
  }

  @Override
  public List<Optional<Value>> getAll(List<String> keys) {
    return keys.stream().map(this::get).toList();
  }

  @Override
  public void set(String key, String value, Optional<Duration> expiry) {
    store.write(put(key, value, until(expiry), Condition.always()));
  }

  @Override
  public boolean add(String key, String value, Optional<Duration> expiry) {
    return isApplied(put(key, value, until(expiry), new Condition.Absent()));
  }

  @Override
  public boolean replace(String key, String value, Optional<Duration> expiry) {
    Optional<Instant> until = until(expiry);
    return whileUnchanged(
        key, found -> put(key, value, until, new Condition.VersionIs(found.version())));
  }

  @Override
  public boolean append(String key, String text) {
    return whileUnchanged(key, found -> changed(key, found, value(found).text() + text));
  }

  @Override
  public boolean prepend(String key, String text) {
    return whileUnchanged(key, found -> changed(key, found, text + value(found).text()));
  }

  @Override
  public boolean cas(String key, String value, Version version, Optional<Duration> expiry) {
    Optional<Instant> until = until(expiry);
    // Read first: a condition alone would also hold for an expired item that is still stored.
    return store.get(at(key)).map(Item::version).equals(Optional.of(version))
        && isApplied(put(key, value, until, new Condition.VersionIs(version)));
  }

  @Override
  public OptionalLong incr(String key, long delta) {
    AtomicOperations.checkDelta(delta);
    return count(key, delta, number -> number + delta);
  }

  @Override
  public OptionalLong decr(String key, long delta) {
    AtomicOperations.checkDelta(delta);
    return count(
        key, -delta, number -> Long.compareUnsigned(number, delta) > 0 ? number - delta : 0);
  }

  private OptionalLong count(String key, long delta, LongUnaryOperator count) {
    Write add =
        new Write.Update(
            at(key),
            List.of(new Change.Add(Item.VALUE, delta)),
            Condition.all(
                new Condition.FieldIs(FORM, NUMBER_FORM),
                new Condition.Within(Item.VALUE, 0, Long.MAX_VALUE)));
    for (int round = 0; round < ROUNDS_MAX; round++) {
      switch (store.write(add)) {
        case WriteResult.Applied applied -> {
          Item after = applied.after().orElseThrow(); // an update always leaves an item
          return isExpired(after)
              ? OptionalLong.empty()
              : OptionalLong.of(after.number(Item.VALUE));
        }
        case WriteResult.ConditionFailed failed -> {
          if (failed.found().isEmpty()) {
            return OptionalLong.empty();
          }
          Item found = failed.found().get();
          long after = count.applyAsLong(number(key, found));
          if (isApplied(changed(key, found, Long.toUnsignedString(after)))) {
            return OptionalLong.of(after);
          }
        }
      }
    }
    throw tooMany(key);
  }

  @Override
  public boolean touch(String key, Optional<Duration> expiry) {
    Optional<Instant> until = until(expiry);
    return whileUnchanged(
        key,
        found ->
            new Write.Put(
                at(key), found.fields(), until, new Condition.VersionIs(found.version())));
  }

  @Override
  public boolean delete(String key) {
    return whileUnchanged(
        key, found -> new Write.Delete(at(key), new Condition.VersionIs(found.version())));
  }

  /** Changes the item under the condition that it is unchanged; returns false if there is none. */
  private boolean whileUnchanged(String key, Function<Item, Write> write) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Optional<Item> found = store.get(at(key));
      if (found.isEmpty()) {
        return false;
      }
      if (isApplied(write.apply(found.get()))) {
        return true;
      }
    }
    throw tooMany(key);
  }

  private boolean isApplied(Write write) {
    return store.write(write) instanceof WriteResult.Applied;
  }

  private boolean isExpired(Item item) {
    return item.isExpired(store.now());
  }

  private Optional<Instant> until(Optional<Duration> expiry) {
    return AtomicOperations.checkExpiry(expiry).map(time -> store.now().plus(time));
  }

  private static Write changed(String key, Item found, String value) {
    return put(key, value, found.expiresAt(), new Condition.VersionIs(found.version()));
  }

  private static Write put(String key, String value, Optional<Instant> until, Condition condition) {
    return new Write.Put(at(key), fields(AtomicOperations.checkValue(value)), until, condition);
  }

  private static Map<String, Field> fields(String value) {
    Long number = asNumber(value);
    return number == null
        ? Map.of(FORM, TEXT_FORM, TEXT, new Field.Text(value))
        : Map.of(FORM, NUMBER_FORM, Item.VALUE, new Field.Number(number));
  }

  /**
   * Returns the value as a number if it is the canonical form that {@link Long#toString(long)}
   * prints; else null.
   */
  private static @Nullable Long asNumber(String value) {
    if (!value.matches("0|[1-9][0-9]{0,18}")) {
      return null;
    }
    long number = Long.parseUnsignedLong(value);
    return number < 0 ? null : Long.valueOf(number);
  }

  private static Value value(Item item) {
    String text = item.text(TEXT).orElseGet(() -> Long.toString(item.number(Item.VALUE)));
    return new Value(text, item.version());
  }

  private static long number(String key, Item found) {
    return value(found)
        .number()
        .orElseThrow(() ->
            new NotAppliedException(
                Reason.INVALID, "value of %s is not a 64-bit number".formatted(key)));
  }

  private static QuipuException tooMany(String key) {
    return new NotAppliedException(
        Reason.THROTTLED, "gave up after %d attempts: contention on %s".formatted(ROUNDS_MAX, key));
  }

  private static Key at(String key) {
    return new Key("value/" + AtomicOperations.checkKey(key), SORT);
  }
}
