package dev.quipu.engine.state;

import dev.quipu.Decimal;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.ScaleRules;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.ids.Secret;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.log.TransactionRecord;
import dev.quipu.engine.past.Recorder;
import dev.quipu.engine.threshold.Thresholds;
import dev.quipu.memory.ItemTable;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Counters, request ids and items; applies records of the log to them. Not thread-safe: used only
 * by the committer, and before it by recovery.
 */
public final class State implements Records.Reader {
  public final CounterTable counters;
  public final Lookahead lookahead;
  public final Tombstones tombstones;
  public final ItemTable items = new ItemTable();
  public final RequestIds ids;
  public final HoldTable holds;

  /** Crossings of thresholds may take one part in this many of the memory. */
  private static final int CROSSINGS_SHARE = 4;

  private long memoryBytesMax = Long.MAX_VALUE;
  private final long[] entry = new long[IdTable.STRIDE];

  /** The frame that is being filled or read. */
  public long frame;

  /** Its age time, which decides when request ids are forgotten: see {@code EngineClock}. */
  public long timeMillis;

  /** Its wall time, which decides when counters expire. */
  public long wallMillis;

  /** Number of begun changes; each must end, and be in the frame. */
  public long changes;

  /** Whether a change was begun and has not ended. */
  public boolean isChanging;

  /** Estimated heap of items, in bytes. */
  public long itemBytes;

  /**
   * During recovery: ordinals without a name may have request ids, because a salvage lost the
   * names.
   */
  public boolean isSalvaged;

  /** The file that has the counters without their flag of changes; empty for none. */
  public String counterFile = "";

  /** Commands applied so far, in all frames. */
  public long commands;

  /** While reading a log: whether the ids of this frame are already in a file. */
  public boolean idsAreSealed;

  public final Watches watches = new Watches();

  /** The last requests with ids. */
  public final RecentRequests recent = new RecentRequests();

  /** Records values at boundaries. */
  public final Recorder history;

  /** Thresholds, and their crossings. */
  public final Thresholds thresholds;

  /** The scales of new counters. */
  public ScaleRules scaleRules = ScaleRules.none();

  /** Transactions that were applied since the engine was opened. */
  public long transactions;

  /** Holds that expired since the engine was opened. */
  public long expiredHolds;

  /** Results of adds since the engine was opened. */
  public final AddCounts adds = new AddCounts();

  /** Sum of prefetched words: stored, so that the prefetch is not optimized away. */
  public long touched;

  public State(long identity, long windowMillis, int idsInMemoryMax, long idIndexBytesMax) {
    Secret secret = new Secret(identity);
    this.counters = new CounterTable(secret);
    this.lookahead = counters.lookahead();
    this.history = counters.followers.history;
    this.thresholds = counters.followers.thresholds;
    this.holds = new HoldTable(secret);
    this.tombstones = new Tombstones(counters);
    this.ids = new RequestIds(secret, windowMillis, idsInMemoryMax, idIndexBytesMax);
  }

  /** Returns an empty state. */
  public static State of(long identity, Settings settings) {
    return new State(
        identity,
        settings.window().toMillis(),
        settings.idsInMemoryMax(),
        settings.idIndexBytesMax());
  }

  /** Rejects, from now on, changes that need more than this memory. */
  public void limitMemory(long bytesMax) {
    memoryBytesMax = bytesMax;
    thresholds.limitMemory(bytesMax / CROSSINGS_SHARE);
  }

  /**
   * Ensures that there is memory for this number of additional bytes.
   *
   * @throws QuipuException if there is not
   */
  public void requireMemory(long bytes) {
    long used = memoryBytes();
    if (bytes > 0 && used + bytes > memoryBytesMax) {
      throw new NotAppliedException(
          Reason.FULL,
          ("out of memory: %,d more bytes are needed; counters, texts, items, holds and crossings take %,d of"
                  + " %,d bytes. Raise the limit (serve --memory), or remove some; a counter with"
                  + " request ids is freed when these are forgotten")
              .formatted(bytes, used, memoryBytesMax));
    }
  }

  /** Begins a change. If it does not end, memory and log differ, and the engine stops. */
  public void beginChange() {
    changes++;
    isChanging = true;
  }

  public void endChange() {
    isChanging = false;
  }

  /** Returns the estimated heap of all client data except request ids. */
  public long memoryBytes() {
    return counters.memoryBytes()
        + itemBytes
        + watches.memoryBytes()
        + holds.memoryBytes()
        + thresholds.memoryBytes();
  }

  /** Returns the sizes of all parts, in a time that does not depend on them. */
  public StateSizes sizes() {
    return new StateSizes(
        counters.writtenSize(),
        counters.named(),
        items.size(),
        memoryBytes(),
        ids.size(),
        ids.sizeInMemory(),
        ids.files().size(),
        holds.size(),
        expiredHolds,
        transactions,
        adds.sums());
  }

  /** Remembers a transaction, or the end of a hold, which is no longer open. */
  public void addTransaction(TransactionRecord transaction) {
    long high = transaction.high();
    long low = transaction.low();
    addTransaction(
        transaction,
        ids.epoch(),
        (meta, delta, value) -> ids.add(high, low, meta, delta, value, timeMillis, frame));
  }

  private void addTransaction(
      TransactionRecord transaction, int epoch, TransactionIds.Sink entries) {
    holds.remove(transaction.high(), transaction.low());
    transaction.parts().forEach(part -> counters.markIds(part.ordinal(), epoch));
    TransactionIds.forEach(transaction, entries);
  }

  /** Returns the name of a remembered counter; empty if it was lost with a damaged log. */
  public String nameOf(int ordinal) {
    String name = ordinal < counters.size() ? counters.name(ordinal) : null;
    return name == null ? "" : name;
  }

  /** Removes a counter, which ends what holds reserve on it. Its name keeps the ordinal. */
  public void removeCounter(int ordinal) {
    endHolds(ordinal);
    counters.remove(ordinal);
  }

  /** Ends what holds reserve on a counter: it is removed, or becomes a text. */
  public void endHolds(int ordinal) {
    holds.counterRemoved(ordinal);
  }

  /** Stores or removes an item. */
  public void setItem(Key key, Optional<Item> item) {
    itemBytes += itemBytes(item) - itemBytes(items.get(key));
    items.set(key, item);
  }

  /** Returns the estimated heap of an item: twice the bound of its record. */
  public static long itemBytes(Optional<Item> item) {
    return item.isEmpty() ? 0 : 256 + 2L * Records.itemBytesMax(item.get());
  }

  /** Finds free ordinals and tombstones, after everything was read. */
  public void ready() {
    ids.ready();
    counters.sort();
    counters.findFree(ordinal -> isSalvaged, tombstones::add);
  }

  @Override
  public void name(int ordinal, String name) {
    counters.redefine(ordinal, name);
  }

  @Override
  public void value(int ordinal, long value) {
    counters.reach(ordinal);
    counters.set(ordinal, value);
  }

  @Override
  public void once(int ordinal, long high, long low, long delta, long value, int boundsMark) {
    counters.reach(ordinal);
    counters.set(ordinal, value);
    remember(high, low, IdTable.meta(ordinal, IdTable.APPLIED, boundsMark), delta, value);
  }

  @Override
  public void cancel(int ordinal, long high, long low) {
    remember(high, low, IdTable.meta(ordinal, IdTable.CANCELED, 0), 0, 0);
  }

  @Override
  public void expires(int ordinal, long atMillis) {
    counters.reach(ordinal);
    counters.expire(ordinal, atMillis);
  }

  @Override
  public void gone(int ordinal) {
    counters.reach(ordinal);
    removeCounter(ordinal);
  }

  @Override
  public void free(int ordinal) {
    counters.reach(ordinal);
    endHolds(ordinal);
    counters.forget(ordinal);
  }

  @Override
  public void hadIds(int ordinal) {
    counters.markIds(ordinal, RequestIds.EPOCH_BEFORE);
  }

  @Override
  public void text(int ordinal, byte[] text) {
    counters.reach(ordinal);
    endHolds(ordinal);
    counters.setText(ordinal, text);
  }

  @Override
  public void transaction(TransactionRecord transaction) {
    addTransaction(
        transaction,
        RequestIds.EPOCH_BEFORE,
        (meta, delta, value) ->
            remember(transaction.high(), transaction.low(), meta, delta, value));
  }

  @Override
  public void hold(HoldRecord hold) {
    holds.put(hold);
  }

  @Override
  public void scale(int ordinal, int scale) {
    counters.reach(ordinal);
    counters.scale(ordinal, Decimal.checkScale(scale));
  }

  @Override
  public void item(Key key, Optional<Item> item) {
    setItem(key, item);
  }

  @Override
  public void bucket(long startMillis, long endMillis) {
    history.replayBucket(startMillis, endMillis, frame);
  }

  @Override
  public void before(ByteBuffer in) {
    history.replayBefore(in, frame);
  }

  @Override
  public void thresholds(ByteBuffer in) {
    thresholds.replay(in);
  }

  @Override
  public void snapshot(byte kind, ByteBuffer in) {
    throw new IllegalStateException("unexpected record kind " + kind + " in the log");
  }

  /** Remembers a request, without changing its counter. */
  public void remember(long high, long low, long meta, long delta, long value) {
    int ordinal = IdTable.ordinal(meta);
    if (!TransactionIds.isReserved(ordinal)) {
      counters.markIds(ordinal, RequestIds.EPOCH_BEFORE);
    }
    // The last record in the log is authoritative: an id may have been forgotten and reused, though
    // the generations that are built now would still remember it.
    boolean isKnown = idsAreSealed || ids.isInLaterFile(high, low, ordinal, frame, entry);
    if (!isKnown) {
      ids.add(high, low, meta, delta, value, timeMillis, frame);
    }
  }
}
