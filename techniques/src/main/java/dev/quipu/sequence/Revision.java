package dev.quipu.sequence;

import dev.quipu.store.Item;
import java.time.Instant;
import java.util.Locale;

/**
 * One change of one entity of a series.
 *
 * @param number from 1, without a gap
 * @param entity what changed
 * @param payload what it is since then
 * @param count how many entities there were after it
 * @param at when it was asked for
 */
public record Revision(
    long number, String entity, Kind kind, String payload, long count, Instant at) {
  static final String ENTITY = "entity";
  static final String KIND = "kind";
  static final String PAYLOAD = "payload";
  static final String COUNT = "count";
  static final String AT = "at";

  /** What a change does to the count. */
  public enum Kind {
    /** There is one more. */
    INSERT(1),
    /** It is another now. */
    UPDATE(0),
    /** It is gone; its revisions stay. */
    DELETE(-1);

    private final int step;

    Kind(int step) {
      this.step = step;
    }

    int step() {
      return step;
    }
  }

  static Revision of(long number, Item item) {
    return new Revision(
        number,
        item.text(ENTITY).orElse(""),
        Kind.valueOf(item.text(KIND).orElse("").toUpperCase(Locale.ROOT)),
        item.text(PAYLOAD).orElse(""),
        item.number(COUNT),
        Instant.ofEpochMilli(item.number(AT)));
  }
}
