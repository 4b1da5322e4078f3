package dev.quipu.postgresql;

import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * The connections of a driver. Calls that find all of them busy wait in order of arrival, for a
 * limited time, before they ask the pool: a pool serves its waiters in any order, and its error
 * does not say whether the server or the number of callers is the cause.
 */
final class Connections {
  private final DataSource source;
  private final int connectionsMax;
  private final int timeoutMillis;
  private final boolean isOwnPool;
  private final Semaphore free;

  /**
   * Limits the calls at a time.
   *
   * @param connectionsMax most connections in use at a time
   * @param timeout longest wait for a connection, and for each answer on it
   * @param isOwnPool whether nobody else uses the source
   */
  Connections(DataSource source, int connectionsMax, Duration timeout, boolean isOwnPool) {
    this.source = source;
    this.connectionsMax = connectionsMax;
    this.timeoutMillis = (int) timeout.toMillis();
    this.isOwnPool = isOwnPool;
    this.free = new Semaphore(connectionsMax, true);
  }

  /** Longest wait for one answer. */
  int timeoutMillis() {
    return timeoutMillis;
  }

  /**
   * Returns a connection with a limit for each answer.
   *
   * @throws StoreException if there is none in time; nothing was sent
   */
  Borrowed borrow() {
    enter();
    try {
      return new Borrowed(source.getConnection(), timeoutMillis, isOwnPool, free::release);
    } catch (SQLException e) {
      free.release();
      throw Failures.ofConnection(e);
    } catch (RuntimeException | Error e) {
      free.release();
      throw e;
    }
  }

  private void enter() {
    try {
      if (!free.tryAcquire(timeoutMillis, TimeUnit.MILLISECONDS)) {
        throw StoreException.notApplied(
            Reason.THROTTLED,
            ("PostgreSQL: all connections (%d) were busy for %d ms; nothing was sent. Raise"
                    + " 'connections' or 'timeoutMillis' in the store's URI, or send fewer calls"
                    + " at a time")
                .formatted(connectionsMax, timeoutMillis));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw StoreException.notApplied(
          Reason.UNAVAILABLE, "PostgreSQL: interrupted while waiting for a connection");
    }
  }
}
