package dev.quipu.server.cli.output;

/** Exit codes of all commands. */
public final class ExitCode {
  public static final int OK = 0;
  public static final int FAILED = 1;
  public static final int USAGE = 2;
  public static final int REJECTED = 3;
  public static final int DAMAGED = 4;
  public static final int UNKNOWN = 5;
  public static final int UNREACHABLE = 6;
  public static final int SKIPPED = 7;
  public static final int DRIFT = 8;
  public static final int FAILURE = 9;
  public static final int DENIED = 10;

  private ExitCode() {}
}
