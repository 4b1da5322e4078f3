package dev.quipu.server.net;

import dev.quipu.time.Clock;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs unexpected exceptions with the command in which they occurred, never with client data. The
 * rate is limited, so that clients cannot flood the log; the next entry states how many were
 * suppressed. Thread-safe.
 */
public final class Incidents {
  /** Maximum number of log entries per interval. */
  static final int ENTRIES_MAX = 20;

  private static final Duration INTERVAL = Duration.ofSeconds(10);
  private static final Logger LOGGER = LoggerFactory.getLogger(Incidents.class);
  private static final Incidents OF_ALL_PORTS = new Incidents(LOGGER, Clock.system());

  private final Logger logger;
  private final Clock clock;
  private long startNanos;
  private int entries;
  private long suppressed;

  Incidents(Logger logger, Clock clock) {
    this.logger = logger;
    this.clock = clock;
    this.startNanos = clock.nanoTime();
  }

  /** Logs an exception of a command handler. */
  public static void inCommand(String port, String command, RuntimeException why) {
    OF_ALL_PORTS.log("Unhandled exception in command handler", port, command, why);
  }

  /** Logs an exception of a connection. */
  public static void inConnection(String what, Throwable why) {
    OF_ALL_PORTS.log(what, "", "", why);
  }

  synchronized void log(String what, String port, String command, Throwable why) {
    long now = clock.nanoTime();
    if (now - startNanos >= INTERVAL.toNanos()) {
      startNanos = now;
      entries = 0;
    }
    if (entries == ENTRIES_MAX) {
      suppressed++;
      return;
    }
    entries++;
    var entry = logger.atError().setCause(why);
    if (!command.isEmpty()) {
      entry = entry.addKeyValue("port", port).addKeyValue("command", command);
    }
    if (suppressed > 0) {
      entry = entry.addKeyValue("suppressed", suppressed);
      suppressed = 0;
    }
    entry.log(what);
  }
}
