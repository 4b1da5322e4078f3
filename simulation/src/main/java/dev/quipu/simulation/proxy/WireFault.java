package dev.quipu.simulation.proxy;

/** Faults between a client and a store. */
public enum WireFault {
  /** The store's own internal error; the request never reached the store. */
  ERROR_BEFORE_APPLY,
  /** The same error, after the store has applied the request. */
  ERROR_AFTER_APPLY,
  /** The store applies the request; the connection is closed instead of the reply. */
  REPLY_DROPPED,
  /** The connection is reset; the request never reached the store. */
  CONNECTION_RESET,
  /** The store applies the request; the reply never comes, and the connection stays open. */
  HANG,
  /** There is no reply, and the store applies the request after the client has given up. */
  DELAYED_APPLY,
  /** The store gets the request twice; the client receives the first reply. */
  DUPLICATE,
  /** The store's own error for throttling; the request never reached the store. */
  THROTTLED,
  /** A read is answered with the reply to an earlier equal read. */
  STALE_READ;

  /** Returns whether it is a fault of reads; otherwise it is one of writes. */
  boolean isOfReads() {
    return this == STALE_READ;
  }
}
