package dev.quipu.dynamodb;

import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Converts items to attributes of DynamoDB; {@link DynamoDbDriver} describes the layout. */
final class Attributes {
  static final String PARTITION = "pk";
  static final String SORT = "sk";
  static final String GENERATION = "g";
  static final String CALL = "c";
  static final String TTL = "ttl";

  private static final String EXPIRES_AT = "x";
  private static final String FIELD = "f:";
  private static final int PARTITION_BYTES_MAX = 2_048;
  private static final Duration KEEP_EXPIRED = Duration.ofMinutes(1); // for clock skew

  private Attributes() {}

  static String field(String name) {
    return FIELD + name;
  }

  static AttributeValue text(String text) {
    return AttributeValue.fromS(text);
  }

  static AttributeValue number(long number) {
    return AttributeValue.fromN(Long.toString(number));
  }

  static AttributeValue partition(String partition) {
    return text(Key.shortened(partition, PARTITION_BYTES_MAX));
  }

  static String sort(Map<String, AttributeValue> attributes) {
    AttributeValue sort = attributes.get(SORT);
    return sort == null ? "" : sort.s();
  }

  static Map<String, AttributeValue> key(Key key) {
    return Map.of(PARTITION, partition(key.partition()), SORT, text(key.sort()));
  }

  static AttributeValue value(Field field) {
    return switch (field) {
      case Field.Number number -> number(number.value());
      case Field.Text text -> text(text.value());
      case Field.Tokens tokens -> AttributeValue.fromSs(tokens.values().stream().sorted().toList());
    };
  }

  /** Returns all attributes of a put. */
  static Map<String, AttributeValue> of(Write.Put put, String token) {
    Map<String, AttributeValue> attributes = new HashMap<>(key(put.key()));
    put.fields().forEach((name, field) -> attributes.put(field(name), value(field)));
    attributes.put(GENERATION, number(0));
    attributes.put(CALL, text(token));
    if (put.expiresAt().isPresent()) {
      Instant at = put.expiresAt().get();
      attributes.put(EXPIRES_AT, number(at.toEpochMilli()));
      attributes.put(TTL, number(at.plus(KEEP_EXPIRED).getEpochSecond()));
    }
    return attributes;
  }

  /** Returns the item after a put. */
  static Item stored(Write.Put put, String token) {
    return new Item(put.key(), put.fields(), version("0", token), put.expiresAt());
  }

  private static Version version(String generation, String token) {
    return new Version(generation + "." + token);
  }

  /** Returns the item of these attributes; empty if there are none. */
  static Optional<Item> item(Key key, Map<String, AttributeValue> attributes) {
    if (attributes.isEmpty()) {
      return Optional.empty();
    }
    Map<String, Field> fields = new HashMap<>();
    String generation = "";
    String token = "";
    Optional<Instant> expiresAt = Optional.empty();
    for (Map.Entry<String, AttributeValue> each : attributes.entrySet()) {
      AttributeValue value = each.getValue();
      switch (each.getKey()) {
        case GENERATION -> generation = value.n();
        case CALL -> token = value.s();
        case EXPIRES_AT -> expiresAt = Optional.of(Instant.ofEpochMilli(Long.parseLong(value.n())));
        default -> {
          if (each.getKey().startsWith(FIELD)) {
            fields.put(each.getKey().substring(FIELD.length()), field(value));
          }
        }
      }
    }
    return Optional.of(new Item(key, fields, version(generation, token), expiresAt));
  }

  private static Field field(AttributeValue value) {
    return switch (value.type()) {
      case N -> new Field.Number(Long.parseLong(value.n()));
      case SS -> new Field.Tokens(new HashSet<>(value.ss()));
      default -> new Field.Text(value.s());
    };
  }
}
