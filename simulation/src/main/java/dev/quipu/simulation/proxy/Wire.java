package dev.quipu.simulation.proxy;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads parts of a message, and keeps their bytes. */
final class Wire {
  private static final int LINE_BYTES_MAX = 1 << 20;

  private final InputStream from;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();

  Wire(InputStream from) {
    this.from = from;
  }

  /** Returns all bytes read. */
  byte[] kept() {
    return kept.toByteArray();
  }

  /** Reads one byte; -1 at the end. */
  int read() throws IOException {
    int read = from.read();
    if (read >= 0) {
      kept.write(read);
    }
    return read;
  }

  byte[] take(int length) throws IOException {
    byte[] bytes = from.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("%d of %d bytes".formatted(bytes.length, length));
    }
    kept.write(bytes);
    return bytes;
  }

  /** Reads a line without its CR LF; null at the end. */
  @Nullable String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int read = read(); ; read = read()) {
      if (read < 0) {
        if (line.size() == 0) {
          return null;
        }
        throw new EOFException("in a line");
      }
      if (read == '\n') {
        byte[] bytes = line.toByteArray();
        boolean cr = bytes.length > 0 && bytes[bytes.length - 1] == '\r';
        return latin1(cr ? Arrays.copyOf(bytes, bytes.length - 1) : bytes);
      }
      line.write(read);
      if (line.size() > LINE_BYTES_MAX) {
        throw new IOException("a line of more than %d bytes".formatted(LINE_BYTES_MAX));
      }
    }
  }

  /** Reads a line; fails at the end of the stream. */
  String nextLine() throws IOException {
    String line = line();
    if (line == null) {
      throw new EOFException("no reply");
    }
    return line;
  }

  static String latin1(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  static byte[] latin1(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }
}
