package dev.quipu.postgresql;

import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.jdbc.PgConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection of a pool, for one call; closing restores its state. A failure to return it does not
 * change the outcome of the call, so closing never throws.
 */
final class PooledConnection implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(PooledConnection.class);

  final Connection connection;
  private final int timeoutBefore;
  private final boolean isOwnPool;
  private final Runnable onClose;
  private boolean isInTransaction;
  private boolean hasEnded; // the transaction, with a definite outcome

  /**
   * Sets the time limit for each reply.
   *
   * @param isOwnPool whether the limit may stay set on the connection
   * @param onClose called after the connection was returned; not if this constructor throws
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

  /** Rolls back. If that fails, the connection is broken and the server rolls back by itself. */
  void rollBack() {
    try {
      connection.rollback();
      hasEnded = true;
    } catch (SQLException e) {
      LOGGER.debug("Rollback failed", e);
    }
  }

  @Override
  public void close() {
    try {
      if (isInTransaction && hasEnded) {
        connection.setAutoCommit(true); // this would commit an open transaction
      }
      if (!isOwnPool) {
        connection.setNetworkTimeout(Runnable::run, timeoutBefore);
      }
    } catch (SQLException e) {
      LOGGER.debug("Restoring the state of a connection failed", e);
    }
    try {
      connection.close();
    } catch (SQLException e) {
      LOGGER.debug("Returning a connection to the pool failed", e);
    }
    onClose.run();
  }
}
