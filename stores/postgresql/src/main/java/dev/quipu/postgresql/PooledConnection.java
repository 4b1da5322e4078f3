package dev.quipu.postgresql;

import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.jdbc.PgConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection of a pool, for one call; it is returned in the state in which it came. A failed
 * return changes nothing about the outcome of the call, so closing never throws.
 */
final class PooledConnection implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(PooledConnection.class);

  final Connection connection;
  private final int timeoutBefore;
  private final boolean isOwnPool;
  private final Runnable onClose;
  private boolean isInTransaction;
  private boolean hasEnded; // the transaction, for sure

  /**
   * Limits the wait for each answer.
   *
   * @param isOwnPool whether the limit may stay on the connection, which spares setting it again
   * @param onClose called after the connection was given back; not if this throws
   */
  PooledConnection(Connection connection, int timeoutMillis, boolean isOwnPool, Runnable onClose)
      throws SQLException {
    this.connection = connection;
    this.isOwnPool = isOwnPool;
    this.onClose = onClose;
    try {
      Connection limited = isOwnPool ? connection.unwrap(PgConnection.class) : connection;
      this.timeoutBefore = limited.getNetworkTimeout();
      if (timeoutBefore != timeoutMillis) {
        limited.setNetworkTimeout(Runnable::run, timeoutMillis);
      }
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  void begin() throws SQLException {
    connection.setAutoCommit(false);
    isInTransaction = true;
  }

  void commit() throws SQLException {
    connection.commit();
    hasEnded = true;
  }

  /** If it fails, the connection is broken: the server rolls back what was never committed. */
  void rollBack() {
    try {
      connection.rollback();
      hasEnded = true;
    } catch (SQLException e) {
      LOGGER.debug("cannot roll back", e);
    }
  }

  @Override
  public void close() {
    try {
      if (isInTransaction && hasEnded) {
        connection.setAutoCommit(true); // it would commit what has not ended
      }
      if (!isOwnPool) {
        connection.setNetworkTimeout(Runnable::run, timeoutBefore);
      }
    } catch (SQLException e) {
      LOGGER.debug("cannot give a connection back as it was", e);
    }
    try {
      connection.close();
    } catch (SQLException e) {
      LOGGER.debug("cannot give a connection back", e);
    }
    onClose.run();
  }
}
