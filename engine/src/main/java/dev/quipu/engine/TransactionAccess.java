package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.TransactionResult.Added;
import dev.quipu.Transactions;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.log.TransactionRecord;
import dev.quipu.engine.log.TransactionRecord.Kind;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.TransactionIds;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Transactions over several counters while an {@link Operation} runs; see {@link Transactions}. All
 * changes of one call are in one frame of the log. Checks everything first: an exception means that
 * nothing has changed.
 */
public final class TransactionAccess {
  private final CounterAccess access;
  private final State state;
  private final Group group;

  /** Creates the access of an operation. */
  public TransactionAccess(CounterAccess access) {
    this.access = access;
    this.state = access.state;
    this.group = access.group;
  }

  /** Returns an upper bound of the log bytes that {@link #commit} writes. */
  public static int bytesMax(List<Add> adds) {
    return CounterAccess.bytesMax(adds.size(), namesLength(adds))
        + TransactionRecord.bytesMax(adds.size());
  }

  /** Returns the total length of the names of counters, in chars. */
  static int namesLength(List<Add> adds) {
    int length = 0;
    for (Add add : adds) {
      length += add.counter().length();
    }
    return length;
  }

  /**
   * Applies all adds or none; see {@link Transactions#commit}.
   *
   * @param given for which {@link Transactions#check} has returned
   */
  public TransactionResult commit(RequestId id, List<Add> given) {
    if (state.holds.find(id.high(), id.low()) != null) {
      return new TransactionResult.Conflict();
    }
    long[] marker = marker(id);
    if (marker != null) {
      return repeated(marker, given);
    }
    int[] ordinals = new int[given.size()];
    List<Add> adds = inUnits(given, ordinals);
    TransactionResult.@Nullable Rejected rejected = firstRejected(adds, ordinals);
    if (rejected != null) {
      return rejected;
    }
    requireRoom(adds, ordinals);
    List<Added> added = new ArrayList<>(adds.size());
    List<TransactionRecord.Part> parts = new ArrayList<>(adds.size());
    for (int i = 0; i < ordinals.length; i++) {
      Add add = adds.get(i);
      int ordinal = apply(ordinals[i], add.counter(), add.delta());
      long value = state.counters.value(ordinal);
      int scale = state.counters.scale(ordinal);
      added.add(new Added(add.counter(), add.delta(), value, scale));
      parts.add(new TransactionRecord.Part(ordinal, add.delta(), value, 0, 0, scale));
    }
    remember(
        new TransactionRecord(
            id.high(), id.low(), Kind.TRANSACTION, 0, boundsMark(adds), 0, List.copyOf(parts)));
    state.endChange();
    return new TransactionResult.Applied(added, false);
  }

  /**
   * Returns adds in units of their counters. Throws if a counter is a text, or if an amount has
   * more digits after the point than its counter.
   *
   * @param ordinals receives the ordinals of the counters, so that names are looked up once;
   *     negative for new ones
   */
  List<Add> inUnits(List<Add> adds, int[] ordinals) {
    List<Add> converted = new ArrayList<>(adds.size());
    for (int i = 0; i < ordinals.length; i++) {
      Add add = adds.get(i);
      int ordinal = state.counters.find(add.counter());
      ordinals[i] = ordinal;
      access.requireNumber(ordinal, add.counter());
      converted.add(inUnits(add, access.scale(ordinal, add.counter())));
    }
    return converted;
  }

  private static Add inUnits(Add add, int scale) {
    try {
      return add.at(scale);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "amount of %s: %s".formatted(add.counter(), e.getMessage()), e);
    }
  }

  /** Returns the first add that a bound rejects; null if none. */
  TransactionResult.@Nullable Rejected firstRejected(List<Add> adds, int[] ordinals) {
    for (int i = 0; i < ordinals.length; i++) {
      Add add = adds.get(i);
      long value = access.isAlive(ordinals[i]) ? state.counters.value(ordinals[i]) : 0;
      Rejection why = Rejection.of(value, add.delta(), add.bounds());
      if (why != null) {
        int scale = access.scale(ordinals[i], add.counter());
        return new TransactionResult.Rejected(add.counter(), why, OptionalLong.of(value), scale);
      }
    }
    return null;
  }

  /** Ensures that changes are accepted, and that there is memory for the new counters. */
  void requireRoom(List<Add> adds, int[] ordinals) {
    group.requireWritable();
    long bytes = 0;
    int added = 0;
    for (int i = 0; i < ordinals.length; i++) {
      bytes += ordinals[i] < 0 ? state.counters.neededBytes(adds.get(i).counter(), added++) : 0;
    }
    state.requireMemory(bytes);
  }

  /** Adds to a counter, without overflow as checked before; returns its ordinal. */
  int apply(int known, String counter, long delta) {
    int ordinal = access.writable(known, counter);
    state.counters.set(ordinal, state.counters.value(ordinal) + delta);
    group.plain(state.counters, ordinal);
    return ordinal;
  }

  void remember(TransactionRecord transaction) {
    state.addTransaction(transaction);
    group.transaction(transaction);
    state.transactions += transaction.kind() == Kind.TRANSACTION ? 1 : 0;
    state.expiredHolds += transaction.kind() == Kind.EXPIRED ? 1 : 0;
  }

  /** Returns the entry of an id; null if neither a transaction nor an ended hold has it. */
  long @Nullable [] marker(RequestId id) {
    long[] entry = new long[IdTable.STRIDE];
    return state.ids.find(id.high(), id.low(), TransactionIds.MARKER, state.timeMillis, entry)
        ? entry
        : null;
  }

  /** Returns the transaction or the ended hold of a marker; null if canceled or incomplete. */
  @Nullable TransactionRecord recordOf(long[] marker) {
    return TransactionIds.isCanceled(marker)
        ? null
        : TransactionIds.of(marker, state.ids, state.timeMillis);
  }

  private TransactionResult repeated(long[] marker, List<Add> adds) {
    if (TransactionIds.isCanceled(marker)) {
      return new TransactionResult.Rejected("", Rejection.CANCELED, OptionalLong.empty());
    }
    TransactionRecord record = recordOf(marker);
    if (record == null
        || record.kind() != Kind.TRANSACTION
        || !isSame(record, adds, TransactionAccess::boundsMark)) {
      return new TransactionResult.Conflict();
    }
    return new TransactionResult.Applied(added(record), true);
  }

  /**
   * Returns whether a record is that of these adds.
   *
   * @param contents returns the hash of adds in units of their counters
   */
  boolean isSame(TransactionRecord record, List<Add> adds, ToLongFunction<List<Add>> contents) {
    List<TransactionRecord.Part> parts = record.parts();
    List<Add> converted =
        converted(adds, parts.stream().map(TransactionRecord.Part::scale).toList());
    boolean isSame = converted != null && record.contents() == contents.applyAsLong(converted);
    for (int i = 0; isSame && i < parts.size(); i++) {
      Add add = Objects.requireNonNull(converted).get(i);
      isSame =
          parts.get(i).delta() == add.delta()
              && add.counter().equals(state.nameOf(parts.get(i).ordinal()));
    }
    return isSame;
  }

  /**
   * Returns adds in units of the scales that their counters had; null if there is another number of
   * them, or an amount is none of these units.
   */
  static @Nullable List<Add> converted(List<Add> adds, List<Integer> scales) {
    if (adds.size() != scales.size()) {
      return null;
    }
    List<Add> converted = new ArrayList<>(adds.size());
    for (int i = 0; i < scales.size(); i++) {
      try {
        converted.add(adds.get(i).at(scales.get(i)));
      } catch (IllegalArgumentException e) {
        return null; // not what was counted then
      }
    }
    return converted;
  }

  private List<Added> added(TransactionRecord record) {
    return record.parts().stream()
        .map(part ->
            new Added(state.nameOf(part.ordinal()), part.delta(), part.kept(), part.scale()))
        .toList();
  }

  /** Returns a hash of the bounds of all adds. */
  static long boundsMark(List<Add> adds) {
    long mark = 0;
    for (Add add : adds) {
      mark = mark * 0x9E3779B97F4A7C15L + add.boundsMark();
    }
    return mark;
  }

  /** Returns the outcome of a transaction; see {@link Transactions#outcome}. */
  public TransactionOutcome outcome(RequestId id) {
    HoldAccess holds = new HoldAccess(access);
    var hold = holds.find(id);
    if (hold.isPresent()) {
      return new TransactionOutcome.Held(hold.get());
    }
    long[] marker = marker(id);
    if (marker == null) {
      return new TransactionOutcome.NotSeen();
    }
    if (TransactionIds.isCanceled(marker)) {
      return new TransactionOutcome.Canceled();
    }
    TransactionRecord record = recordOf(marker);
    return record == null
        ? new TransactionOutcome.NotSeen()
        : new TransactionOutcome.Applied(added(record));
  }

  /** Cancels a transaction; see {@link Transactions#cancel}. */
  public TransactionOutcome cancel(RequestId id) {
    TransactionOutcome outcome = outcome(id);
    if (outcome instanceof TransactionOutcome.Held) {
      throw new NotAppliedException(
          Reason.CONFLICT,
          "request %s is a hold, which cannot be canceled; if it is open, release it"
              .formatted(id));
    }
    if (!(outcome instanceof TransactionOutcome.NotSeen)) {
      return outcome;
    }
    group.requireWritable();
    state.beginChange();
    long meta = IdTable.meta(TransactionIds.MARKER, IdTable.CANCELED, 0);
    state.ids.add(id.high(), id.low(), meta, 0, 0, state.timeMillis, state.frame);
    group.cancel(TransactionIds.MARKER, id.high(), id.low());
    state.endChange();
    return new TransactionOutcome.Canceled();
  }
}
