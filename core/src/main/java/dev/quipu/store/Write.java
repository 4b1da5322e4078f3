package dev.quipu.store;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.StoreProfile.Capability;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** An atomic, conditional change of one item. */
public sealed interface Write {
  /** Returns the key of the item. */
  Key key();

  /** Returns the condition under which the write is applied. */
  Condition condition();

  /** Returns this write under another condition. */
  Write when(Condition other);

  /** Stores a whole item, replacing an existing one. */
  record Put(Key key, Map<String, Field> fields, Optional<Instant> expiresAt, Condition condition)
      implements Write {
    /** Copies the fields; an empty set equals an absent field. */
    public Put {
      fields = Item.withoutEmptySets(fields);
    }

    /** Creates a write of an item that does not expire. */
    public Put(Key key, Map<String, Field> fields, Condition condition) {
      this(key, fields, Optional.empty(), condition);
    }

    @Override
    public Put when(Condition other) {
      return new Put(key, fields, expiresAt, other);
    }
  }

  /**
   * Changes fields of the item, which is created if missing; each field at most once. The expiry
   * stays unchanged.
   */
  record Update(Key key, List<Change> changes, Condition condition) implements Write {
    /**
     * Copies the changes.
     *
     * @throws IllegalArgumentException if there is none, or two of the same field
     */
    public Update {
      changes = List.copyOf(changes);
      long fields =
          changes.size() == 1 ? 1 : changes.stream().map(Change::field).distinct().count();
      if (changes.isEmpty() || fields != changes.size()) {
        throw new IllegalArgumentException(
            "update of %s has %d changes of %d fields; change at least one field, and each once"
                .formatted(key, changes.size(), fields));
      }
    }

    /** Returns whether {@link Capability#NATIVE_ADD} suffices for this update. */
    public boolean isLoneAdd() {
      return condition instanceof Condition.Always
          && changes.size() == 1
          && changes.getFirst() instanceof Change.Add add
          && add.field().equals(Item.VALUE);
    }

    @Override
    public Update when(Condition other) {
      return new Update(key, changes, other);
    }
  }

  /** Removes the item; without effect if it is missing. */
  record Delete(Key key, Condition condition) implements Write {
    @Override
    public Delete when(Condition other) {
      return new Delete(key, other);
    }
  }

  /** The effect of a write on an item. */
  sealed interface Effect {
    /** The new state of the item; empty if it is removed. */
    record Now(Optional<Item> item) implements Effect {}

    /** The condition does not hold; the item stays unchanged. */
    record Unmet() implements Effect {}
  }

  /**
   * Returns the effect of this write on {@code before}: the semantics of every write, as one pure
   * function. Drivers call it, or implement the same in the language of their store.
   *
   * @param next the version of the state that it may create
   * @throws QuipuException with {@link Outcome#NOT_APPLIED} if the type of a field does not match
   *     the change or the condition
   */
  default Effect applyTo(Optional<Item> before, Version next) {
    Map<String, Field> fields = before.map(Item::fields).orElse(Map.of());
    Optional<Item> after;
    switch (this) {
      case Put put -> after = Optional.of(new Item(put.key, put.fields, next, put.expiresAt));
      case Delete delete -> after = Optional.empty();
      case Update update -> {
        Optional<Map<String, Field>> changed = changed(update, fields);
        if (changed.isEmpty()) {
          return new Effect.Unmet();
        }
        Optional<Instant> expiresAt = before.flatMap(Item::expiresAt);
        after = Optional.of(new Item(update.key, changed.get(), next, expiresAt));
      }
    }
    return holds(condition(), before, after) ? new Effect.Now(after) : new Effect.Unmet();
  }

  /**
   * Returns whether the condition holds for {@code found}: for a driver whose store reports only
   * that nothing was written.
   *
   * @throws QuipuException as {@link #applyTo} does
   */
  default boolean holdsOn(Optional<Item> found) {
    return applyTo(found, new Version("")) instanceof Effect.Now;
  }

  private static Optional<Map<String, Field>> changed(Update update, Map<String, Field> fields) {
    Map<String, Field> changed = new HashMap<>(fields);
    for (Change change : update.changes) {
      Field old = changed.get(change.field());
      switch (change) {
        case Change.Add add -> {
          long value = Item.number(update.key, add.field(), old);
          long sum = value + add.delta();
          if (((value ^ sum) & (add.delta() ^ sum)) < 0) {
            return Optional.empty();
          }
          changed.put(add.field(), new Field.Number(sum));
        }
        case Change.Put put -> changed.put(put.field(), put.value());
        case Change.AddToken add -> {
          Set<String> values = new HashSet<>(Item.tokens(update.key, add.field(), old));
          values.add(add.token());
          changed.put(add.field(), new Field.Tokens(values));
        }
        case Change.DropToken drop -> {
          Set<String> values = new HashSet<>(Item.tokens(update.key, drop.field(), old));
          values.remove(drop.token());
          if (values.isEmpty()) {
            changed.remove(drop.field());
          } else {
            changed.put(drop.field(), new Field.Tokens(values));
          }
        }
      }
    }
    return Optional.of(changed);
  }

  private static boolean holds(Condition condition, Optional<Item> before, Optional<Item> after) {
    return switch (condition) {
      case Condition.Always always -> true;
      case Condition.Absent absent -> before.isEmpty();
      case Condition.VersionIs is ->
          before.isPresent() && before.get().version().equals(is.version());
      case Condition.Has has ->
          before.isPresent() && before.get().fields().containsKey(has.field());
      case Condition.FieldIs is ->
          before.isPresent() && is.value().equals(before.get().fields().get(is.field()));
      case Condition.Within within -> {
        long value = after.map(item -> item.number(within.field())).orElse(0L);
        yield within.min() <= value && value <= within.max();
      }
      case Condition.Lacks lacks ->
          before.isEmpty() || !before.get().tokens(lacks.field()).contains(lacks.token());
      case Condition.FewerThan fewer ->
          before.isEmpty() || before.get().tokens(fewer.field()).size() < fewer.count();
      case Condition.All all ->
          all.conditions().stream().allMatch(each -> holds(each, before, after));
    };
  }

  /** One change to one field of an item. */
  sealed interface Change {
    /** Returns the name of the field. */
    String field();

    /**
     * Adds to a number, which starts at 0. A 64-bit overflow fails the write like an unmet
     * condition.
     */
    record Add(String field, long delta) implements Change {}

    /** Sets a field. */
    record Put(String field, Field value) implements Change {}

    /** Adds a token to a set, which starts empty; without effect if it is already present. */
    record AddToken(String field, String token) implements Change {}

    /** Removes a token from a set; without effect if it is missing. */
    record DropToken(String field, String token) implements Change {}
  }
}
