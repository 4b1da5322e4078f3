package dev.quipu.sequence;

import dev.quipu.CounterPage;
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

/**
 * Numbers records 1, 2, 3 … without a counter and without gaps. Thread-safe.
 *
 * <pre>{@code
 * SEQUENCE OF RECORDS
 *
 * Problem. Records must be numbered 1, 2, 3 and so on: invoices, tickets, or rows to be distributed
 * to workers. A separate counter is one item for which all writers contend; and a number that was
 * drawn from it but never used is a gap.
 *
 * Stored. The partition of the series holds a record under each number, with the id of the request
 * that created it. For a request whose id the caller chose, it also holds a note under that id: the
 * number of its record, or the number from which to search for it.
 *
 * Protocol.
 *   1. Find the highest number, or use one that is remembered.
 *   2. Store the record under the next number, if there is no record under it.
 *      a. It is stored: that is its number.
 *      b. A record with the same id exists: an earlier attempt stored it, and its number is the
 *         result, unless its payload differs: then the result is a conflict.
 *      c. A record of another request exists: repeat 2 with the following number. Search for the
 *         highest number again only after 16 such records in sequence.
 *      d. The outcome is unknown: store the record under the same number again, never under another
 *         one.
 *   On a store with transactions, a note and its record are stored in one transaction; if the note
 *   exists, it holds the number. Concurrent requests of one process share a transaction, and get
 *   consecutive numbers.
 *   On other stores, first store the note with the highest number, if there is no note; then try
 *   every number above the one in the note, as in 2. The note is advanced after every 16 numbers.
 *
 * Why it is correct. A number is taken by storing the record under it, which succeeds exactly once;
 * no request skips a number that is free, so none stays free. A repeat checks every number on its
 * way, so it finds the record that an earlier attempt has left, even if its reply was lost: of two
 * attempts, the one with the higher number has seen the lower one.
 *
 * Crash table.
 *   | crash                  | stored               | a repeat                          |
 *   | before 2               | nothing, or the note | continues                         |
 *   | reply to 2 lost        | the record           | 2b, or the note: the same number  |
 *   | between record, number | an outdated note     | finds the record above its number |
 *
 * Cost. It takes one round trip to find the highest number, and one to store the record. With N
 * concurrent writers, each collides with the numbers of some of the others; on a store with
 * transactions, writers of one process do not collide, and are therefore fast. A request with an id
 * costs one more item and, without transactions, two more round trips. If the store has no scan, or
 * only eventually consistent ones, the highest number is found by exponential and binary search
 * from a known one.
 *
 * Source. "Sequence numbers for records without a counter" (App Engine).
 * }</pre>
 */
public final class SequenceOfRecords {
  /** Longest payload of a record, in bytes of UTF-8. */
  public static final int PAYLOAD_BYTES_MAX = 16_384;

  /** Maximum number of records in one page. */
  public static final int PAGE_MAX = 1_000;

  private static final String PARTITION = "sequence/";

  private final Store store;
  private final NumberedItems items;
  private final Numbering numbering;

  /** The definite result of a request for a number. */
  public sealed interface Result {
    /** Returns the number of the record. */
    long number();
  }

  /**
   * The record has this number.
   *
   * @param replayed whether an earlier request with the same id created it
   */
  public record Numbered(long number, boolean replayed) implements Result {}

  /**
   * The request id was used before with a different payload; nothing changed.
   *
   * @param number of that other record
   */
  public record Conflict(long number) implements Result {}

  /**
   * Creates a sequence on {@code store}.
   *
   * @throws IllegalArgumentException if the store has no strong reads
   */
  public SequenceOfRecords(Store store) {
    this(store, Randomness.secure());
  }

  /** Creates a sequence with the given source of randomness. */
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
   * @param series its name: each series, for example per year or tenant, begins at 1
   * @param payload up to {@link #PAYLOAD_BYTES_MAX} bytes
   * @throws QuipuException if the outcome is unknown: the record may exist or appear later
   */
  public Result add(String series, String payload) {
    return add(series, payload, null);
  }

  /**
   * Stores a record under the next number, exactly once per request id: a repeat returns the same
   * number.
   *
   * @throws QuipuException if the outcome is unknown; repeat with the same id
   */
  public Result add(String series, String payload, @Nullable RequestId id) {
    NumberedItems.checkSeries(series);
    NumberedItems.checkPayload(payload);
    return numbering.add(series, payload, id);
  }

  // ---- reading

  /**
   * Returns the highest number that is taken, which is the number of records; 0 if there is none.
   */
  public long last(String series) {
    NumberedItems.checkSeries(series);
    return numbering.last(series);
  }

  /**
   * Returns the series whose names begin with a prefix, in order, as counters whose values are
   * their highest numbers.
   *
   * @param after only names after this one; empty for all
   * @param seriesMax maximum number of series, 1 to {@link #PAGE_MAX}
   * @throws UnsupportedOperationException if the store does not list its partitions
   */
  public CounterPage list(String prefix, String after, int seriesMax) {
    return items.series(prefix, after, seriesMax, numbering::last);
  }

  /** Returns the record under a number. */
  public Optional<NumberedRecord> find(String series, long number) {
    NumberedItems.checkSeries(series);
    return items.get(series, number).map(item -> NumberedRecord.of(number, item));
  }

  /**
   * Returns records starting at a number, in order of number.
   *
   * @param from 1 or more
   * @param limit 1 to {@link #PAGE_MAX}
   */
  public List<NumberedRecord> page(String series, long from, int limit) {
    NumberedItems.checkSeries(series);
    if (from < 1 || limit < 1 || limit > PAGE_MAX) {
      throw new IllegalArgumentException(
          "from is %d and limit is %d; from must be 1 or more, limit from 1 to %d"
              .formatted(from, limit, PAGE_MAX));
    }
    return items.page(series, from, limit).stream()
        .map(item -> NumberedRecord.of(NumberedItems.number(item), item))
        .toList();
  }

  /**
   * Voids a number. It stays taken, and keeps its record and the reason.
   *
   * @param reason 1 to {@link Limits#REASON_BYTES_MAX} bytes of UTF-8; in a repeat, the first
   *     reason is kept
   * @return false if nothing is stored under the number
   * @throws QuipuException if the outcome is unknown; repeating the call is safe
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
