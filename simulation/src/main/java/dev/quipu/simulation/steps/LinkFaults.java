package dev.quipu.simulation.steps;

import java.time.Duration;

/**
 * Faults of the link between a process and a store. Rates are probabilities per call, from 0 to 1;
 * their sum is at most 1.
 *
 * @param rejected the store rejects the call before it does anything
 * @param lostRequest the request never arrives
 * @param late the request arrives after the caller has given up
 * @param lostReply the store applies it, but the reply never arrives
 * @param repeated the request arrives a second time, later; of writes only
 * @param killed the process is killed, before or after the store applies the call
 * @param paused the process is paused, before or after the store applies the call
 * @param lateMax maximum delay of a late request
 * @param pauseMax maximum duration of a pause
 * @param pageMax maximum number of items in a page of a scan
 */
public record LinkFaults(
    double rejected,
    double lostRequest,
    double late,
    double lostReply,
    double repeated,
    double killed,
    double paused,
    Duration lateMax,
    Duration pauseMax,
    int pageMax) {
  /** No faults. */
  public static final LinkFaults NONE =
      new LinkFaults(0, 0, 0, 0, 0, 0, 0, Duration.ZERO, Duration.ZERO, Integer.MAX_VALUE);

  /** How long a caller waits for a reply. */
  static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** All faults, except that requests do not arrive twice. */
  public static final LinkFaults ALL =
      new LinkFaults(
          0.02, 0.01, 0.02, 0.02, 0, 0.003, 0.005, Duration.ofMinutes(3), Duration.ofMinutes(2), 3);

  /** Returns these faults with requests that arrive twice. */
  public LinkFaults repeating(double rate) {
    return new LinkFaults(
        rejected, lostRequest, late, lostReply, rate, killed, paused, lateMax, pauseMax, pageMax);
  }

  /** Returns these faults with other maximum durations. */
  public LinkFaults within(Duration latest, Duration longest) {
    return new LinkFaults(
        rejected, lostRequest, late, lostReply, repeated, killed, paused, latest, longest, pageMax);
  }

  /** Returns these faults with other page sizes of scans. */
  public LinkFaults paging(int items) {
    return new LinkFaults(
        rejected, lostRequest, late, lostReply, repeated, killed, paused, lateMax, pauseMax, items);
  }
}
