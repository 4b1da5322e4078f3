package dev.quipu.verify.simulate;

/** What can go wrong with one call to a store. */
public enum Fault {
  /** The store says no before it does anything, and a repeat may succeed. */
  THROTTLED,
  /** The request is lost on its way: the caller cannot know. */
  LOST_REQUEST,
  /** The store has done it, and the reply is lost: the caller cannot know either. */
  LOST_REPLY
}
