package dev.quipu.engine.threshold;

import dev.quipu.Decimal;
import dev.quipu.backend.CounterThresholds.Crossing;
import dev.quipu.backend.CounterThresholds.Direction;
import dev.quipu.engine.log.Records;
import java.nio.ByteBuffer;
import java.time.Instant;

/**
 * A crossing as it is kept.
 *
 * @param at the threshold then; it may have been replaced since
 * @param run a random number of the run of the engine, since a restored directory, or one that was
 *     not synced, may use a sequence number again
 */
public record Crossed(
    long sequence,
    long run,
    Decimal at,
    String counter,
    long before,
    long after,
    int scale,
    long timeMillis) {
  /** Heap without the name, in bytes. */
  private static final long BYTES = 208;

  static Crossed read(ByteBuffer in) {
    return new Crossed(
        Records.unsigned(in),
        in.getLong(),
        new Decimal(Records.signed(in), in.get()),
        Records.text(in),
        Records.signed(in),
        Records.signed(in),
        in.get(),
        Records.signed(in));
  }

  void write(ByteBuffer out) {
    Records.unsigned(out, sequence);
    out.putLong(run);
    Records.signed(out, at.units());
    out.put((byte) at.scale());
    Records.text(out, counter);
    Records.signed(out, before);
    Records.signed(out, after);
    out.put((byte) scale);
    Records.signed(out, timeMillis);
  }

  /** Returns an upper bound of the bytes that {@link #write} writes. */
  int bytesMax() {
    return 80 + 3 * counter.length();
  }

  /** Returns the estimated heap, in bytes. */
  long memoryBytes() {
    return BYTES + 2L * counter.length();
  }

  /** Returns it as readers get it. */
  public Crossing crossing() {
    return new Crossing(
        "%016x-%d".formatted(run, sequence),
        sequence,
        at,
        before < after ? Direction.UP : Direction.DOWN,
        counter,
        new Decimal(before, scale),
        new Decimal(after, scale),
        Instant.ofEpochMilli(timeMillis));
  }
}
