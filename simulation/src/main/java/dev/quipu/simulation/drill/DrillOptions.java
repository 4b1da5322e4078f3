package dev.quipu.simulation.drill;

import dev.quipu.simulation.driver.Fault;
import java.time.Duration;
import java.util.List;

/**
 * The load of a drill, and what goes wrong.
 *
 * @param clients at once, 1 to {@link #CLIENTS_MAX}
 * @param keys counters, 1 to {@link #KEYS_MAX}
 * @param hotShare share of the adds that goes to the first counter beside its equal part, 0 to 1
 * @param addsPerSecond by all clients together; 0 for as many as they can
 * @param time how long clients begin new adds
 * @param addsMax most adds of all clients together, at least 1
 * @param faultRate how many calls go wrong, 0 to 1
 * @param faults in which ways, at least one if the rate is not 0
 * @param repeats whether clients ask again after an unknown outcome; under the same id, by a
 *     technique that keeps ids
 * @param readLatency what a read takes beside its own time, on average
 * @param writeLatency what a write takes beside its own time, on average
 * @param seed decides what goes wrong and which counter is next
 */
public record DrillOptions(
    int clients,
    int keys,
    double hotShare,
    double addsPerSecond,
    Duration time,
    long addsMax,
    double faultRate,
    List<Fault> faults,
    boolean repeats,
    Duration readLatency,
    Duration writeLatency,
    long seed) {
  /** Most clients at once. */
  public static final int CLIENTS_MAX = 1_000;

  /** Most counters. */
  public static final int KEYS_MAX = 1_000_000;

  /** Longest time. */
  public static final Duration TIME_MAX = Duration.ofDays(1);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the one that is broken
   */
  public DrillOptions {
    within("clients", clients, 1, CLIENTS_MAX);
    within("keys", keys, 1, KEYS_MAX);
    within("seconds", time.toMillis() / 1000.0, 0.001, TIME_MAX.toMillis() / 1000.0);
    within("hot share", hotShare, 0, 1);
    within("fault rate", faultRate, 0, 1);
    within("adds", (double) addsMax, 1, (double) Long.MAX_VALUE);
    within("adds per second", addsPerSecond, 0, 1e9);
    faults = List.copyOf(faults);
    if (faultRate > 0 && faults.isEmpty()) {
      throw new IllegalArgumentException("the fault rate is not 0, and no fault is named");
    }
  }

  private static void within(String name, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw new IllegalArgumentException(
          "%s is %s, the limits are %s and %s"
              .formatted(name, plain(value), plain(least), plain(most)));
    }
  }

  private static String plain(double number) {
    return number == Math.rint(number) ? "%.0f".formatted(number) : Double.toString(number);
  }

  /** Eight clients on one counter for ten seconds; one call in fifty goes wrong. */
  public static DrillOptions defaults() {
    return new DrillOptions(
        8,
        1,
        0,
        0,
        Duration.ofSeconds(10),
        Long.MAX_VALUE,
        0.02,
        List.of(Fault.THROTTLED, Fault.LOST_REQUEST, Fault.LOST_REPLY),
        true,
        Duration.ZERO,
        Duration.ZERO,
        1);
  }

  /** The same, by so many clients. */
  public DrillOptions byClients(int count) {
    Draft draft = new Draft(this);
    draft.clients = count;
    return draft.options();
  }

  /** The same, for another time, or until so many adds. */
  public DrillOptions until(Duration end, long adds) {
    Draft draft = new Draft(this);
    draft.time = end;
    draft.addsMax = adds;
    return draft.options();
  }

  /** The same, on other counters. */
  public DrillOptions on(int counters, double hot, double perSecond) {
    Draft draft = new Draft(this);
    draft.keys = counters;
    draft.hotShare = hot;
    draft.addsPerSecond = perSecond;
    return draft.options();
  }

  /** The same, with other faults. */
  public DrillOptions failing(double rate, List<Fault> ways) {
    Draft draft = new Draft(this);
    draft.faultRate = rate;
    draft.faults = ways;
    return draft.options();
  }

  /** The same, where clients ask again or give up. */
  public DrillOptions repeating(boolean asksAgain) {
    Draft draft = new Draft(this);
    draft.repeats = asksAgain;
    return draft.options();
  }

  /** The same, on a store so far away. */
  public DrillOptions at(Duration reads, Duration writes) {
    Draft draft = new Draft(this);
    draft.readLatency = reads;
    draft.writeLatency = writes;
    return draft.options();
  }

  /** The same, from another seed. */
  public DrillOptions from(long otherSeed) {
    Draft draft = new Draft(this);
    draft.seed = otherSeed;
    return draft.options();
  }

  /** Options that may still change. */
  private static final class Draft {
    int clients;
    int keys;
    double hotShare;
    double addsPerSecond;
    Duration time;
    long addsMax;
    double faultRate;
    List<Fault> faults;
    boolean repeats;
    Duration readLatency;
    Duration writeLatency;
    long seed;

    Draft(DrillOptions from) {
      clients = from.clients;
      keys = from.keys;
      hotShare = from.hotShare;
      addsPerSecond = from.addsPerSecond;
      time = from.time;
      addsMax = from.addsMax;
      faultRate = from.faultRate;
      faults = from.faults;
      repeats = from.repeats;
      readLatency = from.readLatency;
      writeLatency = from.writeLatency;
      seed = from.seed;
    }

    DrillOptions options() {
      return new DrillOptions(
          clients,
          keys,
          hotShare,
          addsPerSecond,
          time,
          addsMax,
          faultRate,
          faults,
          repeats,
          readLatency,
          writeLatency,
          seed);
    }
  }
}
