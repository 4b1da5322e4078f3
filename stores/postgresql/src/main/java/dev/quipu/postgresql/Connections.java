package dev.quipu.postgresql;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.StoreDriver.Measure;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * The connections of a driver. When all are in use, calls wait in order of arrival, for a limited
 * time, before they request one of the pool: a pool serves its waiters in any order, and its error
 * does not state whether the server or the number of callers is the cause.
 *
 * <p>Writers can wait for a row as long as another transaction locks it; readers cannot. So writers
 * leave one connection to readers: one of these reads the record of the store, without which writes
 * stop.
 */
final class Connections {
  private final DataSource source;
  private final String where;
  private final int connectionsMax;
  private final int timeoutMillis;
  private final boolean isOwnPool;
  private final Semaphore free;
  private final Semaphore freeToWrite;

  /**
   * Creates a limit of concurrent calls.
   *
   * @param where the addresses of the servers, for messages
   * @param connectionsMax maximum number of connections in use at a time
   * @param timeout longest wait for a connection, and for each reply on it
   * @param isOwnPool whether only this driver uses the source
   */
  Connections(
      DataSource source, String where, int connectionsMax, Duration timeout, boolean isOwnPool) {
    this.source = source;
    this.where = where;
    this.connectionsMax = connectionsMax;
    this.timeoutMillis = (int) timeout.toMillis();
    this.isOwnPool = isOwnPool;
    this.free = new Semaphore(connectionsMax, true);
    this.freeToWrite = new Semaphore(Math.max(1, connectionsMax - 1), true);
  }

  /** Returns the longest wait for one reply. */
  int timeoutMillis() {
    return timeoutMillis;
  }

  /**
   * Returns a connection for reads, with a time limit for each reply.
   *
   * @throws QuipuException if there is none in time; nothing was sent
   */
  PooledConnection borrow() {
    enter(free);
    return borrow(free::release);
  }

  /**
   * Returns a connection for writes, with a time limit for each reply.
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
      throw Failures.ofConnection(e, where);
    } catch (RuntimeException | Error e) {
      release.run();
      throw e;
    }
  }

  /** Returns measurements of the connections; idle ones only of the pool of a URI. */
  Map<Measure, Long> measures() {
    Map<Measure, Long> measures = new EnumMap<>(Measure.class);
    measures.put(Measure.CONNECTIONS_MAX, (long) connectionsMax);
    measures.put(Measure.CONNECTIONS_IN_USE, (long) connectionsMax - free.availablePermits());
    measures.put(
        Measure.CALLS_WAITING, (long) free.getQueueLength() + freeToWrite.getQueueLength());
    if (source instanceof HikariDataSource pool) {
      HikariPoolMXBean state = pool.getHikariPoolMXBean();
      measures.put(
          Measure.CONNECTIONS_IDLE, state == null ? 0L : (long) state.getIdleConnections());
    }
    return measures;
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
