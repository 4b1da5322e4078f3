package dev.quipu.engine.transfer;

import dev.quipu.Bounds;
import dev.quipu.Transactions;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.TransactionRecord;
import dev.quipu.engine.log.TransactionRecord.Kind;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.TransactionIds;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;

/** Converts transactions and holds between the state of an engine and entries of an export. */
final class TransactionEntries {
  private TransactionEntries() {}

  /** Returns the entry of an open hold. */
  static Entry.Transaction of(HoldRecord hold) {
    return new Entry.Transaction(
        hold.high(),
        hold.low(),
        Entry.Transaction.State.OPEN,
        hold.contents(),
        hold.expiresMillis(),
        hold.has(HoldRecord.LATE_APPLY),
        hold.has(HoldRecord.EXCESS_ALLOW),
        hold.parts().stream()
            .map(part ->
                new Entry.Part(
                    part.counter(),
                    part.delta(),
                    0,
                    Bounds.between(part.floor(), part.ceiling()),
                    part.scale(),
                    part.isVoid()))
            .toList());
  }

  /** Returns the entry of a marker; empty if its counters were lost with a damaged log. */
  static Optional<Entry.Transaction> of(long[] marker, State state) {
    if (TransactionIds.isCanceled(marker)) {
      return Optional.of(
          new Entry.Transaction(
              marker[0],
              marker[1],
              Entry.Transaction.State.CANCELED,
              0,
              0,
              false,
              false,
              List.of()));
    }
    TransactionRecord record = TransactionIds.of(marker, state.ids, state.timeMillis);
    if (record == null) {
      return Optional.empty();
    }
    List<Entry.Part> parts = new ArrayList<>();
    for (TransactionRecord.Part part : record.parts()) {
      String name = state.nameOf(part.ordinal());
      if (name.isEmpty()) {
        return Optional.empty();
      }
      Bounds bounds =
          record.hasBounds() ? Bounds.between(part.floor(), part.ceiling()) : Bounds.none();
      parts.add(new Entry.Part(name, part.delta(), part.kept(), bounds, part.scale(), false));
    }
    return Optional.of(
        new Entry.Transaction(
            record.high(),
            record.low(),
            stateOf(record.kind()),
            record.contents(),
            record.expiresMillis(),
            record.hasBounds(),
            (record.policies() & HoldRecord.EXCESS_ALLOW) != 0,
            parts));
  }

  private static Entry.Transaction.State stateOf(Kind kind) {
    return switch (kind) {
      case TRANSACTION -> Entry.Transaction.State.APPLIED;
      case SETTLED -> Entry.Transaction.State.SETTLED;
      case SETTLED_LATE -> Entry.Transaction.State.SETTLED_LATE;
      case RELEASED -> Entry.Transaction.State.RELEASED;
      case EXPIRED -> Entry.Transaction.State.EXPIRED;
    };
  }

  private static Kind kindOf(Entry.Transaction.State state) {
    return switch (state) {
      case APPLIED -> Kind.TRANSACTION;
      case SETTLED -> Kind.SETTLED;
      case SETTLED_LATE -> Kind.SETTLED_LATE;
      case RELEASED -> Kind.RELEASED;
      case EXPIRED -> Kind.EXPIRED;
      case OPEN, CANCELED -> throw new IllegalArgumentException("not an ended transaction");
    };
  }

  /**
   * Checks an entry.
   *
   * @throws IllegalArgumentException if its id occurs a second time, or it has no counters, too
   *     many, one twice, or one without a name
   */
  static void requireNew(Entry.Transaction transaction, State state) {
    long high = transaction.high();
    long low = transaction.low();
    long[] entry = new long[IdTable.STRIDE];
    if (state.holds.find(high, low) != null
        || state.ids.find(high, low, TransactionIds.MARKER, state.timeMillis, entry)) {
      throw new IllegalArgumentException("the transaction occurs a second time");
    }
    Set<String> seen = new HashSet<>();
    for (Entry.Part part : transaction.parts()) {
      if (part.counter().isEmpty() || !seen.add(part.counter())) {
        throw new IllegalArgumentException("the name of a counter is empty, or occurs twice");
      }
    }
    boolean isCanceled = transaction.state() == Entry.Transaction.State.CANCELED;
    if (seen.isEmpty() != isCanceled || seen.size() > Transactions.COUNTERS_MAX) {
      throw new IllegalArgumentException(
          "the transaction has %d counters; the limit is %d"
              .formatted(seen.size(), Transactions.COUNTERS_MAX));
    }
  }

  /**
   * Returns an open hold as it is stored.
   *
   * @param ordinals returns the ordinal of a counter
   */
  static HoldRecord holdOf(Entry.Transaction transaction, ToIntFunction<String> ordinals) {
    return new HoldRecord(
        transaction.high(),
        transaction.low(),
        transaction.contents(),
        transaction.expiresAtMillis(),
        policies(transaction),
        transaction.parts().stream()
            .map(part ->
                new HoldRecord.Part(
                    part.counter(),
                    part.isVoid() ? 0 : ordinals.applyAsInt(part.counter()),
                    part.added(),
                    part.bounds().floor(),
                    part.bounds().ceiling(),
                    part.scale(),
                    part.isVoid()))
            .toList());
  }

  private static int policies(Entry.Transaction transaction) {
    return (transaction.isLateApplied() ? HoldRecord.LATE_APPLY : 0)
        | (transaction.isExcessAllowed() ? HoldRecord.EXCESS_ALLOW : 0);
  }

  /**
   * Returns an ended transaction as it is remembered.
   *
   * @param ordinals returns the ordinal of a counter
   */
  static TransactionRecord recordOf(Entry.Transaction transaction, ToIntFunction<String> ordinals) {
    boolean hasBounds = transaction.isLateApplied();
    return new TransactionRecord(
        transaction.high(),
        transaction.low(),
        kindOf(transaction.state()),
        policies(transaction),
        transaction.contents(),
        transaction.expiresAtMillis(),
        transaction.parts().stream()
            .map(part ->
                new TransactionRecord.Part(
                    ordinals.applyAsInt(part.counter()),
                    part.added(),
                    part.kept(),
                    hasBounds ? part.bounds().floor() : 0,
                    hasBounds ? part.bounds().ceiling() : 0,
                    part.scale()))
            .toList());
  }
}
