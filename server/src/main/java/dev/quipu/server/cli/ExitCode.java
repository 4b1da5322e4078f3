package dev.quipu.server.cli;

/** What the command's exit code says. */
final class ExitCode {
  static final int OK = 0;
  static final int FAILED = 1;
  static final int USAGE = 2;
  static final int REFUSED = 3;
  static final int DAMAGED = 4;
  static final int UNKNOWN = 5;
  static final int UNREACHABLE = 6;
  static final int SKIPPED = 7;
  static final int DRIFT = 8;
  static final int FAILURE = 9;

  private ExitCode() {}
}
