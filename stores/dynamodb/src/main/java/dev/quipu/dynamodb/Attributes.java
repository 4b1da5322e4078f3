package dev.quipu.dynamodb;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
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
  static final String GENERATION = "g";
  static final String CALL = "c";
  static final String TTL = "ttl";

  private static final String EXPIRES_AT = "x";
  private static final int PARTITION_BYTES_MAX = 2_048;
  private static final Duration KEEP_EXPIRED = Duration.ofMinutes(1); // for clock skew

  private final Layout layout;

  Attributes(Layout layout) {
    this.layout = layout;
  }

  String partitionName() {
    return layout.partitionName();
  }

  String sortName() {
    return layout.sortName();
  }

  String field(String name) {
    return layout.attribute(name);
  }

  static AttributeValue text(String text) {
    return AttributeValue.fromS(text);
  }

  static AttributeValue number(long number) {
    return AttributeValue.fromN(Long.toString(number));
  }

  AttributeValue partition(String partition) {
    return text(Key.shortened(layout.partition(partition), PARTITION_BYTES_MAX));
  }

  AttributeValue sort(String partition, String sort) {
    return text(layout.sort(partition, sort));
  }

  /** Returns the key of the item of {@code partition} that has these attributes. */
  Key key(String partition, Map<String, AttributeValue> attributes) {
    AttributeValue sort = attributes.get(layout.sortName());
    return new Key(partition, sort == null ? "" : layout.sortOf(partition, sort.s()));
  }

  Map<String, AttributeValue> key(Key key) {
    return Map.of(
        layout.partitionName(),
        partition(key.partition()),
        layout.sortName(),
        sort(key.partition(), key.sort()));
  }

  static AttributeValue value(Field field) {
    return switch (field) {
      case Field.Number number -> number(number.value());
      case Field.Text text -> text(text.value());
      case Field.Tokens tokens -> AttributeValue.fromSs(tokens.values().stream().sorted().toList());
    };
  }

  /** Returns all attributes of a put. */
  Map<String, AttributeValue> of(Write.Put put, String token) {
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

  /**
   * Returns the item of these attributes; empty if there are none.
   *
   * @throws NotAppliedException if a number has more than 64 bits or a fraction, which only another
   *     program stores
   */
  Optional<Item> item(Key key, Map<String, AttributeValue> attributes) {
    if (attributes.isEmpty()) {
      return Optional.empty();
    }
    Map<String, Field> fields = new HashMap<>();
    String generation = "";
    String token = "";
    String ttl = "";
    Optional<Instant> expiresAt = Optional.empty();
    for (Map.Entry<String, AttributeValue> each : attributes.entrySet()) {
      AttributeValue value = each.getValue();
      switch (each.getKey()) {
        case GENERATION -> generation = value.n();
        case CALL -> token = value.s();
        case EXPIRES_AT -> expiresAt = Optional.of(Instant.ofEpochMilli(number(key, each)));
        case TTL -> ttl = value.n();
        default -> {
          String field = layout.field(each.getKey());
          if (field != null) {
            fields.put(field, field(key, each));
          }
        }
      }
    }
    if (generation.isEmpty()) { // another program stored it
      token = ttl;
      if (!ttl.isEmpty()) {
        expiresAt = Optional.of(Instant.ofEpochSecond(Long.parseLong(ttl)));
      }
    }
    return Optional.of(new Item(key, fields, version(generation, token), expiresAt));
  }

  private static Field field(Key key, Map.Entry<String, AttributeValue> attribute) {
    AttributeValue value = attribute.getValue();
    return switch (value.type()) {
      case N -> new Field.Number(number(key, attribute));
      case SS -> new Field.Tokens(new HashSet<>(value.ss()));
      default -> new Field.Text(value.s());
    };
  }

  private static long number(Key key, Map.Entry<String, AttributeValue> attribute) {
    try {
      return Long.parseLong(attribute.getValue().n());
    } catch (NumberFormatException e) {
      throw new NotAppliedException(
          Reason.CORRUPT,
          "attribute %s of %s/%s is %s; it must be an integer of 64 bits"
              .formatted(attribute.getKey(), key.partition(), key.sort(), attribute.getValue().n()),
          e);
    }
  }
}
