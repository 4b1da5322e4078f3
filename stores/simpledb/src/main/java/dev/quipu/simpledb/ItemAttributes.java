package dev.quipu.simpledb;

import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Converts items to attributes of SimpleDB; {@link SimpleDbDriver} describes the layout. */
final class ItemAttributes {
  static final String PARTITION = "p";
  static final String SORT = "s";
  static final String VERSION = "v";
  static final String EXPIRY = "x";
  static final String FIELDS = "f";

  /** Longest name or value, in bytes of UTF-8. */
  static final int TEXT_BYTES_MAX = 1_024;

  /** Maximum number of pairs of a name and a value in an item. */
  static final int PAIRS_MAX = 256;

  static final String NEVER = "-";
  private static final int DIGITS = 20;
  private static final int CHUNK_DIGITS = 4;
  private static final int CHUNK_BYTES = TEXT_BYTES_MAX - CHUNK_DIGITS - 1;

  private ItemAttributes() {}

  /** Returns the unique name of an item, which is readable unless it is too long. */
  static String itemName(Key key) {
    String name = key.partition().length() + "/" + key.partition() + "/" + key.sort();
    return Key.shortened(name, TEXT_BYTES_MAX);
  }

  static String partition(String partition) {
    return Key.shortened(partition, TEXT_BYTES_MAX);
  }

  /** Encodes a number as 20 digits with an offset of 2^63, which sort in the order of numbers. */
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

  /** Returns the values that hold these fields, at least one. */
  static List<String> values(Key key, Map<String, Field> fields) {
    StringBuilder lines = new StringBuilder();
    fields.forEach((name, field) -> {
      switch (field) {
        case Field.Number number -> line(lines, 'n', name, number(number.value()));
        case Field.Text text -> line(lines, 't', name, text.value());
        case Field.Tokens tokens -> tokens.values().forEach(token -> line(lines, 's', name, token));
      }
    });
    List<String> values = chunks(lines.toString());
    int pairs = values.size() + 4; // with partition, sort, version and expiry
    if (pairs > PAIRS_MAX) {
      throw new NotAppliedException(
          Reason.INVALID,
          "item %s/%s would have %d pairs; the limit of SimpleDB is %d"
              .formatted(key.partition(), key.sort(), pairs, PAIRS_MAX));
    }
    return values;
  }

  private static void line(StringBuilder lines, char kind, String field, String data) {
    lines.append(kind).append(' ').append(escaped(field).replace(" ", "%20")).append(' ');
    lines.append(escaped(data)).append('\n');
  }

  private static String escaped(String text) {
    // XML parsers convert a carriage return to a line feed.
    return text.replace("%", "%25").replace("\n", "%0A").replace("\r", "%0D");
  }

  private static String plain(String escaped) {
    return escaped
        .replace("%20", " ")
        .replace("%0A", "\n")
        .replace("%0D", "\r")
        .replace("%25", "%");
  }

  /** Returns the value of a single token. */
  static String token(String field, String token) {
    StringBuilder line = new StringBuilder();
    line(line, 's', field, token);
    line.setLength(line.length() - 1);
    int bytes = Limits.utf8Length(line.toString());
    if (bytes > TEXT_BYTES_MAX) {
      throw new NotAppliedException(
          Reason.INVALID,
          "a token of field %s has %d bytes with its field; the limit of SimpleDB is %d"
              .formatted(field, bytes, TEXT_BYTES_MAX));
    }
    return line.toString();
  }

  /** Splits a text into numbered parts, at boundaries of characters. */
  private static List<String> chunks(String text) {
    List<String> chunks = new ArrayList<>();
    int start = 0;
    do {
      int end = start;
      int bytes = 0;
      while (end < text.length()) {
        int chars = Character.charCount(text.codePointAt(end));
        bytes += Limits.utf8Length(text.substring(end, end + chars));
        if (bytes > CHUNK_BYTES) {
          break;
        }
        end += chars;
      }
      chunks.add("%04d %s".formatted(chunks.size(), text.substring(start, end)));
      start = end;
    } while (start < text.length());
    return chunks;
  }

  /** Returns the item of a reply. */
  static Item item(Key key, Reply.Found found) {
    Map<String, Field> fields = new HashMap<>();
    Map<String, Set<String>> tokens = new HashMap<>();
    StringBuilder chunks = new StringBuilder();
    List<String> lines = new ArrayList<>();
    for (String value : found.values(FIELDS).stream().sorted().toList()) {
      if (value.startsWith("s ")) {
        lines.add(value);
      } else {
        chunks.append(value, Math.min(CHUNK_DIGITS + 1, value.length()), value.length());
      }
    }
    Arrays.stream(chunks.toString().split("\n", -1))
        .filter(each -> !each.isEmpty())
        .forEach(lines::add);
    for (String line : lines) {
      String[] parts = line.split(" ", 3);
      if (parts.length < 3) {
        throw corrupt(key, line);
      }
      String name = plain(parts[1]);
      String data = plain(parts[2]);
      switch (parts[0]) {
        case "n" -> fields.put(name, new Field.Number(number(data)));
        case "s" -> tokens.computeIfAbsent(name, ignored -> new HashSet<>()).add(data);
        case "t" -> fields.put(name, new Field.Text(data));
        default -> throw corrupt(key, line);
      }
    }
    tokens.forEach((name, values) -> fields.put(name, new Field.Tokens(values)));
    Optional<Instant> expiresAt =
        found
            .value(EXPIRY)
            .filter(text -> !text.equals(NEVER))
            .map(text -> Instant.ofEpochMilli(number(text)));
    return new Item(
        key,
        fields,
        found.value(VERSION).map(Version::new).orElse(SimpleDbDriver.OF_TOKENS),
        expiresAt);
  }

  private static QuipuException corrupt(Key key, String value) {
    return new NotAppliedException(
        Reason.CORRUPT,
        "item %s/%s has a malformed field: %s".formatted(key.partition(), key.sort(), value));
  }
}
