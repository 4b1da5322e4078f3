package dev.quipu.client;

import dev.quipu.Add;
import dev.quipu.Decimal;
import dev.quipu.RequestId;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Writes the lines of a bulk request, without intermediate objects for most of them. */
final class LineWriter {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  /** Longest line: every character of the name and the id escaped, and three numbers. */
  private static final int LINE_BYTES_MAX = 8 << 10;

  private final boolean inUnits;
  private byte[] bytes = new byte[16 << 10];
  private int length;

  /**
   * Creates a writer.
   *
   * @param inUnits whether the request has amounts in units of their counters; others are marked
   */
  LineWriter(boolean inUnits) {
    this.inUnits = inUnits;
  }

  /**
   * Writes an add.
   *
   * @param isBits whether the id has no text but its 128 bits
   */
  void add(Add add, @Nullable RequestId id, boolean isBits) {
    if (bytes.length - length < LINE_BYTES_MAX) {
      bytes = Arrays.copyOf(bytes, bytes.length * 2);
    }
    ascii("{\"name\":");
    quoted(add.counter());
    ascii(",\"delta\":");
    amount(add, add.delta());
    if (add.bounds().floor() != Long.MIN_VALUE) {
      ascii(",\"floor\":");
      amount(add, add.bounds().floor());
    }
    if (add.bounds().ceiling() != Long.MAX_VALUE) {
      ascii(",\"ceiling\":");
      amount(add, add.bounds().ceiling());
    }
    if (inUnits && add.scale() != Add.UNITS) {
      ascii(",\"decimal\":true");
    }
    if (id != null) {
      ascii(",\"id\":");
      if (isBits) {
        bytes[length++] = '"';
        hex(id.high());
        hex(id.low());
        bytes[length++] = '"';
      } else {
        quoted(id.text());
      }
    }
    ascii("}\n");
  }

  private void amount(Add add, long amount) {
    if (add.scale() <= 0) {
      ascii(Long.toString(amount));
    } else {
      ascii("\"" + Decimal.text(amount, add.scale()) + "\"");
    }
  }

  /** Returns all lines. */
  byte[] lines() {
    return Arrays.copyOf(bytes, length);
  }

  @SuppressWarnings("deprecation") // the characters are ASCII, so that their bytes are copied
  private void ascii(String text) {
    text.getBytes(0, text.length(), bytes, length);
    length += text.length();
  }

  /** Writes a text without control characters, as names and ids are. */
  private void quoted(String text) {
    bytes[length++] = '"';
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      if (each == '"' || each == '\\') {
        bytes[length++] = '\\';
      }
      bytes[length++] = each;
    }
    bytes[length++] = '"';
  }

  private void hex(long bits) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      bytes[length++] = HEX[(int) (bits >>> shift) & 15];
    }
  }
}
