package dev.quipu.sketches;

import com.dynatrace.hash4j.distinctcount.UltraLogLog;
import com.dynatrace.hash4j.hashing.Hashing;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Estimates the number of distinct values. Not thread-safe.
 *
 * <pre>{@code
 * Counts distinct values. Up to HASHES_MAX, the sketch is the sorted list of their 64-bit hashes,
 * and exact except for collisions. Above, it is an UltraLogLog of 8,192 registers: 8 KiB, with a
 * standard error of 0.84%. In both forms it does not depend on the order and repetition of adds,
 * so a repeat changes nothing.
 *
 * Encoding: a type byte, then the hashes of 8 bytes each, or the registers.
 * }</pre>
 */
public final class DistinctSketch {
  /** Largest size of a sketch, in bytes. */
  public static final int BYTES_MAX = 1 + (1 << DistinctSketch.PRECISION);

  /** Relative standard error of an estimate. */
  public static final double STANDARD_ERROR = 0.0084;

  private static final int PRECISION = 13;
  private static final int HASHES_MAX = 512;
  private static final byte LIST = 0;
  private static final byte REGISTERS = 1;

  private long[] hashes;
  private int size; // of the list; -1 in the form of registers
  private UltraLogLog registers;

  private DistinctSketch(long[] hashes, int size, UltraLogLog registers) {
    this.hashes = hashes;
    this.size = size;
    this.registers = registers;
  }

  /** Returns an empty sketch. */
  public static DistinctSketch empty() {
    return new DistinctSketch(new long[8], 0, UltraLogLog.create(3));
  }

  /**
   * Decodes the result of {@link #bytes}.
   *
   * @throws IllegalArgumentException if it is malformed
   */
  public static DistinctSketch of(byte[] bytes) {
    if (bytes.length == BYTES_MAX && bytes[0] == REGISTERS) {
      byte[] state = Arrays.copyOfRange(bytes, 1, bytes.length);
      return new DistinctSketch(new long[0], -1, UltraLogLog.wrap(state));
    }
    if (bytes.length % Long.BYTES != 1 || bytes[0] != LIST) {
      throw new IllegalArgumentException("malformed sketch of %d bytes".formatted(bytes.length));
    }
    DistinctSketch sketch = empty();
    ByteBuffer in = ByteBuffer.wrap(bytes, 1, bytes.length - 1);
    while (in.hasRemaining()) {
      sketch.addHash(in.getLong());
    }
    return sketch;
  }

  /**
   * Adds a value.
   *
   * @return whether that changed the sketch
   */
  public boolean add(byte[] what) {
    return addHash(Hashing.wyhashFinal4().hashBytesToLong(what));
  }

  private boolean addHash(long hash) {
    if (size < 0) {
      byte[] before = registers.getState();
      int at = registerOf(hash);
      byte was = before[at];
      registers.add(hash);
      return registers.getState()[at] != was;
    }
    int at = Arrays.binarySearch(hashes, 0, size, hash);
    if (at >= 0) {
      return false;
    }
    if (size == HASHES_MAX) {
      toRegisters();
      registers.add(hash);
      return true;
    }
    if (size == hashes.length) {
      hashes = Arrays.copyOf(hashes, 2 * size);
    }
    int place = -at - 1;
    System.arraycopy(hashes, place, hashes, place + 1, size - place);
    hashes[place] = hash;
    size++;
    return true;
  }

  /** Returns the register of a hash: its first bits. */
  private static int registerOf(long hash) {
    return (int) (hash >>> (Long.SIZE - PRECISION));
  }

  private void toRegisters() {
    registers = UltraLogLog.create(PRECISION);
    for (int i = 0; i < size; i++) {
      registers.add(hashes[i]);
    }
    size = -1;
  }

  /** Adds all values of another sketch. */
  public void merge(DistinctSketch other) {
    if (other.size >= 0) {
      for (int i = 0; i < other.size; i++) {
        addHash(other.hashes[i]);
      }
      return;
    }
    if (size >= 0) {
      toRegisters();
    }
    registers.add(other.registers);
  }

  /** Returns the estimated number of distinct values. */
  public long estimate() {
    return size >= 0 ? size : Math.round(registers.getDistinctCountEstimate());
  }

  /** Encodes the sketch. */
  public byte[] bytes() {
    if (size < 0) {
      byte[] state = registers.getState();
      return ByteBuffer.allocate(1 + state.length).put(REGISTERS).put(state).array();
    }
    ByteBuffer out = ByteBuffer.allocate(1 + size * Long.BYTES).put(LIST);
    for (int i = 0; i < size; i++) {
      out.putLong(hashes[i]);
    }
    return out.array();
  }
}
