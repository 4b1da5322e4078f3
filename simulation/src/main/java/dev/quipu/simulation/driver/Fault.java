package dev.quipu.simulation.driver;

import java.util.List;
import java.util.Locale;

/** What can go wrong with one call to a store. */
public enum Fault {
  /** The store says no before it does anything, and a repeat may succeed. */
  THROTTLED,
  /** The request is lost on its way, or ends in an error before it: the caller cannot know. */
  LOST_REQUEST,
  /**
   * The store has done it, and the reply is lost, or is an error: the caller cannot know either.
   */
  LOST_REPLY,
  /** No answer in time, and the store does it later. */
  DELAYED,
  /** The store does it twice; the caller hears the first answer. */
  DUPLICATE,
  /** The store has done it, the reply is lost, and the client sends it again by itself. */
  CLIENT_REPEATS;

  /** Its name as users write it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Those that leave the caller with a true answer or none: what a simulation draws from. */
  static final List<Fault> PLAIN = List.of(THROTTLED, LOST_REQUEST, LOST_REPLY);
}
