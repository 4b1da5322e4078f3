package dev.quipu.store;

import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import java.util.List;
import java.util.Optional;

/** A precondition of a write; checked and applied in one atomic step. */
public sealed interface Condition {
  /** Always holds. */
  record Always() implements Condition {}

  /** No item exists under the key. */
  record Absent() implements Condition {}

  /** The item is in exactly this state. */
  record VersionIs(Version version) implements Condition {}

  /** The item exists and has this field, whatever its value. */
  record Has(String field) implements Condition {}

  /** The field has this value. */
  record FieldIs(String field, Field value) implements Condition {
    /**
     * Checks the value.
     *
     * @throws IllegalArgumentException for an empty set, which equals an absent field
     */
    public FieldIs {
      if (value instanceof Field.Tokens tokens && tokens.values().isEmpty()) {
        throw new IllegalArgumentException(
            "field %s cannot be compared with an empty set; use FewerThan 1".formatted(field));
      }
    }
  }

  /** After the change, the number is in {@code min..max}, inclusive. */
  record Within(String field, long min, long max) implements Condition {}

  /** The set does not contain the token. */
  record Lacks(String field, String token) implements Condition {}

  /** The set contains fewer than {@code count} tokens. */
  record FewerThan(String field, int count) implements Condition {
    /**
     * Checks the count.
     *
     * @throws IllegalArgumentException if it is less than 1, since no set has fewer than 0 tokens
     */
    public FewerThan {
      if (count < 1) {
        throw new IllegalArgumentException("count is %d; the minimum is 1".formatted(count));
      }
    }
  }

  /** All of these conditions hold. */
  record All(List<Condition> conditions) implements Condition {
    /** Copies the list. */
    public All {
      conditions = List.copyOf(conditions);
    }
  }

  /** Returns a condition that always holds. */
  static Condition always() {
    return new Always();
  }

  /** Returns the condition that the item is unchanged: in the same state, or still missing. */
  static Condition unchanged(Optional<Item> found) {
    return found.<Condition>map(item -> new VersionIs(item.version())).orElse(new Absent());
  }

  /** Returns the conjunction of several conditions. */
  static Condition all(Condition... conditions) {
    return new All(List.of(conditions));
  }
}
