package dev.quipu.simulation.driver;

import java.util.List;
import java.util.Locale;

/** Faults of one call to a store. */
public enum Fault {
  /** The store rejects the call before it does anything; a retry may succeed. */
  THROTTLED,
  /**
   * The request is lost, or fails on its way to the store: the outcome is unknown to the caller.
   */
  LOST_REQUEST,
  /**
   * The store applies it, but the reply is lost or is an error: the outcome is unknown to the
   * caller.
   */
  LOST_REPLY,
  /** There is no reply in time, and the store applies it later. */
  DELAYED,
  /** The store applies it twice; the caller gets the first reply. */
  DUPLICATE,
  /** The store applies it, the reply is lost, and the client library resends it automatically. */
  CLIENT_REPEATS;

  /** Returns its name in options. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The faults that give the caller a correct outcome or none: those that a simulation uses. */
  static final List<Fault> PLAIN = List.of(THROTTLED, LOST_REQUEST, LOST_REPLY);
}
