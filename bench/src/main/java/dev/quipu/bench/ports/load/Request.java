package dev.quipu.bench.ports.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/** An encoded request of a fixed length: only the digits of its key and its id change. */
public final class Request {
  /** Placeholder of a key in the text of a request. */
  static final String KEY = "c:########";

  /** Placeholder of a unique id in the text of a request. */
  static final String ID = "i:@@@@@@@@@@@@@@@@";

  private static final int ID_DIGITS = 16;

  private static final List<String> NAMES =
      IntStream.range(0, Workload.KEYS_MAX).mapToObj("c:%08d"::formatted).toList();

  /** The eight digits of each key. */
  private static final long[] DIGITS =
      NAMES.stream()
          .mapToLong(name -> ByteBuffer.wrap(name.getBytes(StandardCharsets.US_ASCII)).getLong(2))
          .toArray();

  private final byte[] bytes;
  private final int keyAt;
  private final int idAt;

  private Request(String text) {
    this.keyAt = text.indexOf('#');
    this.idAt = text.indexOf('@');
    this.bytes = text.replace('#', '0').replace('@', '0').getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns the request of a line; {@code line} has no line end. */
  static Request line(String line) {
    return new Request(line + "\r\n");
  }

  /** Returns the request of a text as it is. */
  static Request text(String text) {
    return new Request(text);
  }

  /** Returns the request of a command of Redis. */
  static Request resp(String... words) {
    return new Request(respText(words));
  }

  static String respText(String... words) {
    StringBuilder text = new StringBuilder("*").append(words.length).append("\r\n");
    for (String word : words) {
      text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }
    return text.toString();
  }

  /** Returns the name of a key. */
  public static String key(int number) {
    return NAMES.get(number);
  }

  int length() {
    return bytes.length;
  }

  /** Returns a buffer with {@code count} requests. */
  ByteBuffer encoded(int count) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length * count);
    for (int i = 0; i < count; i++) {
      buffer.put(bytes);
    }
    return buffer.flip();
  }

  /** Appends a request to the buffer. */
  void append(ByteBuffer buffer, long number, int keys) {
    int at = buffer.position();
    buffer.put(bytes);
    number(buffer, at, number, keys);
  }

  /** Sets the number of the request at {@code at}. */
  void number(ByteBuffer buffer, int at, long number, int keys) {
    if (keys > 1) {
      buffer.putLong(at + keyAt, DIGITS[RequestNumbers.key(number, keys)]);
    }
    if (idAt >= 0) {
      digits(buffer, at + idAt, ID_DIGITS, number);
    }
  }

  private static void digits(ByteBuffer buffer, int at, int width, long value) {
    long rest = value;
    for (int i = at + width - 1; i >= at; i--) {
      long tenth = rest / 10;
      buffer.put(i, (byte) ('0' + (int) (rest - (tenth * 10))));
      rest = tenth;
    }
  }
}
