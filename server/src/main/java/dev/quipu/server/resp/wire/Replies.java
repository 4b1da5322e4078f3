package dev.quipu.server.resp.wire;

/** Constant replies. */
public final class Replies {
  public static final Reply OK = new Reply.Simple("OK");

  public static final Reply QUEUED = new Reply.Simple("QUEUED");

  /** The null reply. */
  public static final Reply NULL = new Reply.Null(false);

  /** The null array, which only RESP2 distinguishes. */
  public static final Reply NULL_ARRAY = new Reply.Null(true);

  private Replies() {}
}
