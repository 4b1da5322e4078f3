package dev.quipu.server.cli.output;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The message and the exit code of a command that failed. */
public record Explanation(String message, int exitCode) {
  /** Returns the explanation of a failure. */
  public static Explanation of(Exception failure) {
    return new Explanation("quipu: " + message(failure), exitCode(failure));
  }

  private static String message(Exception failure) {
    String message = String.valueOf(failure.getMessage());
    return switch (failure) {
      case QuipuException e when e.outcome() == Outcome.UNKNOWN ->
          "outcome unknown: %s. Repeat the command, with --id if it printed a request id"
              .formatted(message);
      case QuipuException e -> message;
      case IllegalArgumentException e -> message;
      case UnsupportedOperationException e -> message;
      case IOException e -> message;
      case UncheckedIOException e -> message;
      default -> failure.toString();
    };
  }

  private static int exitCode(Exception failure) {
    return switch (failure) {
      case QuipuException e when e.outcome() == Outcome.UNKNOWN -> ExitCode.UNKNOWN;
      case QuipuException e ->
          switch (e.reason()) {
            case CORRUPT -> ExitCode.DAMAGED;
            case INVALID -> ExitCode.USAGE;
            case UNAVAILABLE, THROTTLED, TIMEOUT, FULL -> ExitCode.UNREACHABLE;
            case DENIED -> ExitCode.DENIED;
            case REJECTED, CONFLICT, HELD -> ExitCode.REJECTED;
          };
      case IllegalArgumentException e -> ExitCode.USAGE;
      case UnsupportedOperationException e -> ExitCode.USAGE;
      case IOException e -> ExitCode.UNREACHABLE;
      case UncheckedIOException e -> ExitCode.FAILED; // standard output
      default -> ExitCode.FAILED;
    };
  }
}
