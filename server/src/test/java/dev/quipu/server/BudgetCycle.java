package dev.quipu.server;

import dev.quipu.time.Randomness;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * One cycle of a client that reserves and settles, determined by its number: a client that succeeds
 * a killed one repeats it, and a ledger knows its amounts.
 *
 * @param reserved units of each counter
 * @param used units of each counter that are settled
 */
record BudgetCycle(
    String id, Kind kind, List<String> counters, long reserved, long used, long ttlMillis) {
  /** Number of counters of a run. */
  static final int COUNTERS = 8;

  /** Cycles after which a late settlement follows. */
  static final int LATE_BY = 50;

  private static final int RESERVED_MIN = 500;
  private static final int RESERVED_MAX = 1_500;
  private static final int USED_MAX = 50;
  private static final long TTL_MILLIS = 60_000;
  private static final long SHORT_TTL_MILLIS = 1_000;

  /** What the caller does. */
  enum Kind {
    /** It settles. */
    SETTLE,
    /** It extends, then settles. */
    EXTEND,
    /** It releases, and tries to settle afterwards. */
    RELEASE,
    /** It is canceled while the hold is placed, and releases it. */
    CANCELED_PLACE,
    /** It is canceled while it settles; its retry learns the outcome. */
    CANCELED_SETTLE,
    /** It is canceled while the hold is placed, and never comes back. */
    LEAVES_EARLY,
    /** It never comes back after the hold is placed. */
    LEAVES,
    /** It settles about when the hold expires. */
    LATE;

    /** Returns whether the hold may stay open until it expires: it reserves little. */
    boolean mayExpire() {
      return this == CANCELED_PLACE || this == LEAVES_EARLY || this == LEAVES || this == LATE;
    }
  }

  /**
   * Returns a cycle.
   *
   * @param run begins the names of all counters and ids
   * @param isSingle whether it holds one counter, as on the Redis port
   */
  static BudgetCycle of(String run, int client, int number, boolean isSingle) {
    RandomGenerator random =
        Randomness.seeded((run.hashCode() * 31L + client) * 1_000_003L + number);
    Kind kind = kind(random.nextInt(100));
    int first = random.nextInt(COUNTERS);
    boolean isPair = !isSingle && random.nextBoolean();
    List<String> counters =
        isPair
            ? List.of(counter(run, first), counter(run, (first + 1) % COUNTERS))
            : List.of(counter(run, first));
    long reserved = kind.mayExpire() ? 1 : random.nextLong(RESERVED_MIN, RESERVED_MAX);
    long used = kind.mayExpire() ? 1 : random.nextLong(1, USED_MAX + 1L);
    long ttl = kind.mayExpire() ? SHORT_TTL_MILLIS : TTL_MILLIS;
    return new BudgetCycle(run + "/" + client + "/" + number, kind, counters, reserved, used, ttl);
  }

  private static Kind kind(int percent) {
    return switch (percent) {
      case 0 -> Kind.LEAVES_EARLY;
      case 1 -> Kind.LEAVES;
      case 2, 3 -> Kind.CANCELED_PLACE;
      case 4, 5 -> Kind.CANCELED_SETTLE;
      case 6, 7 -> Kind.LATE;
      case 8, 9, 10, 11 -> Kind.EXTEND;
      default -> percent < 24 ? Kind.RELEASE : Kind.SETTLE;
    };
  }

  /** Returns the name of a counter of a run. */
  static String counter(String run, int number) {
    return run + "." + number;
  }
}
