package dev.quipu.sequence;

import dev.quipu.Limits;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/*
 * SEQUENCE OF RECORDS
 *
 * Problem. Records are to be numbered 1, 2, 3 and so on: invoices, tickets, rows to be shared out
 * among workers. A counter beside them is one item that everybody waits for; and a number that was
 * drawn from it and never used is a gap.
 *
 * Stored. In the partition of the series, a record under each number, which carries the id of the
 * request that made it; and for a request whose id the caller chose, a note under the id: its
 * number, or from which number on to look for it.
 *
 * Protocol.
 *   1. Look for the highest number; or remember one that was there.
 *   2. Store the record under the next number, if there is none.
 *      a. Stored: that is its number.
 *      b. There is a record with the same id: it is this one, stored earlier. Its number it is;
 *         unless it has another payload: a conflict.
 *      c. There is another's: go up by one, and to 2, without looking for the highest again.
 *      d. Unknown: store it under the same number again, never under another one.
 *   Where the store has transactions, a note and its record are stored in one; the note was there:
 *   it has the number. Requests of one process that come at the same time go in one transaction,
 *   and have numbers in a row.
 *   Elsewhere, first store the note with the highest number, if there is none; then look at every
 *   number above the one in the note, by 2. Some numbers on, the note is told how far.
 *
 * Why it is right. A number is taken by storing the record under it, which only one can do; nobody
 * goes past a number that is free, so none stays free. Whoever repeats a request looks at every
 * number on its way, and so meets the record that an earlier attempt has left, whatever became of
 * its reply: of two attempts the one with the higher number has seen the lower one.
 *
 * Crash table.
 *   | broken off             | stored               | a repeat                           |
 *   | before 2               | nothing, or the note | goes on                            |
 *   | reply to 2 lost        | the record           | 2b, or the note: the same number   |
 *   | between record, number | the note without it  | finds the record above its number  |
 *
 * Cost. One round trip to find the highest, one to store. With N writers at once, each meets some
 * of the others' numbers on its way up; writers of one process do not meet where the store has
 * transactions, which is what makes it fast. With an id one item more, or two round trips more
 * without transactions. Where a scan is eventual or there is none, the highest number is found by
 * doubling and halving from the one that is known.
 *
 * Source. "Sequence numbers for records without a counter" (App Engine).
 */

/** Numbers records 1, 2, 3 … without a counter and without gaps. Thread-safe. */
public final class SequenceOfRecords {
  /** Longest payload of a record, in bytes of UTF-8. */
  public static final int PAYLOAD_BYTES_MAX = 16_384;

  /** Most records in one page. */
  public static final int PAGE_MAX = 1_000;

  private static final String PARTITION = "sequence/";

  private final Store store;
  private final NumberedItems items;
  private final Numbering numbering;

  /** The definite answer to a request for a number. */
  public sealed interface Result {
    /** The number of the record. */
    long number();
  }

  /**
   * The record has this number.
   *
   * @param replayed whether it was given earlier under the same request id
   */
  public record Numbered(long number, boolean replayed) implements Result {}

  /**
   * The request id was used before for another payload; nothing changed.
   *
   * @param number of that other record
   */
  public record Conflict(long number) implements Result {}

  /**
   * Numbers on {@code store}.
   *
   * @throws IllegalArgumentException if the store has no strong reads
   */
  public SequenceOfRecords(Store store) {
    this(store, Randomness.secure());
  }

  /** As {@link #SequenceOfRecords(Store)}, with the caller's chance. */
  public SequenceOfRecords(Store store, RandomGenerator random) {
    store.profile().require(Capability.STRONG_READ);
    this.store = store;
    this.items = new NumberedItems(store, PARTITION);
    this.numbering = new Numbering(store, items, random);
  }

  // ---- taking a number

  /**
   * Stores a record under the next number.
   *
   * @param series its name: a series for each year or tenant begins at 1 by itself
   * @param payload up to {@link #PAYLOAD_BYTES_MAX} bytes
   * @throws QuipuException if its outcome is unknown, the record may be there or come later
   */
  public Result add(String series, String payload) {
    return add(series, payload, null);
  }

  /**
   * As {@link #add(String, String)}; repeated under one id it is one record, with one number.
   *
   * @throws QuipuException if the outcome is not known; repeat with the same id
   */
  public Result add(String series, String payload, @Nullable RequestId id) {
    NumberedItems.checkSeries(series);
    NumberedItems.checkPayload(payload);
    return numbering.add(series, payload, id);
  }

  // ---- reading

  /** The highest number that is taken: how many records there are. 0 if there is none. */
  public long last(String series) {
    NumberedItems.checkSeries(series);
    return numbering.last(series);
  }

  /** The record under a number. */
  public Optional<NumberedRecord> find(String series, long number) {
    NumberedItems.checkSeries(series);
    return items.get(series, number).map(item -> NumberedRecord.of(number, item));
  }

  /**
   * Records from a number on, in order of number.
   *
   * @param from 1 or more
   * @param limit 1 to {@link #PAGE_MAX}
   */
  public List<NumberedRecord> page(String series, long from, int limit) {
    NumberedItems.checkSeries(series);
    if (from < 1 || limit < 1 || limit > PAGE_MAX) {
      throw new IllegalArgumentException(
          "from is %d, the least is 1; limit is %d, the limits are 1 and %d"
              .formatted(from, limit, PAGE_MAX));
    }
    return items.page(series, from, limit).stream()
        .map(item -> NumberedRecord.of(NumberedItems.number(item), item))
        .toList();
  }

  /**
   * Says that a number does not count. It stays taken, and keeps its record and the reason.
   *
   * @param reason 1 to {@link Limits#REASON_BYTES_MAX} bytes of UTF-8; a repeat keeps the first
   * @return false if nothing is stored under the number
   * @throws QuipuException if the outcome is not known; calling again is harmless
   */
  public boolean voidNumber(String series, long number, String reason) {
    NumberedItems.checkSeries(series);
    Limits.checkText("reason", reason, Limits.REASON_BYTES_MAX);
    while (true) {
      Optional<Item> found = items.get(series, number);
      if (found.isEmpty() || found.get().text(NumberedRecord.VOIDED).isPresent()) {
        return found.isPresent();
      }
      Change change = new Change.Put(NumberedRecord.VOIDED, new Field.Text(reason));
      Write write =
          new Write.Update(
              items.key(series, number),
              List.of(change),
              new Condition.VersionIs(found.get().version()));
      if (store.write(write) instanceof WriteResult.Applied) {
        return true;
      }
    }
  }
}
