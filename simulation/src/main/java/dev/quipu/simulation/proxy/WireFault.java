package dev.quipu.simulation.proxy;

/** What may go wrong between a client and a store. */
public enum WireFault {
  /** The store's own error for a failure inside; the request never reached it. */
  ERROR_BEFORE_APPLY,
  /** The same error, after the store did what was asked. */
  ERROR_AFTER_APPLY,
  /** The store did it; the connection is closed in place of the reply. */
  REPLY_DROPPED,
  /** The connection is reset; the request never reached the store. */
  CONNECTION_RESET,
  /** The store did it; the reply never comes, and the connection stays open. */
  HANG,
  /** Nothing comes back, and the store does it after the client has given up. */
  DELAYED_APPLY,
  /** The store gets the request twice; the client hears the first reply. */
  DUPLICATE,
  /** The store's own error for too many calls; the request never reached it. */
  THROTTLED,
  /** A read is answered with what an earlier read of the same was answered. */
  STALE_READ;

  /** Whether it happens to reads; else it happens to writes. */
  boolean isOfReads() {
    return this == STALE_READ;
  }
}
