package dev.quipu.redis;

import dev.quipu.NotAppliedException;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Reason;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Decodes items from hashes; {@code items.lua} lists the names of their members. */
final class ItemHash {
  private ItemHash() {}

  static List<String> flat(Map<String, String> hash) {
    List<String> flat = new ArrayList<>(2 * hash.size());
    hash.forEach((name, value) -> {
      flat.add(name);
      flat.add(value);
    });
    return flat;
  }

  /**
   * Decodes items after a write.
   *
   * @throws OutcomeUnknownException if one of them is damaged
   */
  static <T> T afterWrite(Supplier<T> decode) {
    try {
      return decode.get();
    } catch (NotAppliedException e) {
      throw new OutcomeUnknownException(e.reason(), String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Returns the item of alternating names and values; empty if there are none.
   *
   * @throws NotAppliedException if it is damaged, or of other software
   */
  static Optional<Item> item(Key key, List<?> flat) {
    try {
      return flat.isEmpty() ? Optional.empty() : Optional.of(decoded(key, flat));
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new NotAppliedException(
          Reason.CORRUPT,
          "Redis: the item %s is damaged, or of other software: %s".formatted(key, e.getMessage()),
          e);
    }
  }

  /** Returns a number as the script writes it: it rejects a sign that Java accepts. */
  private static long number(String text) {
    if (text.startsWith("+")) {
      throw new NumberFormatException("For input string: \"" + text + "\"");
    }
    return Long.parseLong(text);
  }

  private static Item decoded(Key key, List<?> flat) {
    Map<String, Field> fields = new HashMap<>();
    Map<String, Set<String>> sets = new HashMap<>();
    Version version = new Version("");
    Optional<Instant> expiresAt = Optional.empty();
    for (int i = 0; i < flat.size(); i += 2) {
      String name = (String) flat.get(i);
      String value = (String) flat.get(i + 1);
      switch (name.charAt(0)) {
        case 'v' -> version = new Version(value);
        case 'x' -> expiresAt = Optional.of(Instant.ofEpochMilli(Long.parseLong(value)));
        case 'n' -> fields.put(name.substring(2), new Field.Number(number(value)));
        case 't' -> fields.put(name.substring(2), new Field.Text(value));
        case 'e' -> {
          int colon = name.indexOf(':');
          byte[] rest = name.substring(colon + 1).getBytes(StandardCharsets.UTF_8);
          int length = Integer.parseInt(name.substring(1, colon));
          String set = new String(rest, 0, length, StandardCharsets.UTF_8);
          String token = new String(rest, length, rest.length - length, StandardCharsets.UTF_8);
          sets.computeIfAbsent(set, missing -> new HashSet<>()).add(token);
        }
        default -> {
          // s: the size of a set, which its tokens imply
        }
      }
    }
    sets.forEach((name, tokens) -> fields.put(name, new Field.Tokens(tokens)));
    return new Item(key, fields, version, expiresAt);
  }
}
