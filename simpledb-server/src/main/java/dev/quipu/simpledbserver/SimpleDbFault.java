package dev.quipu.simpledbserver;

/** An injected fault of a write. */
public enum SimpleDbFault {
  /** 503; the write was not applied. */
  UNAVAILABLE,
  /** 500; the write was not applied. */
  ERROR_BEFORE_APPLY,
  /** 503; the write was applied. */
  UNAVAILABLE_AFTER_APPLY,
  /** 500; the write was applied. */
  ERROR_AFTER_APPLY,
  /** The write was applied, and the connection is closed without a reply. */
  REPLY_DROPPED
}
