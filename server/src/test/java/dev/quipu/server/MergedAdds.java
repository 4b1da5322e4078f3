package dev.quipu.server;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The deltas of statements sent to PostgreSQL, each of which may merge many adds. */
final class MergedAdds {
  private MergedAdds() {}

  /** Returns the sum of the deltas of {@code messages} in a partition. */
  static long sum(byte[] messages, String partition) {
    long sum = 0;
    ByteBuffer buffer = ByteBuffer.wrap(messages);
    while (buffer.hasRemaining()) {
      byte type = buffer.get();
      byte[] body = new byte[buffer.getInt() - 4];
      buffer.get(body);
      if (type == 'B') {
        sum += added(ByteBuffer.wrap(body), partition);
      }
    }
    return sum;
  }

  /** Parses an upsert, whose first parameters are partition, sort and value. */
  private static long added(ByteBuffer bind, String partition) {
    skipText(bind);
    skipText(bind);
    int formats = bind.getShort();
    List<Boolean> isBinary = new ArrayList<>();
    for (int i = 0; i < formats; i++) {
      isBinary.add(bind.getShort() == 1);
    }
    int count = bind.getShort();
    List<byte[]> parameters = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int length = bind.getInt();
      byte[] parameter = new byte[Math.max(length, 0)];
      bind.get(parameter);
      parameters.add(parameter);
    }
    if (count < 3
        || !text(parameters.get(0)).equals(partition)
        || !text(parameters.get(1)).equals("value")) {
      return 0;
    }
    boolean binary = !isBinary.isEmpty() && isBinary.get(Math.min(2, isBinary.size() - 1));
    byte[] value = parameters.get(2);
    return binary ? ByteBuffer.wrap(value).getLong() : Long.parseLong(text(value));
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static void skipText(ByteBuffer buffer) {
    while (buffer.get() != 0) {
      // NUL-terminated
    }
  }
}
