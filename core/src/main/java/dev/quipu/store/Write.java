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
import org.jspecify.annotations.Nullable;

/** One atomic, conditional change to one item. */
public sealed interface Write {
  /** The item it is about. */
  Key key();

  /** What must hold. */
  Condition condition();

  /** The same write under another condition. */
  Write when(Condition other);

  /** Stores a whole item in place of what is there. */
  record Put(Key key, Map<String, Field> fields, Optional<Instant> expiresAt, Condition condition)
      implements Write {
    /** Copies the fields; an empty set is no field. */
    public Put {
      fields = Item.withoutEmptySets(fields);
    }

    @Override
    public Put when(Condition other) {
      return new Put(key, fields, expiresAt, other);
    }
  }

  /**
   * Changes fields of the item, which starts empty, each field once at most. Its expiry stays as it
   * is.
   */
  record Update(Key key, List<Change> changes, Condition condition) implements Write {
    /**
     * Copies the changes.
     *
     * @throws IllegalArgumentException if there is none, or two of one field
     */
    public Update {
      changes = List.copyOf(changes);
      long fields =
          changes.size() == 1 ? 1 : changes.stream().map(Change::field).distinct().count();
      if (changes.isEmpty() || fields != changes.size()) {
        throw new IllegalArgumentException(
            "an update of %s has %d changes of %d fields; each field changes once, at least one does"
                .formatted(key, changes.size(), fields));
      }
    }

    /** Whether this is all that {@link Capability#NATIVE_ADD} stands for. */
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

  /** Removes the item. Removing one that is not there changes nothing. */
  record Delete(Key key, Condition condition) implements Write {
    @Override
    public Delete when(Condition other) {
      return new Delete(key, other);
    }
  }

  /** What a write makes of an item. */
  sealed interface Effect {
    /** The item is now this; empty if it is gone. */
    record Now(Optional<Item> item) implements Effect {}

    /** The condition does not hold: nothing changes. */
    record Unmet() implements Effect {}
  }

  /**
   * What this write makes of {@code before}: the meaning of every write, in one pure function.
   * Drivers call it or compile the same to their store's language.
   *
   * @param next the version of the state that it may create
   * @throws QuipuException with {@link Outcome#NOT_APPLIED} if a field has another type than the
   *     change or the condition needs
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
   * Whether the condition holds on what was found: for a driver whose store said only that nothing
   * was written.
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
          long value = number(update.key, add.field(), old);
          long sum = value + add.delta();
          if (((value ^ sum) & (add.delta() ^ sum)) < 0) {
            return Optional.empty();
          }
          changed.put(add.field(), new Field.Number(sum));
        }
        case Change.Put put -> changed.put(put.field(), put.value());
        case Change.AddToken add -> {
          Set<String> values = new HashSet<>(tokens(update.key, add.field(), old));
          values.add(add.token());
          changed.put(add.field(), new Field.Tokens(values));
        }
        case Change.DropToken drop -> {
          Set<String> values = new HashSet<>(tokens(update.key, drop.field(), old));
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

  private static long number(Key key, String field, @Nullable Field old) {
    return switch (old) {
      case null -> 0;
      case Field.Number number -> number.value();
      case Field.Text text -> throw Item.wrongType(key, field);
      case Field.Tokens tokens -> throw Item.wrongType(key, field);
    };
  }

  private static Set<String> tokens(Key key, String field, @Nullable Field old) {
    return switch (old) {
      case null -> Set.of();
      case Field.Tokens tokens -> tokens.values();
      case Field.Number number -> throw Item.wrongType(key, field);
      case Field.Text text -> throw Item.wrongType(key, field);
    };
  }

  /** One change to one field of an item. */
  sealed interface Change {
    /** The field that changes. */
    String field();

    /**
     * Adds to a number, which starts at 0. A sum outside 64 bits fails the write like a condition
     * that does not hold.
     */
    record Add(String field, long delta) implements Change {}

    /** Sets a field. */
    record Put(String field, Field value) implements Change {}

    /** Adds a token to a set, which starts empty. Adding one that is there changes nothing. */
    record AddToken(String field, String token) implements Change {}

    /** Takes a token out of a set. Taking one that is not there changes nothing. */
    record DropToken(String field, String token) implements Change {}
  }
}
