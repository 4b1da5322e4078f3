package dev.quipu.engine;

import dev.quipu.HoldReading;
import dev.quipu.HoldReading.State;
import dev.quipu.RequestId;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.TransactionRecord;
import dev.quipu.engine.log.TransactionRecord.Kind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
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
    List<HoldReading.Part> parts = new ArrayList<>(hold.parts().size());
    for (HoldRecord.Part part : hold.parts()) {
      parts.add(
          new HoldReading.Part(part.counter(), part.delta(), OptionalLong.empty(), part.scale()));
    }
    return new HoldReading(
        RequestId.of(hold.high(), hold.low()),
        state,
        parts,
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
    List<HoldReading.Part> parts = new ArrayList<>(hold.parts().size());
    for (TransactionRecord.Part part : hold.parts()) {
      OptionalLong settled = isSettled ? OptionalLong.of(part.kept()) : OptionalLong.empty();
      parts.add(
          new HoldReading.Part(state.nameOf(part.ordinal()), part.delta(), settled, part.scale()));
    }
    return new HoldReading(
        RequestId.of(hold.high(), hold.low()),
        isSettled ? State.SETTLED : hold.kind() == Kind.RELEASED ? State.RELEASED : State.EXPIRED,
        parts,
        Instant.ofEpochMilli(hold.expiresMillis()),
        hold.kind() == Kind.SETTLED_LATE);
  }
}
