package dev.quipu.server.http.message;

import dev.quipu.QuipuException;
import dev.quipu.server.net.HostProcess;
import dev.quipu.time.Randomness;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Maps exceptions of a request, or of a line of one, to problems. Thread-safe. */
public final class Failures {
  private static final Logger LOGGER = LoggerFactory.getLogger(Failures.class);

  private final HostProcess host;
  private final String unsupported;
  private final RandomGenerator errorIds = Randomness.secure();

  public Failures(HostProcess host, String technique, String store) {
    this.host = host;
    this.unsupported = "Not supported by technique `%s` on store `%s`".formatted(technique, store);
  }

  /**
   * Returns the problem. An unexpected exception is logged with an error id; an error of the
   * virtual machine is reported to the host process.
   *
   * @param path the path of the route
   */
  public Problem problem(Throwable thrown, String path) {
    String detail = String.valueOf(thrown.getMessage());
    return switch (thrown) {
      case Problem problem -> problem;
      case QuipuException e -> Problem.of(e);
      case IllegalArgumentException e -> Problem.badRequest(detail);
      case UnsupportedOperationException e ->
          new Problem(501, "unsupported", unsupported, detail).with("outcome", "not-applied");
      default -> unexpected(thrown, path);
    };
  }

  private Problem unexpected(Throwable thrown, String path) {
    if (host.report(thrown)) {
      return Problem.unknown("the server failed with " + thrown.getClass().getSimpleName());
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
