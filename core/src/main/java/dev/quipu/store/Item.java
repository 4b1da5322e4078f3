package dev.quipu.store;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What is stored under a key.
 *
 * @param expiresAt when it expires: it is gone for readers, and stores remove it some time later
 */
public record Item(
    Key key, Map<String, Field> fields, Version version, Optional<Instant> expiresAt) {
  /**
   * The field in which a technique keeps its number. Stores hold this one in their own kind of
   * number, where others may be part of a document.
   */
  public static final String VALUE = "value";

  /** Copies the fields; an empty set is no field. */
  public Item {
    fields = withoutEmptySets(fields);
  }

  static Map<String, Field> withoutEmptySets(Map<String, Field> fields) {
    for (Field field : fields.values()) { // no stream: this is done for every item
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
   * A number field; 0 if absent.
   *
   * @throws QuipuException if the field is no number
   */
  public long number(String field) {
    return switch (fields.get(field)) {
      case null -> 0;
      case Field.Number number -> number.value();
      case Field.Text text -> throw wrongType(key, field);
      case Field.Tokens tokens -> throw wrongType(key, field);
    };
  }

  /** A text field; empty if absent. */
  public Optional<String> text(String field) {
    return switch (fields.get(field)) {
      case null -> Optional.empty();
      case Field.Text text -> Optional.of(text.value());
      case Field.Number number -> throw wrongType(key, field);
      case Field.Tokens tokens -> throw wrongType(key, field);
    };
  }

  /** A set field; an empty set if absent. */
  public Set<String> tokens(String field) {
    return switch (fields.get(field)) {
      case null -> Set.of();
      case Field.Tokens tokens -> tokens.values();
      case Field.Number number -> throw wrongType(key, field);
      case Field.Text text -> throw wrongType(key, field);
    };
  }

  /** Whether readers no longer see it at {@code now}. */
  public boolean isExpired(Instant now) {
    return expiresAt.isPresent() && !expiresAt.get().isAfter(now);
  }

  static QuipuException wrongType(Key key, String field) {
    return new NotAppliedException(
        Reason.INVALID,
        "field %s of %s/%s has another type".formatted(field, key.partition(), key.sort()));
  }

  /**
   * One state of one item. No two states of a key have the same version, not even across a delete.
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

    /** A set of distinct texts. An empty set and an absent field are the same. */
    record Tokens(Set<String> values) implements Field {
      /** Copies the set. */
      public Tokens {
        values = Set.copyOf(values);
      }
    }
  }
}
