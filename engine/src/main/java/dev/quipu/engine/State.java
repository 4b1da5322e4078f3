package dev.quipu.engine;

import dev.quipu.store.Item;
import dev.quipu.store.ItemTable;
import dev.quipu.store.Key;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What is counted: counters, request ids and items; and how records of the log change it. Not
 * thread-safe: only the committer, or before it the recovery, touches it.
 */
final class State implements Records.Reader {
  final CounterTable counters = new CounterTable();
  final ItemTable items = new ItemTable();
  final RequestIds ids;
  private final long[] entry = new long[IdTable.STRIDE];

  /** The frame that is being filled, or read. */
  long frame;

  /** Its time, in milliseconds since 1970. Never goes back. */
  long timeMillis;

  /** Commands applied so far, in all frames. */
  long commands;

  /** While reading a log: whether the ids of this frame are in a file already. */
  boolean idsAreSealed;

  /** Counters that somebody watches: how many do, and how often each was changed since. */
  final Map<String, long[]> watched = new HashMap<>();

  /** Sum of what was touched ahead: kept, so that the touching is done. */
  long touched;

  State(RequestIds ids) {
    this.ids = ids;
  }

  @Override
  public void name(int ordinal, String name) {
    counters.define(ordinal, name);
  }

  @Override
  public void value(int ordinal, long value) {
    counters.set(ordinal, value);
  }

  @Override
  public void once(int ordinal, long high, long low, long delta, long value, int boundsMark) {
    counters.set(ordinal, value);
    remember(high, low, IdTable.meta(ordinal, IdTable.APPLIED, boundsMark), delta, value);
  }

  @Override
  public void seal(int ordinal, long high, long low) {
    remember(high, low, IdTable.meta(ordinal, IdTable.SEALED, 0), 0, 0);
  }

  @Override
  public void expires(int ordinal, long atMillis) {
    counters.expire(ordinal, atMillis);
  }

  @Override
  public void gone(int ordinal) {
    counters.remove(ordinal);
  }

  @Override
  public void text(int ordinal, byte[] text) {
    counters.setText(ordinal, text);
  }

  @Override
  public void item(Key key, Optional<Item> item) {
    items.set(key, item);
  }

  @Override
  public void snapshot(byte kind, ByteBuffer in) {
    throw new IllegalStateException("a record of kind " + kind + " in the log");
  }

  private void remember(long high, long low, long meta, long delta, long value) {
    if (!idsAreSealed && !ids.find(high, low, IdTable.ordinal(meta), timeMillis, entry)) {
      ids.add(high, low, meta, delta, value, timeMillis, frame);
    }
  }
}
