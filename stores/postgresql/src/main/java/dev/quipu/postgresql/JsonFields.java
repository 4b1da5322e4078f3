package dev.quipu.postgresql;

import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Converts fields to JSON: a number to a number, a text to a string, a set to an object with a
 * member of 1 for each token. JSON in PostgreSQL cannot hold NUL, so in names and texts it is
 * {@code \0}, and the backslash is doubled.
 */
final class JsonFields {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private JsonFields() {}

  /** Returns the fields of an item except a numeric value, which has a column. */
  static String json(Map<String, Field> fields) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    fields.forEach((name, field) -> {
      if (!(name.equals(Item.VALUE) && field instanceof Field.Number)) {
        json.set(escaped(name), node(field));
      }
    });
    return JSON.writeValueAsString(json);
  }

  /** Returns the value of one field. */
  static String json(Field field) {
    return JSON.writeValueAsString(node(field));
  }

  private static JsonNode node(Field field) {
    return switch (field) {
      case Field.Number number -> JsonNodeFactory.instance.numberNode(number.value());
      case Field.Text text -> JsonNodeFactory.instance.stringNode(escaped(text.value()));
      case Field.Tokens tokens -> {
        ObjectNode set = JsonNodeFactory.instance.objectNode();
        tokens.values().forEach(token -> set.put(escaped(token), 1));
        yield set;
      }
    };
  }

  /** Returns the item of the current row of {@code rows}, which has all columns. */
  static Item item(Key key, ResultSet rows) throws SQLException {
    Map<String, Field> fields = new HashMap<>();
    JsonNode json = JSON.readTree(rows.getString("fields"));
    json.forEachEntry((name, node) -> fields.put(unescaped(name), field(node)));
    long value = rows.getLong("value");
    if (!rows.wasNull()) {
      fields.put(Item.VALUE, new Field.Number(value));
    }
    Version version = new Version(Long.toString(rows.getLong("version")));
    long expires = rows.getLong("expires_at");
    Optional<Instant> expiresAt =
        rows.wasNull() ? Optional.empty() : Optional.of(Instant.ofEpochMilli(expires));
    return new Item(key, fields, version, expiresAt);
  }

  private static Field field(JsonNode node) {
    if (node.isNumber()) {
      return new Field.Number(node.longValue());
    }
    if (node.isString()) {
      return new Field.Text(unescaped(node.stringValue()));
    }
    Set<String> tokens = new LinkedHashSet<>();
    node.forEachEntry((token, one) -> tokens.add(unescaped(token)));
    return new Field.Tokens(tokens);
  }

  static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\0", "\\0");
  }

  private static String unescaped(String text) {
    if (text.indexOf('\\') < 0) {
      return text;
    }
    StringBuilder plain = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\') {
        i++;
        plain.append(text.charAt(i) == '0' ? '\0' : '\\');
      } else {
        plain.append(c);
      }
    }
    return plain.toString();
  }
}
