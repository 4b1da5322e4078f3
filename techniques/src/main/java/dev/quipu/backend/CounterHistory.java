package dev.quipu.backend;

import dev.quipu.Reading;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Values of counters of an engine at past boundaries, which its rules keep. Thread-safe. */
public interface CounterHistory {
  /** Maximum number of boundaries of a call. */
  int BOUNDARIES_MAX = 10_000;

  /** Maximum number of counters whose values are added up. */
  int COUNTERS_MAX = 1_000_000;

  /**
   * The value of a counter at a boundary.
   *
   * @param isKnown false before its changes were recorded
   * @param reading empty if the counter did not exist, or the value is not known
   * @param since if it is not known: of when the reading is, which is when the first recording
   *     began; only of the last boundary before that
   */
  record Point(Instant at, boolean isKnown, Optional<Reading> reading, Optional<Instant> since) {}

  /**
   * The sum of counters at a boundary.
   *
   * @param isKnown false before changes were recorded
   * @param sum empty if it is not known
   * @param since as for {@link Point}
   */
  record Sum(Instant at, boolean isKnown, Optional<BigDecimal> sum, Optional<Instant> since) {}

  /**
   * A counter that changed.
   *
   * @param before its value at a boundary; empty if it did not exist
   */
  record Changed(String name, Optional<Reading> before) {}

  /** Returns the patterns of the counters whose values are kept; {@code *} is the end of some. */
  List<String> patterns();

  /** Returns whether values of a counter are kept. */
  boolean isKept(String counter);

  /**
   * Returns the values of a counter at boundaries, which are between groups of commits: the value
   * of an add that was acknowledged before a boundary, by the clock of the engine, is in it.
   *
   * @param boundaries in ascending order, 1 to {@link #BOUNDARIES_MAX}; the present, for one that
   *     is in the future
   * @throws IllegalArgumentException if no values of the counter are kept, or those of a boundary
   *     are not; the message names the shortest step that is kept there
   */
  List<Point> values(String counter, List<Instant> boundaries);

  /**
   * Returns the sums of all counters with a prefix, in the same way.
   *
   * @throws IllegalArgumentException also if there are more than {@link #COUNTERS_MAX} counters
   */
  List<Sum> sums(String prefix, List<Instant> boundaries);

  /**
   * Returns when the first recording of the engine began, if it was of counters with a prefix, and
   * has not ended since.
   */
  Optional<Instant> began(String prefix);

  /**
   * Returns the counters with a prefix that changed after a boundary, or after {@link #began} if
   * that is later, in no order; of those whose values were kept all that time.
   *
   * @throws IllegalArgumentException if no values of counters with the prefix are kept, those at
   *     the boundary are not, or more than {@link #COUNTERS_MAX} changed
   */
  List<Changed> changedSince(String prefix, Instant boundary);
}
