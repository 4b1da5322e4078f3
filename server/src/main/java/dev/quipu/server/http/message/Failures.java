package dev.quipu.server.http.message;

import dev.quipu.QuipuException;
import dev.quipu.server.net.HostProcess;
import dev.quipu.time.Randomness;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a client is answered when a request, or a line of one, ends in an exception. Thread-safe.
 */
public final class Failures {
  private static final Logger LOGGER = LoggerFactory.getLogger(Failures.class);

  private final HostProcess host;
  private final RandomGenerator errorIds = Randomness.secure();

  public Failures(HostProcess host) {
    this.host = host;
  }

  /**
   * Returns the answer. What nothing expects is logged under an error id, and reported if it ends
   * the engine.
   *
   * @param path of the route
   */
  public Problem problem(Throwable thrown, String path) {
    String detail = String.valueOf(thrown.getMessage());
    return switch (thrown) {
      case Problem problem -> problem;
      case QuipuException e -> Problem.of(e);
      case IllegalArgumentException e -> Problem.badRequest(detail);
      case UnsupportedOperationException e ->
          new Problem(501, "unsupported", "Not supported", detail).with("outcome", "not-applied");
      default -> unexpected(thrown, path);
    };
  }

  private Problem unexpected(Throwable thrown, String path) {
    if (host.report(thrown)) {
      return Problem.unknown("the server failed: " + thrown.getClass().getSimpleName());
    }
    String errorId = "%016x".formatted(errorIds.nextLong());
    LOGGER
        .atError()
        .addKeyValue("errorId", errorId)
        .addKeyValue("route", path)
        .setCause(thrown)
        .log("Unhandled exception in HTTP handler");
    return Problem.internal(errorId);
  }
}
