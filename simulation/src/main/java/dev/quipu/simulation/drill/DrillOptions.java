package dev.quipu.simulation.drill;

import dev.quipu.simulation.driver.Fault;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * The load of a drill, and its faults.
 *
 * @param clients concurrent clients, 1 to {@link #CLIENTS_MAX}
 * @param keys counters, 1 to {@link #KEYS_MAX}
 * @param hotShare share of the adds that goes to the first counter in addition to its equal share,
 *     0 to 1
 * @param addsPerSecond by all clients together; 0 for unlimited
 * @param time duration in which clients begin new adds
 * @param addsMax maximum number of adds of all clients together, at least 1
 * @param faultRate fraction of calls that fail, 0 to 1
 * @param faults kinds of faults, at least one if the rate is not 0
 * @param repeats whether clients retry after an unknown outcome, under the same id if the technique
 *     keeps ids
 * @param readLatency additional latency of a read, on average
 * @param writeLatency additional latency of a write, on average
 * @param seed determines the faults and the order of counters
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
  /** Maximum number of concurrent clients. */
  public static final int CLIENTS_MAX = 1_000;

  /** Maximum number of counters. */
  public static final int KEYS_MAX = 1_000_000;

  /** Longest duration. */
  public static final Duration TIME_MAX = Duration.ofDays(1);

  /**
   * Validates the options.
   *
   * @throws IllegalArgumentException if an option is out of range, with its name
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
      throw new IllegalArgumentException("the fault rate is not 0, but no fault is selected");
    }
  }

  private static void within(String name, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw new IllegalArgumentException(
          "%s is %s; it must be from %s to %s"
              .formatted(name, plain(value), plain(least), plain(most)));
    }
  }

  private static String plain(double number) {
    return number == Math.rint(number) ? "%.0f".formatted(number) : Double.toString(number);
  }

  /**
   * Returns the defaults: eight clients on one counter for ten seconds; one call in fifty fails.
   */
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

  /** Returns these options with another number of clients. */
  public DrillOptions byClients(int count) {
    return with(draft -> draft.clients = count);
  }

  /** Returns these options with another duration and maximum number of adds. */
  public DrillOptions until(Duration end, long adds) {
    return with(draft -> {
      draft.time = end;
      draft.addsMax = adds;
    });
  }

  /** Returns these options with other counters and another rate. */
  public DrillOptions on(int counters, double hot, double perSecond) {
    return with(draft -> {
      draft.keys = counters;
      draft.hotShare = hot;
      draft.addsPerSecond = perSecond;
    });
  }

  /** Returns these options with other faults. */
  public DrillOptions failing(double rate, List<Fault> ways) {
    return with(draft -> {
      draft.faultRate = rate;
      draft.faults = ways;
    });
  }

  /** Returns these options with or without retries. */
  public DrillOptions repeating(boolean asksAgain) {
    return with(draft -> draft.repeats = asksAgain);
  }

  /** Returns these options with other latencies of the store. */
  public DrillOptions at(Duration reads, Duration writes) {
    return with(draft -> {
      draft.readLatency = reads;
      draft.writeLatency = writes;
    });
  }

  /** Returns these options with another seed. */
  public DrillOptions from(long otherSeed) {
    return with(draft -> draft.seed = otherSeed);
  }

  private DrillOptions with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.options();
  }

  /** A mutable copy of options. */
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
