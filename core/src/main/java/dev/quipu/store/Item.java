package dev.quipu.store;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The item stored under a key.
 *
 * @param expiresAt when the item expires: from then on readers no longer see it, and the store
 *     removes it some time later
 */
public record Item(
    Key key, Map<String, Field> fields, Version version, Optional<Instant> expiresAt) {
  /**
   * The field that holds a technique's number. Stores keep it as a native number; other fields may
   * be part of a document.
   */
  public static final String VALUE = "value";

  /** Copies the fields; an empty set equals an absent field. */
  public Item {
    fields = withoutEmptySets(fields);
  }

  static Map<String, Field> withoutEmptySets(Map<String, Field> fields) {
    for (Field field : fields.values()) { // no stream: hot path
      if (isEmptySet(field)) {
        return fields.entrySet().stream()
            .filter(each -> !isEmptySet(each.getValue()))
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
      }
    }
    return Map.copyOf(fields);
  }

  private static boolean isEmptySet(Field field) {
    return field instanceof Field.Tokens tokens && tokens.values().isEmpty();
  }

  /**
   * Returns a number field; 0 if absent.
   *
   * @throws QuipuException if the field is not a number
   */
  public long number(String field) {
    return number(key, field, fields.get(field));
  }

  /** Returns a text field; empty if absent. */
  public Optional<String> text(String field) {
    return switch (fields.get(field)) {
      case null -> Optional.empty();
      case Field.Text text -> Optional.of(text.value());
      case Field.Number number -> throw wrongType(key, field);
      case Field.Tokens tokens -> throw wrongType(key, field);
    };
  }

  /** Returns a set field; an empty set if absent. */
  public Set<String> tokens(String field) {
    return tokens(key, field, fields.get(field));
  }

  /** Returns whether the item has expired at {@code now}. */
  public boolean isExpired(Instant now) {
    return expiresAt.isPresent() && !expiresAt.get().isAfter(now);
  }

  static long number(Key key, String field, @Nullable Field value) {
    return switch (value) {
      case null -> 0;
      case Field.Number number -> number.value();
      case Field.Text text -> throw wrongType(key, field);
      case Field.Tokens tokens -> throw wrongType(key, field);
    };
  }

  static Set<String> tokens(Key key, String field, @Nullable Field value) {
    return switch (value) {
      case null -> Set.of();
      case Field.Tokens tokens -> tokens.values();
      case Field.Number number -> throw wrongType(key, field);
      case Field.Text text -> throw wrongType(key, field);
    };
  }

  private static QuipuException wrongType(Key key, String field) {
    return new NotAppliedException(
        Reason.CORRUPT, // callers cannot choose the type of a field
        "field %s of %s/%s has a different type".formatted(field, key.partition(), key.sort()));
  }

  /**
   * Identifies one state of one item. A version never recurs for the same key, not even after a
   * delete.
   *
   * @param token chosen by the driver; compared, never interpreted
   */
  public record Version(String token) {}

  /** The value of one field of an item. */
  public sealed interface Field {
    /** A signed 64-bit number. */
    record Number(long value) implements Field {}

    /** A text. */
    record Text(String value) implements Field {}

    /** A set of distinct strings. An empty set and an absent field are the same. */
    record Tokens(Set<String> values) implements Field {
      /** Copies the set. */
      public Tokens {
        values = Set.copyOf(values);
      }
    }
  }
}
