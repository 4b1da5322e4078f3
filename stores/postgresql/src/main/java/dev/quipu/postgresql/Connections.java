package dev.quipu.postgresql;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * The connections of a driver. Calls that find all of them busy wait in order of arrival, for a
 * limited time, before they ask the pool: a pool serves its waiters in any order, and its error
 * does not say whether the server or the number of callers is the cause.
 *
 * <p>Writers can wait for a row as long as somebody locks it, readers cannot. So writers leave one
 * connection to readers: the record of the store is read among them, without which nothing is
 * written any more.
 */
final class Connections {
  private final DataSource source;
  private final int connectionsMax;
  private final int timeoutMillis;
  private final boolean isOwnPool;
  private final Semaphore free;
  private final Semaphore freeToWrite;

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
    this.freeToWrite = new Semaphore(Math.max(1, connectionsMax - 1), true);
  }

  /** Longest wait for one answer. */
  int timeoutMillis() {
    return timeoutMillis;
  }

  /**
   * Returns a connection to read on, with a limit for each answer.
   *
   * @throws QuipuException if there is none in time; nothing was sent
   */
  PooledConnection borrow() {
    enter(free);
    return borrow(free::release);
  }

  /**
   * Returns a connection to write on, with a limit for each answer.
   *
   * @throws QuipuException if there is none in time; nothing was sent
   */
  PooledConnection borrowToWrite() {
    enter(freeToWrite);
    try {
      enter(free);
    } catch (QuipuException e) {
      freeToWrite.release();
      throw e;
    }
    return borrow(() -> {
      free.release();
      freeToWrite.release();
    });
  }

  private PooledConnection borrow(Runnable release) {
    try {
      return new PooledConnection(source.getConnection(), timeoutMillis, isOwnPool, release);
    } catch (SQLException e) {
      release.run();
      throw Failures.ofConnection(e);
    } catch (RuntimeException | Error e) {
      release.run();
      throw e;
    }
  }

  private void enter(Semaphore some) {
    try {
      if (!some.tryAcquire(timeoutMillis, TimeUnit.MILLISECONDS)) {
        throw new NotAppliedException(
            Reason.THROTTLED,
            ("PostgreSQL: all connections (%d) were busy for %d ms; nothing was sent. Raise"
                    + " 'connections' or 'timeoutMillis' in the store's URI, or send fewer calls"
                    + " at a time")
                .formatted(connectionsMax, timeoutMillis));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NotAppliedException(
          Reason.UNAVAILABLE, "PostgreSQL: interrupted while waiting for a connection");
    }
  }
}
