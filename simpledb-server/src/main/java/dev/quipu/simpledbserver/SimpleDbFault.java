package dev.quipu.simpledbserver;

/** What goes wrong with a write. */
public enum SimpleDbFault {
  /** 503, and nothing was applied. */
  UNAVAILABLE,
  /** 500, and nothing was applied. */
  ERROR_BEFORE_APPLY,
  /** 503, although the write was applied. */
  UNAVAILABLE_AFTER_APPLY,
  /** 500, although the write was applied. */
  ERROR_AFTER_APPLY,
  /** The write was applied, and the connection ends without an answer. */
  REPLY_DROPPED
}
