package dev.quipu.simpledb;

import dev.quipu.Limits;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import dev.quipu.store.Version;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * How items become attributes of SimpleDB, which are texts; {@link SimpleDbDriver} has the layout.
 */
final class Pairs {
  static final String PARTITION = "p";
  static final String SORT = "s";
  static final String VERSION = "v";
  static final String EXPIRY = "x";
  static final String FIELDS = "f";

  /** Longest name or value, in bytes of UTF-8. */
  static final int TEXT_BYTES_MAX = 1_024;

  /** Most pairs of a name and a value in an item. */
  static final int PAIRS_MAX = 256;

  /** Longest name of a field, in bytes of UTF-8, once spaces are encoded. */
  static final int FIELD_BYTES_MAX = 512;

  static final String NEVER = "-";
  private static final String NO_FIELDS = ".";
  private static final int DIGITS = 20;
  private static final int CHUNK_DIGITS = 4;

  private Pairs() {}

  /** The name of an item: unambiguous, and legible unless it is too long. */
  static String itemName(Key key) {
    String name = key.partition().length() + "/" + key.partition() + "/" + key.sort();
    return Key.shortened(name, TEXT_BYTES_MAX);
  }

  static String partition(String partition) {
    return Key.shortened(partition, TEXT_BYTES_MAX);
  }

  /** A number as a text of the same order: 2^63 more, and 20 digits. */
  static String number(long value) {
    String digits = Long.toUnsignedString(value ^ Long.MIN_VALUE);
    return "0".repeat(DIGITS - digits.length()) + digits;
  }

  static long number(String text) {
    return Long.parseUnsignedLong(text) ^ Long.MIN_VALUE;
  }

  static String expiry(Optional<Instant> expiresAt) {
    return expiresAt.map(at -> number(at.toEpochMilli())).orElse(NEVER);
  }

  /** The values that hold these fields: one at least. */
  static List<String> values(Key key, Map<String, Field> fields) {
    List<String> values = new ArrayList<>();
    fields.forEach((name, field) -> {
      switch (field) {
        case Field.Number number -> values.add(prefix('n', name) + number(number.value()));
        case Field.Text text -> addChunks(values, name, text.value());
        case Field.Tokens tokens ->
            tokens.values().forEach(token -> values.add(token(name, token)));
      }
    });
    if (values.isEmpty()) {
      values.add(NO_FIELDS);
    }
    int pairs = values.size() + 4; // with partition, sort, version and expiry
    if (pairs > PAIRS_MAX) {
      throw StoreException.notApplied(
          Reason.INVALID,
          "item %s/%s would have %d pairs, the limit of SimpleDB is %d"
              .formatted(key.partition(), key.sort(), pairs, PAIRS_MAX));
    }
    return values;
  }

  /** The value that holds a token. */
  static String token(String field, String token) {
    String value = prefix('s', field) + token;
    int bytes = Limits.utf8Length(value);
    if (bytes > TEXT_BYTES_MAX) {
      throw StoreException.notApplied(
          Reason.INVALID,
          "a token of field %s has %d bytes with its field, the limit of SimpleDB is %d"
              .formatted(field, bytes, TEXT_BYTES_MAX));
    }
    return value;
  }

  private static String prefix(char kind, String field) {
    String name = field.replace("%", "%25").replace(" ", "%20");
    int bytes = Limits.utf8Length(name);
    if (bytes > FIELD_BYTES_MAX) {
      throw StoreException.notApplied(
          Reason.INVALID,
          "the name of a field has %d bytes, the limit on SimpleDB is %d"
              .formatted(bytes, FIELD_BYTES_MAX));
    }
    return kind + " " + name + " ";
  }

  private static void addChunks(List<String> values, String field, String text) {
    String prefix = prefix('t', field);
    int room = TEXT_BYTES_MAX - Limits.utf8Length(prefix) - CHUNK_DIGITS - 1;
    int chunk = 0;
    int start = 0;
    do {
      int end = start;
      int bytes = 0;
      while (end < text.length()) {
        int chars = Character.charCount(text.codePointAt(end));
        bytes += Limits.utf8Length(text.substring(end, end + chars));
        if (bytes > room) {
          break;
        }
        end += chars;
      }
      values.add("%s%04d %s".formatted(prefix, chunk++, text.substring(start, end)));
      start = end;
    } while (start < text.length());
  }

  /** The item that a reply holds. */
  static Item item(Key key, Reply.Found found) {
    Map<String, Field> fields = new HashMap<>();
    Map<String, Set<String>> tokens = new HashMap<>();
    Map<String, Map<String, String>> chunks = new HashMap<>();
    for (String value : found.values(FIELDS)) {
      if (value.equals(NO_FIELDS)) {
        continue;
      }
      String[] parts = value.split(" ", 3);
      if (parts.length < 3) {
        throw corrupt(key, value);
      }
      String name = parts[1].replace("%20", " ").replace("%25", "%");
      switch (parts[0]) {
        case "n" -> fields.put(name, new Field.Number(number(parts[2])));
        case "s" -> tokens.computeIfAbsent(name, ignored -> new HashSet<>()).add(parts[2]);
        case "t" -> {
          String[] chunk = parts[2].split(" ", 2);
          chunks.computeIfAbsent(name, ignored -> new TreeMap<>()).put(chunk[0], chunk[1]);
        }
        default -> throw corrupt(key, value);
      }
    }
    tokens.forEach((name, values) -> fields.put(name, new Field.Tokens(values)));
    chunks.forEach(
        (name, parts) -> fields.put(name, new Field.Text(String.join("", parts.values()))));
    Optional<Instant> expiresAt =
        found
            .value(EXPIRY)
            .filter(text -> !text.equals(NEVER))
            .map(text -> Instant.ofEpochMilli(number(text)));
    return new Item(key, fields, new Version(found.value(VERSION).orElse("")), expiresAt);
  }

  private static StoreException corrupt(Key key, String value) {
    return StoreException.notApplied(
        Reason.CORRUPT,
        "item %s/%s has a value that is no field: %s"
            .formatted(key.partition(), key.sort(), value));
  }
}
