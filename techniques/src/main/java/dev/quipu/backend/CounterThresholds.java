package dev.quipu.backend;

import dev.quipu.Decimal;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Values of counters of an engine whose crossing is recorded, in the commit of the change that
 * crosses them, until it was delivered. Thread-safe.
 */
public interface CounterThresholds {
  /** Maximum number of thresholds. */
  int THRESHOLDS_MAX = 1_000;

  /** Maximum number of thresholds that apply to one counter. */
  int PER_COUNTER_MAX = 16;

  /** Longest id, in characters: letters, digits and {@code . _ -}. */
  int ID_MAX = 64;

  /** Longest address of a webhook, in characters. */
  int WEBHOOK_MAX = 512;

  /**
   * Maximum number of crossings that wait for delivery, which is less if there is little memory.
   * Those beyond it are counted, and not recorded: see {@link Status#missed}.
   */
  int WAITING_MAX = 1_000_000;

  /** Maximum number of crossings in one call. */
  int CROSSINGS_MAX = 1_000;

  /** In which direction a value crosses a threshold. */
  enum Direction {
    /** From below the threshold to it, or above it. */
    UP,
    /** From above the threshold to it, or below it. */
    DOWN;

    @Override
    public String toString() {
      return this == UP ? "up" : "down";
    }
  }

  /**
   * A threshold.
   *
   * @param id 1 to {@link #ID_MAX} letters, digits, and {@code . _ -}
   * @param isPrefix whether it applies to all counters whose names begin with {@code selector},
   *     rather than to the counter of this name
   * @param at may have more digits after the point than the counter
   * @param webhook where crossings are sent: http or https
   */
  record Threshold(
      String id, boolean isPrefix, String selector, Decimal at, Direction direction, URI webhook) {
    /** Returns whether it applies to a counter. */
    public boolean appliesTo(String counter) {
      return isPrefix ? counter.startsWith(selector) : counter.equals(selector);
    }
  }

  /**
   * A threshold and what became of its crossings.
   *
   * @param waiting crossings that were not delivered
   * @param missed crossings that were not recorded, since too many waited
   */
  record Status(Threshold threshold, long waiting, long missed) {}

  /**
   * A crossing of a threshold.
   *
   * @param id differs from that of all other crossings
   * @param sequence its number: crossings of a counter ascend in the order of their commits
   * @param at the threshold when it was crossed; it may have been replaced since
   * @param before the value before the change; 0 if the counter did not exist
   * @param after the value after it
   */
  record Crossing(
      String id,
      long sequence,
      Decimal at,
      Direction direction,
      String counter,
      Decimal before,
      Decimal after,
      Instant time) {}

  /**
   * Defines a threshold, or replaces one, which keeps its crossings. Changes from now on cross it.
   *
   * @return whether it is new
   * @throws IllegalArgumentException naming the limit, if there are too many thresholds
   */
  boolean put(Threshold threshold);

  /** Returns a threshold. */
  Optional<Status> get(String id);

  /** Returns all thresholds, by id. */
  List<Status> list();

  /**
   * Removes a threshold and its crossings.
   *
   * @return whether it existed
   */
  boolean remove(String id);

  /**
   * Returns crossings that were not delivered, in their order; none if there is no such threshold.
   * They are as durable as the changes that caused them.
   *
   * @param after the last number that is known; 0 for none
   * @param max 1 to {@link #CROSSINGS_MAX}
   */
  List<Crossing> waiting(String id, long after, int max);

  /**
   * Forgets crossings that were delivered.
   *
   * @param sequences at most {@link #CROSSINGS_MAX}
   */
  void delivered(String id, List<Long> sequences);
}
