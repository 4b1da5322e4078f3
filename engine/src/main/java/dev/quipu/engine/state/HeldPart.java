package dev.quipu.engine.state;

import dev.quipu.engine.log.HoldRecord;
import org.jspecify.annotations.Nullable;

/** What an {@link OpenHold} reserves on one counter. The hold itself is the first of its parts. */
class HeldPart {
  private final CounterHolds counter;
  private final long delta;
  private final long floor;
  private final long ceiling;
  private final byte scale;
  @Nullable HeldPart nextPart;

  HeldPart(HoldRecord.Part part, CounterHolds counter) {
    this.counter = counter;
    this.delta = part.delta();
    this.floor = part.floor();
    this.ceiling = part.ceiling();
    this.scale = (byte) part.scale();
  }

  CounterHolds counter() {
    return counter;
  }

  long delta() {
    return delta;
  }

  long floor() {
    return floor;
  }

  long ceiling() {
    return ceiling;
  }

  /** Returns the part as it is to be stored. */
  HoldRecord.Part part() {
    return new HoldRecord.Part(
        counter.name(), counter.ordinal(), delta, floor, ceiling, scale, counter.isVoid());
  }
}
