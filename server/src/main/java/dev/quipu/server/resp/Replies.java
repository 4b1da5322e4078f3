package dev.quipu.server.resp;

/** Answers that are always the same. */
final class Replies {
  static final Reply OK = new Reply.Simple("OK");

  static final Reply QUEUED = new Reply.Simple("QUEUED");

  /** Nothing there. */
  static final Reply NULL = new Reply.Null(false);

  /** Nothing there, where an array was asked for: what RESP2 tells apart. */
  static final Reply NULL_ARRAY = new Reply.Null(true);

  private Replies() {}
}
