package dev.quipu.server.http.message;

import dev.quipu.QuipuException;
import dev.quipu.server.net.HostProcess;
import dev.quipu.store.StoreProfile;
import dev.quipu.time.Randomness;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Maps exceptions of a request, or of a line of one, to problems. Thread-safe. */
public final class Failures {
  /*
   * The same types of exceptions are thrown by checks, before anything is done, and within a store
   * or a library, when a write may have been sent. Only their stack trace shows which.
   */
  private static final Set<String> CHECKING_SUPPORT =
      Stream.of(
              "",
              ".backend",
              ".display",
              ".hits",
              ".presence",
              ".record",
              ".region",
              ".sequence",
              ".shard",
              ".technique",
              ".threshold",
              ".transaction",
              ".view")
          .map(each -> "dev.quipu" + each)
          .collect(Collectors.toUnmodifiableSet());

  /** The engine and the layer that validates calls also check input before they write. */
  private static final Set<String> CHECKING_INPUT =
      Stream.concat(
              CHECKING_SUPPORT.stream(),
              Stream.of(
                  "dev.quipu.engine",
                  "dev.quipu.engine.history",
                  "dev.quipu.engine.past",
                  "dev.quipu.layer"))
          .collect(Collectors.toUnmodifiableSet());

  private static final String SERVER = "dev.quipu.server.";
  private static final String LIBRARY = "dev.quipu.";
  private static final String PROFILE = StoreProfile.class.getName();

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
      case IllegalArgumentException e when isFrom(CHECKING_INPUT, e) -> Problem.badRequest(detail);
      case UnsupportedOperationException e when isFrom(CHECKING_SUPPORT, e) ->
          new Problem(501, "unsupported", unsupported, detail).with("outcome", "not-applied");
      case UnsupportedOperationException e when thrower(e).startsWith(LIBRARY) ->
          Problem.unknown("the store lacks what the technique needs: " + detail);
      default -> unexpected(thrown, path);
    };
  }

  /** Returns whether it was thrown in one of these packages, or in the server. */
  private static boolean isFrom(Set<String> packages, RuntimeException e) {
    String name = thrower(e);
    return name.startsWith(SERVER)
        || packages.contains(name.substring(0, Math.max(name.lastIndexOf('.'), 0)));
  }

  /** Returns the name of the class that threw it. */
  private static String thrower(RuntimeException e) {
    return Stream.of(e.getStackTrace())
        .map(StackTraceElement::getClassName)
        .filter(each -> !each.equals(PROFILE)) // creates exceptions for others
        .findFirst()
        .orElse("");
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
