package dev.quipu.engine.past;

import dev.quipu.engine.log.Records;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What was recorded, in the order of the changes: names, scales and values as bytes, which only
 * grow. One thread adds; others may read what was there when they got a {@link View}.
 */
final class Entries {
  private static final int CHUNK_BYTES = 64 << 10;

  /** Longest entry: a name of 512 bytes and its length, a scale, a value. */
  static final int ENTRY_BYTES_MAX = 512 + 2 + 1 + 10;

  private final List<ByteBuffer> chunks = new ArrayList<>();
  private int takenChunk; // where the next entry to be taken begins
  private int takenPosition;

  /** Adds an entry; returns its bytes. */
  int add(byte[] name, int scale, long value) {
    if (chunks.isEmpty() || chunks.getLast().remaining() < ENTRY_BYTES_MAX) {
      chunks.add(ByteBuffer.allocate(CHUNK_BYTES));
    }
    ByteBuffer out = chunks.getLast();
    int start = out.position();
    write(out, name, scale, value);
    return out.position() - start;
  }

  static void write(ByteBuffer out, byte[] name, int scale, long value) {
    Records.unsigned(out, name.length);
    out.put(name).put((byte) scale);
    Records.signed(out, value);
  }

  static Before read(ByteBuffer in) {
    byte[] name = new byte[(int) Records.unsigned(in)];
    in.get(name);
    return new Before(name, in.get(), Records.signed(in));
  }

  /** Passes on the entries that were added since this was called last. */
  void takeNew(Consumer<Before> action) {
    for (; takenChunk < chunks.size(); takenChunk++, takenPosition = 0) {
      ByteBuffer in = chunks.get(takenChunk).duplicate().flip().position(takenPosition);
      while (in.hasRemaining()) {
        action.accept(read(in));
      }
      takenPosition = in.position();
      if (takenChunk == chunks.size() - 1) {
        return; // more may be added to this one
      }
    }
  }

  boolean isEmpty() {
    return chunks.isEmpty();
  }

  /** Returns what is here now. */
  View view() {
    return new View(
        chunks.stream().map(each -> each.duplicate().flip().asReadOnlyBuffer()).toList());
  }

  /** Entries that do not change. */
  record View(List<ByteBuffer> chunks) {
    /** Passes on all entries in the order of the changes. */
    void forEach(Consumer<Before> action) {
      for (ByteBuffer each : chunks) {
        ByteBuffer in = each.duplicate();
        while (in.hasRemaining()) {
          action.accept(read(in));
        }
      }
    }
  }
}
