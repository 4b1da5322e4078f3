package dev.quipu.server.resp.wire;

/** Answers that are always the same. */
public final class Replies {
  public static final Reply OK = new Reply.Simple("OK");

  public static final Reply QUEUED = new Reply.Simple("QUEUED");

  /** Nothing there. */
  public static final Reply NULL = new Reply.Null(false);

  /** Nothing there, where an array was asked for: what RESP2 tells apart. */
  public static final Reply NULL_ARRAY = new Reply.Null(true);

  private Replies() {}
}
