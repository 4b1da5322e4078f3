package dev.quipu.sequence;

import dev.quipu.store.Item;
import java.time.Instant;
import java.util.Optional;

/**
 * A record of a series.
 *
 * @param number from 1, without a gap
 * @param id the bits of the request that made it, in hexadecimal
 * @param payload what was stored with it
 * @param at when it was asked for
 * @param voided why the number does not count, if it was voided; it is never given again
 */
public record NumberedRecord(
    long number, String id, String payload, Instant at, Optional<String> voided) {
  static final String ID = "id";
  static final String PAYLOAD = "payload";
  static final String AT = "at";
  static final String VOIDED = "voided";

  static NumberedRecord of(long number, Item item) {
    return new NumberedRecord(
        number,
        item.text(ID).orElse(""),
        item.text(PAYLOAD).orElse(""),
        Instant.ofEpochMilli(item.number(AT)),
        item.text(VOIDED));
  }
}
