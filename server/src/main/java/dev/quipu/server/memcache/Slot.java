package dev.quipu.server.memcache;

import dev.quipu.Decimal;
import dev.quipu.Reading;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.memcache.Line.Rejected;
import dev.quipu.server.protocol.StoredText;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * A key and access to its value. All expiries are in milliseconds since 1970; 0 is never.
 *
 * @param isUnsigned whether a counter under this key is unsigned
 */
record Slot(CounterAccess counters, String key, boolean isUnsigned) {
  private static final Pattern NUMBER = Pattern.compile("-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?");

  /** Returns the value; empty if the key does not exist. */
  Optional<Entry> read() {
    Optional<Reading> reading = counters.reading(key);
    if (reading.isPresent()) {
      return Optional.of(Entry.ofCounter(reading.get(), isUnsigned));
    }
    return Optional.ofNullable(counters.text(key)).map(text -> Entry.ofText(text, isUnsigned));
  }

  /** Sets the value: a counter if it is a plain number, else a text. */
  void write(int flags, byte[] content, long expiresAt) {
    OptionalLong number = flags == 0 ? number(content) : OptionalLong.empty();
    if (number.isPresent()) {
      counters.set(key, number.getAsLong());
    } else {
      counters.setText(key, StoredText.of(flags, content));
    }
    counters.expire(key, expiresAt);
  }

  /** Parses the value of a counter, in its units; empty if it is a text. */
  private OptionalLong number(byte[] content) {
    int scale = counters.scale(key);
    if (scale == 0) {
      return Entry.number(content, isUnsigned);
    }
    String text = new String(content, StandardCharsets.ISO_8859_1);
    if (!NUMBER.matcher(text).matches()) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Decimal.parse("value", text).unitsAt("value", scale));
    } catch (IllegalArgumentException e) {
      throw new Rejected("CLIENT_ERROR " + e.getMessage());
    }
  }

  /** Rejects increments of this key if its counter is, or would be, a decimal. */
  void requireInteger() {
    requireInteger(counters.scale(key));
  }

  static void requireInteger(int scale) {
    if (scale != 0) {
      throw new Rejected(
          "CLIENT_ERROR cannot increment or decrement a decimal value (scale %d); use HTTP or RESP"
              .formatted(scale));
    }
  }

  /** Sets an empty text that {@code mg} with N creates. */
  Entry writePlaceholder(long expiresAt) {
    byte[] text = StoredText.ofPlaceholder();
    counters.setText(key, text);
    counters.expire(key, expiresAt);
    return Entry.ofText(text, isUnsigned);
  }

  /**
   * Stores data; returns whether the mode allowed it.
   *
   * @param mode set, add, replace, append or prepend
   */
  boolean store(String mode, int flags, byte[] data, long expiresAt) {
    Optional<Entry> before = read();
    boolean joins = mode.equals("append") || mode.equals("prepend");
    if (before.isEmpty() ? !mode.matches("set|add") : mode.equals("add")) {
      return false;
    }
    if (joins) {
      byte[] old = before.orElseThrow().content();
      byte[] content = mode.equals("append") ? joined(old, data) : joined(data, old);
      write(before.orElseThrow().flags(), content, counters.expiresAt(key));
    } else if (expiresAt == 1) {
      counters.remove(key); // stored and expired immediately
    } else {
      write(flags, data, expiresAt);
    }
    return true;
  }

  private static byte[] joined(byte[] first, byte[] second) {
    if (first.length + second.length > StoredText.BYTES_MAX) {
      throw new Rejected(TextCommands.TOO_LARGE);
    }
    ByteBuf all = Unpooled.buffer(first.length + second.length);
    return all.writeBytes(first).writeBytes(second).array();
  }

  /** Sets the expiry from a memcached time; returns whether the key existed. */
  boolean touch(long time) {
    long at = Request.expiresAt(counters, time);
    boolean existed = counters.exists(key);
    if (at == 1) {
      counters.remove(key);
    } else {
      counters.expire(key, at);
    }
    return existed;
  }

  /** Returns the seconds until the key expires; -1 for never. */
  long secondsLeft() {
    long at = counters.expiresAt(key);
    return at == 0 ? -1 : (at - counters.nowMillis() + 500) / 1_000;
  }
}
