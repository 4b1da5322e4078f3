package dev.quipu.store;

import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import java.util.List;
import java.util.Optional;

/** What must hold for a write to be applied; checked and applied in one atomic step. */
public sealed interface Condition {
  /** Nothing. */
  record Always() implements Condition {}

  /** There is no item under the key. */
  record Absent() implements Condition {}

  /** The item is in exactly this state. */
  record VersionIs(Version version) implements Condition {}

  /** The field has this value. */
  record FieldIs(String field, Field value) implements Condition {
    /**
     * Checks the value.
     *
     * @throws IllegalArgumentException for an empty set, which is no field at all
     */
    public FieldIs {
      if (value instanceof Field.Tokens tokens && tokens.values().isEmpty()) {
        throw new IllegalArgumentException(
            "field %s cannot be compared to an empty set; FewerThan 1 does".formatted(field));
      }
    }
  }

  /** After the change, the number lies in {@code min..max}, ends included. This is a threshold. */
  record Within(String field, long min, long max) implements Condition {}

  /** The set does not hold the token. */
  record Lacks(String field, String token) implements Condition {}

  /** The set holds fewer than {@code count} tokens. */
  record FewerThan(String field, int count) implements Condition {
    /**
     * Checks the count.
     *
     * @throws IllegalArgumentException if it is less than 1: no set is smaller than empty
     */
    public FewerThan {
      if (count < 1) {
        throw new IllegalArgumentException("count is %d, the least is 1".formatted(count));
      }
    }
  }

  /** All of these. */
  record All(List<Condition> conditions) implements Condition {
    /** Copies the list. */
    public All {
      conditions = List.copyOf(conditions);
    }
  }

  /** Nothing must hold. */
  static Condition always() {
    return new Always();
  }

  /** The item is still what was found: in the same state, or not there. */
  static Condition unchanged(Optional<Item> found) {
    return found.<Condition>map(item -> new VersionIs(item.version())).orElse(new Absent());
  }

  /** All of these must hold. */
  static Condition all(Condition... conditions) {
    return new All(List.of(conditions));
  }
}
