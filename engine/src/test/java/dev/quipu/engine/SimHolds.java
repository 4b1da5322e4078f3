package dev.quipu.engine;

import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.TransactionRecord;
import dev.quipu.engine.state.OpenHold;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.TransactionIds;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** How holds end in the model, and how they are read from the state of an engine. */
final class SimHolds {
  private static final long POSTPONED_MILLIS = 60_000;

  private SimHolds() {}

  static boolean isDue(SimShared hold, State state) {
    return hold.expiresAt() <= state.wallMillis;
  }

  /**
   * Applies the expirations of a sweep to the model; called after each task of the engine.
   *
   * @param isVerified whether the model has the state that the engine found at its start: before,
   *     an open hold may be an earlier one, since its extension was lost
   */
  static void swept(SimModel model, State state, boolean isVerified, Consumer<String> wrong) {
    model.openHolds().entrySet().stream()
        .filter(each -> isDue(each.getValue(), state))
        .sorted(
            Comparator.comparingLong(
                    (Map.Entry<SimShared.Key, SimShared> each) -> each.getValue().expiresAt())
                .thenComparingLong(each -> each.getKey().id()))
        .forEach(each -> {
          OpenHold open = state.holds.find(each.getKey().id(), 77);
          boolean isLater = open != null && open.expiresMillis() > state.wallMillis;
          if (open == null || (isLater && isVerified)) {
            expire(model, each.getKey(), state, model::change);
            SimShared after = Objects.requireNonNull(model.shared(each.getKey()));
            if (after.isOpen() != (open != null)) {
              wrong.accept(
                  "expired hold " + each + " is " + (open == null ? "ended" : open.current()));
            }
          }
        });
  }

  /** Reads the open holds, and what is remembered, older than the window or not. */
  static void readAll(State state, List<SimShared.Key> keys, SimModel.Seen seen) {
    long[] marker = new long[IdTable.STRIDE];
    for (SimShared.Key key : keys) {
      OpenHold open = state.holds.find(key.id(), 77);
      if (open != null) {
        List<Boolean> voids = new ArrayList<>();
        StringBuilder text = new StringBuilder("OPEN");
        for (HoldRecord.Part part : open.current().parts()) {
          voids.add(part.isVoid());
          append(text, part.counter(), part.delta());
        }
        seen.voids.put(key, voids);
        seen.shared.put(key, text + " until " + open.expiresMillis());
      } else if (state.ids.find(key.id(), 77, TransactionIds.MARKER, 0, marker)) {
        seen.shared.put(key, remembered(marker, state));
      }
    }
  }

  private static void append(StringBuilder text, String counter, long delta) {
    text.append(' ').append(counter).append(delta >= 0 ? "+" : "").append(delta);
  }

  private static String remembered(long[] marker, State state) {
    if (TransactionIds.isCanceled(marker)) {
      return "CANCELED";
    }
    TransactionRecord record = Objects.requireNonNull(TransactionIds.of(marker, state.ids, 0));
    boolean isTransaction = record.kind() == TransactionRecord.Kind.TRANSACTION;
    StringBuilder text = new StringBuilder(isTransaction ? "APPLIED" : record.kind().name());
    for (TransactionRecord.Part part : record.parts()) {
      append(text, String.valueOf(state.counters.name(part.ordinal())), part.delta());
      text.append(" kept ").append(part.kept());
    }
    return text.append(isTransaction ? "" : " until " + record.expiresMillis()).toString();
  }

  static void expire(
      SimModel model, SimShared.Key key, State state, Consumer<SimModel.Change> changes) {
    SimShared hold = Objects.requireNonNull(model.shared(key));
    boolean isPossible = true;
    for (SimShared.Part part : hold.parts()) {
      SimModel.Cell cell = effective(model, part, state);
      isPossible &= cell == null || SimShared.isReturnable(cell.value(), part.delta(), 0);
    }
    SimModel.Change change = new SimModel.Change();
    if (!isPossible) {
      changes.accept(change.put(key, hold.expiring(state.wallMillis + POSTPONED_MILLIS)));
      return;
    }
    end(model, change, key, SimShared.State.EXPIRED, new long[hold.parts().size()], state);
    changes.accept(change);
  }

  /** Returns the counter on which a part still reserves something; null if there is none. */
  static SimModel.@Nullable Cell effective(SimModel model, SimShared.Part part, State state) {
    return part.isVoid() ? null : model.cell(part.counter(), state.wallMillis);
  }

  static void end(
      SimModel model,
      SimModel.Change change,
      SimShared.Key key,
      SimShared.State as,
      long[] kept,
      State state) {
    SimShared hold = Objects.requireNonNull(model.shared(key));
    List<SimShared.Part> parts = new ArrayList<>();
    for (int i = 0; i < kept.length; i++) {
      SimShared.Part part = hold.parts().get(i);
      SimModel.Cell cell = effective(model, part, state);
      if (cell != null && kept[i] != part.delta()) {
        long value = cell.value() - part.delta() + kept[i];
        change.put(part.counter(), new SimModel.Cell(value, null, cell.expiresAt()));
      }
      parts.add(part.keeping(kept[i]).voided(cell == null));
    }
    change.put(key, hold.with(as, parts, state.timeMillis));
  }
}
