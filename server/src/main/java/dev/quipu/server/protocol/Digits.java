package dev.quipu.server.protocol;

import io.netty.buffer.ByteBuf;

/** Writes decimal numbers without allocation. */
public final class Digits {
  private static final int LONGEST = 20;

  private Digits() {}

  /** Writes a number and CRLF. */
  public static void line(ByteBuf out, long value) {
    int length = count(value);
    out.ensureWritable(LONGEST + 2);
    int first = out.writerIndex();
    if (out.hasArray()) { // nearly always
      byte[] bytes = out.array();
      int start = out.arrayOffset() + first;
      write(bytes, start, length, value);
      bytes[start + length] = '\r';
      bytes[start + length + 1] = '\n';
      out.writerIndex(first + length + 2);
    } else {
      byte[] bytes = new byte[length];
      write(bytes, 0, length, value);
      out.writeBytes(bytes).writeShort('\r' << 8 | '\n');
    }
  }

  private static void write(byte[] bytes, int start, int length, long value) {
    int at = start + length;
    long left = value;
    while (left > Integer.MAX_VALUE || left < -Integer.MAX_VALUE) {
      long rest = left / 10;
      bytes[--at] = (byte) ('0' + Math.abs(left - rest * 10));
      left = rest;
    }
    int small = (int) Math.abs(left); // int division is faster
    do {
      int rest = small / 10;
      bytes[--at] = (byte) ('0' + small - rest * 10);
      small = rest;
    } while (small != 0);
    if (value < 0) {
      bytes[start] = '-';
    }
  }

  /** Returns the number of characters of a number. */
  public static int count(long value) {
    int count = value < 0 ? 2 : 1;
    long left = value;
    while (left > Integer.MAX_VALUE || left < -Integer.MAX_VALUE) {
      left /= 10;
      count++;
    }
    for (int small = (int) Math.abs(left); small >= 10; small /= 10) {
      count++;
    }
    return count;
  }
}
