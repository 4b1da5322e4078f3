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

  /** Returns the name of a code, in errors with --json. */
  static String type(int code) {
    return switch (code) {
      case USAGE -> "usage";
      case REJECTED -> "rejected";
      case DAMAGED -> "damaged";
      case UNKNOWN -> "outcome-unknown";
      case UNREACHABLE -> "unreachable";
      case SKIPPED -> "skipped";
      case DRIFT -> "drift";
      case FAILURE -> "failure";
      case DENIED -> "denied";
      default -> "failed";
    };
  }
}
