package dev.quipu.simulation.steps;

import java.time.Duration;

/**
 * What goes wrong on the link between a process and a store. Rates are from 0 to 1 and each is the
 * probability for one call; their sum is at most 1.
 *
 * @param rejected the store rejects the call before it does anything
 * @param lostRequest the request never arrives
 * @param late the request arrives after the caller has given up
 * @param lostReply the store does it, and the reply never arrives
 * @param repeated the request arrives a second time, later; of writes only
 * @param killed the process is killed, before or after the store did it
 * @param paused the process stands still, before or after the store did it
 * @param lateMax the longest that a late request is on its way
 * @param pauseMax the longest that a process stands still
 * @param pageMax most items of a page of a scan
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
  /** Nothing goes wrong. */
  public static final LinkFaults NONE =
      new LinkFaults(0, 0, 0, 0, 0, 0, 0, Duration.ZERO, Duration.ZERO, Integer.MAX_VALUE);

  /** How long a caller waits for an answer. */
  static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** Everything goes wrong, but requests do not arrive twice. */
  public static final LinkFaults ALL =
      new LinkFaults(
          0.02, 0.01, 0.02, 0.02, 0, 0.003, 0.005, Duration.ofMinutes(3), Duration.ofMinutes(2), 3);

  /** Returns the same, with requests that arrive twice. */
  public LinkFaults repeating(double rate) {
    return new LinkFaults(
        rejected, lostRequest, late, lostReply, rate, killed, paused, lateMax, pauseMax, pageMax);
  }

  /** Returns the same, with other longest times. */
  public LinkFaults within(Duration late, Duration pause) {
    return new LinkFaults(
        rejected,
        lostRequest,
        this.late,
        lostReply,
        repeated,
        killed,
        paused,
        late,
        pause,
        pageMax);
  }

  /** Returns the same, with other pages of scans. */
  public LinkFaults paging(int itemsMax) {
    return new LinkFaults(
        rejected,
        lostRequest,
        late,
        lostReply,
        repeated,
        killed,
        paused,
        lateMax,
        pauseMax,
        itemsMax);
  }
}
