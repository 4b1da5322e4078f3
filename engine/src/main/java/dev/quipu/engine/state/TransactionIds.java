package dev.quipu.engine.state;

import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.log.TransactionRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Transactions and ended holds as entries of {@link RequestIds}, where they are forgotten, and move
 * to disk, like the ids of single adds.
 *
 * <pre>{@code
 * Ids of transactions and holds belong to no counter. Their entries have ordinals that no counter
 * can have, the uppermost of 30 bits:
 *
 *   MARKER      delta: contents, value: expiry, mark: number of parts | kind << 8 | policies << 16
 *   PARTS + i   delta: what was added, value: what was kept, mark: ordinal of the counter
 *   BOUNDS + i  delta: floor, value: ceiling, mark: scale of the counter; only if a late settlement
 *               may need them, or SCALED is among the policies of the marker
 * }</pre>
 */
public final class TransactionIds {
  /** The most counters of a transaction. */
  private static final int PARTS_MAX = 64;

  /** The ordinal under which the id itself is remembered. */
  public static final int MARKER = (1 << 30) - 1;

  private static final int PARTS = MARKER - PARTS_MAX;
  private static final int BOUNDS = PARTS - PARTS_MAX;

  /** Beside the policies of a marker: an amount is a decimal. */
  private static final int SCALED = 64;

  private TransactionIds() {}

  /** Receives entries. */
  interface Sink {
    void entry(long meta, long delta, long value);
  }

  /** Returns whether an ordinal belongs to no counter. */
  public static boolean isReserved(int ordinal) {
    return ordinal >= BOUNDS;
  }

  /** Passes on the entries of a transaction. */
  static void forEach(TransactionRecord transaction, Sink sink) {
    List<TransactionRecord.Part> parts = transaction.parts();
    boolean isScaled = transaction.isScaled();
    int policies = transaction.policies() | (isScaled ? SCALED : 0);
    int mark = parts.size() | transaction.kind().code() << 8 | policies << 16;
    sink.entry(
        IdTable.meta(MARKER, IdTable.APPLIED, mark),
        transaction.contents(),
        transaction.expiresMillis());
    for (int i = 0; i < parts.size(); i++) {
      TransactionRecord.Part part = parts.get(i);
      sink.entry(
          IdTable.meta(PARTS + i, IdTable.APPLIED, part.ordinal()), part.delta(), part.kept());
      if (transaction.hasBounds() || isScaled) {
        long meta = IdTable.meta(BOUNDS + i, IdTable.APPLIED, part.scale());
        sink.entry(meta, part.floor(), part.ceiling());
      }
    }
  }

  /** Returns whether an entry of a {@link #MARKER} is of a canceled transaction. */
  public static boolean isCanceled(long[] marker) {
    return IdTable.kind(marker[2]) == IdTable.CANCELED;
  }

  /**
   * Returns the transaction of a marker that is not canceled.
   *
   * @return null if an entry is no longer remembered, which may happen to old ids only
   */
  public static @Nullable TransactionRecord of(long[] marker, RequestIds ids, long nowMillis) {
    long high = marker[0];
    long low = marker[1];
    int mark = IdTable.boundsMark(marker[2]);
    boolean isScaled = (mark >>> 16 & SCALED) != 0;
    int policies = mark >>> 16 & ~SCALED;
    TransactionRecord bare =
        new TransactionRecord(
            high,
            low,
            TransactionRecord.Kind.of((mark >>> 8) & 0xff),
            policies,
            marker[3],
            marker[4],
            List.of());
    List<TransactionRecord.Part> parts = new ArrayList<>();
    long[] part = new long[IdTable.STRIDE];
    long[] bounds = new long[IdTable.STRIDE];
    for (int i = 0; i < (mark & 0xff); i++) {
      if (!ids.find(high, low, PARTS + i, nowMillis, part)
          || ((bare.hasBounds() || isScaled)
              && !ids.find(high, low, BOUNDS + i, nowMillis, bounds))) {
        return null;
      }
      parts.add(
          new TransactionRecord.Part(
              IdTable.boundsMark(part[2]),
              part[3],
              part[4],
              bounds[3],
              bounds[4],
              IdTable.boundsMark(bounds[2])));
    }
    return new TransactionRecord(
        high,
        low,
        bare.kind(),
        policies,
        bare.contents(),
        bare.expiresMillis(),
        List.copyOf(parts));
  }
}
