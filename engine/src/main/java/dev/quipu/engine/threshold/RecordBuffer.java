package dev.quipu.engine.threshold;

import dev.quipu.engine.log.Records;
import java.nio.ByteBuffer;

/** Records of thresholds, until they are written. */
final class RecordBuffer {
  private static final int NUMBER_BYTES_MAX = 10;

  private ByteBuffer records = ByteBuffer.allocate(1 << 12);

  /**
   * Begins a record.
   *
   * @param bytesMax an upper bound of what the caller writes to it
   */
  ByteBuffer begin(byte kind, long number, int bytesMax) {
    int needed = 1 + NUMBER_BYTES_MAX + bytesMax;
    if (records.remaining() < needed) {
      int capacity = Math.max(2 * records.capacity(), records.position() + needed);
      records = ByteBuffer.allocate(capacity).put(records.flip());
    }
    Records.unsigned(records.put(kind), number);
    return records;
  }

  /** Adds a record of two numbers. */
  void add(byte kind, long number, long other) {
    Records.unsigned(begin(kind, number, NUMBER_BYTES_MAX), other);
  }

  boolean isEmpty() {
    return records.position() == 0;
  }

  /** Returns the most bytes that {@link #moveTo} writes. */
  int bytesMax() {
    return isEmpty() ? 0 : 1 + NUMBER_BYTES_MAX + records.position();
  }

  /** Writes all records to a frame. */
  void moveTo(ByteBuffer out) {
    if (!isEmpty()) {
      Records.thresholds(out, records.flip());
      records.clear();
    }
  }
}
