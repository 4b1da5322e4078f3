package dev.quipu.sequence;

import dev.quipu.store.Item;
import java.time.Instant;
import java.util.Optional;

/**
 * A record of a series.
 *
 * @param number from 1, without gaps
 * @param id the bits of the id of the request that created it, in hexadecimal
 * @param payload the content
 * @param at when it was requested
 * @param voided the reason if the number was voided; a voided number is never reused
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
