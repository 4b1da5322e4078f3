package dev.quipu.engine.transfer;

import dev.quipu.store.Item;

/**
 * A part of the content of a data directory. The entries of a directory are {@link Head}, then the
 * others in any order, except that a request follows its counter, then {@link End}.
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
   * Ends the content.
   *
   * @param entries number of entries before it, without the head
   */
  record End(long entries) implements Entry {}
}
