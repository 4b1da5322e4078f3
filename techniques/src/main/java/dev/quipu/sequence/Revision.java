package dev.quipu.sequence;

import dev.quipu.store.Item;
import java.time.Instant;
import java.util.Locale;

/**
 * One change of one entity of a series.
 *
 * @param number from 1, without gaps
 * @param entity that changed
 * @param payload its content after the change
 * @param count number of entities after the change
 * @param at when it was requested
 */
public record Revision(
    long number, String entity, Kind kind, String payload, long count, Instant at) {
  static final String ENTITY = "entity";
  static final String KIND = "kind";
  static final String PAYLOAD = "payload";
  static final String COUNT = "count";
  static final String AT = "at";

  /** The kind of a change. */
  public enum Kind {
    /** Adds an entity. */
    INSERT(1),
    /** Changes an entity. */
    UPDATE(0),
    /** Deletes an entity; its revisions are kept. */
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
