package dev.quipu.engine.transfer;

import dev.quipu.Bounds;
import dev.quipu.store.Item;
import java.util.List;

/**
 * A part of the content of a data directory. The entries of a directory are {@link Head}, then the
 * others in any order, except that a request and a scale follow their counter, then {@link End}.
 */
public sealed interface Entry {
  /**
   * Begins the content.
   *
   * @param commands number of commands that led to this state; later versions of items are above it
   * @param ageMillis the time of the engine's own clock, by which request ids are forgotten
   * @param wallMillis the wall time of the last command, in milliseconds since 1970
   */
  record Head(long commands, long ageMillis, long wallMillis) implements Entry {}

  /**
   * A counter.
   *
   * @param expiresAtMillis in milliseconds since 1970; 0 for never
   */
  record Number(String name, long value, long expiresAtMillis) implements Entry {}

  /**
   * A text in place of a counter, as memcached clients store it.
   *
   * @param base64 its bytes in Base64
   * @param expiresAtMillis in milliseconds since 1970; 0 for never
   */
  record Text(String name, String base64, long expiresAtMillis) implements Entry {}

  /**
   * The scale of a counter, after the counter if it has a value.
   *
   * @param scale the number of digits after the point of its values and of its requests
   */
  record Scale(String counter, int scale) implements Entry {}

  /** An item: views, clients online, sequences, records and jobs consist of items. */
  record Stored(Item item) implements Entry {}

  /**
   * A request id, remembered so that a repeat does not count.
   *
   * @param counter its counter, which may have been removed
   * @param high the upper 64 bits of the id
   * @param low the lower 64 bits
   * @param isCanceled whether it was canceled, so that it never applies
   * @param added the delta that was added
   * @param value the resulting value
   * @param boundsMark identifies the bounds of the request; 0 for none
   */
  record Request(
      String counter,
      long high,
      long low,
      boolean isCanceled,
      long added,
      long value,
      int boundsMark)
      implements Entry {}

  /**
   * A transaction or a hold, by the id that all its counters share.
   *
   * @param high the upper 64 bits of the id
   * @param low the lower 64 bits
   * @param contents a hash that distinguishes a repeat from another request
   * @param expiresAtMillis of a hold, in milliseconds since 1970; otherwise 0
   * @param isLateApplied whether a settlement of the hold after its expiry is applied
   * @param isExcessAllowed whether a settlement may exceed what was reserved
   * @param parts one for each counter; none if it was canceled
   */
  record Transaction(
      long high,
      long low,
      State state,
      long contents,
      long expiresAtMillis,
      boolean isLateApplied,
      boolean isExcessAllowed,
      List<Part> parts)
      implements Entry {
    /** Copies the list. */
    public Transaction {
      parts = List.copyOf(parts);
    }

    /** A transaction that was applied, one that was canceled, or the state of a hold. */
    public enum State {
      APPLIED,
      CANCELED,
      OPEN,
      SETTLED,
      SETTLED_LATE,
      RELEASED,
      EXPIRED
    }
  }

  /**
   * What a transaction or a hold added to one counter.
   *
   * @param counter its name; it may have been removed
   * @param added the delta that was added
   * @param kept the resulting value of a transaction; what an ended hold kept
   * @param bounds of a hold that is open or may be settled late
   * @param scale the scale of the counter at that time, in whose units the amounts are
   * @param isVoid whether the counter was removed while the hold was open
   */
  record Part(String counter, long added, long kept, Bounds bounds, int scale, boolean isVoid) {}

  /**
   * Ends the content.
   *
   * @param entries number of entries before it, without the head
   */
  record End(long entries) implements Entry {}
}
