package dev.quipu.engine;

import dev.quipu.HoldReading;
import dev.quipu.HoldReading.State;
import dev.quipu.RequestId;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.TransactionRecord;
import dev.quipu.engine.log.TransactionRecord.Kind;
import java.time.Instant;
import java.util.OptionalLong;

/** Holds as they are read. */
final class HoldReadings {
  private HoldReadings() {}

  /** Returns an open hold. */
  static HoldReading open(HoldRecord hold) {
    return reading(hold, State.OPEN);
  }

  /** Returns an open hold whose time to live has ended. */
  static HoldReading due(HoldRecord hold) {
    return reading(hold, State.EXPIRED);
  }

  private static HoldReading reading(HoldRecord hold, State state) {
    return new HoldReading(
        RequestId.of(hold.high(), hold.low()),
        state,
        hold.parts().stream()
            .map(part ->
                new HoldReading.Part(
                    part.counter(), part.delta(), OptionalLong.empty(), part.scale()))
            .toList(),
        Instant.ofEpochMilli(hold.expiresMillis()),
        false);
  }

  /**
   * Returns a hold that has ended.
   *
   * @param state has the names of its counters
   */
  static HoldReading ended(TransactionRecord hold, dev.quipu.engine.state.State state) {
    boolean isSettled = hold.kind() == Kind.SETTLED || hold.kind() == Kind.SETTLED_LATE;
    return new HoldReading(
        RequestId.of(hold.high(), hold.low()),
        isSettled ? State.SETTLED : hold.kind() == Kind.RELEASED ? State.RELEASED : State.EXPIRED,
        hold.parts().stream()
            .map(part ->
                new HoldReading.Part(
                    state.nameOf(part.ordinal()),
                    part.delta(),
                    isSettled ? OptionalLong.of(part.kept()) : OptionalLong.empty(),
                    part.scale()))
            .toList(),
        Instant.ofEpochMilli(hold.expiresMillis()),
        hold.kind() == Kind.SETTLED_LATE);
  }
}
