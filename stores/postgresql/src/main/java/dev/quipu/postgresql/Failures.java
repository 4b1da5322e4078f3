package dev.quipu.postgresql;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;

/** Maps errors of PostgreSQL and of its client to exceptions that state the effect of a call. */
final class Failures {
  private Failures() {}

  /** Returns the exception for a failed read, or for opening: it has no effect. */
  static QuipuException ofRead(SQLException e) {
    return failure(Outcome.NOT_APPLIED, e);
  }

  /**
   * Returns the exception for a missing connection: nothing was sent.
   *
   * @param where the addresses of the servers; empty if the source was handed in
   */
  static QuipuException ofConnection(SQLException e, String where) {
    // A pool wraps what kept it from connecting.
    SQLException why =
        e instanceof SQLTransientConnectionException && e.getCause() instanceof SQLException cause
            ? cause
            : e;
    return new NotAppliedException(reason(why), "PostgreSQL" + connecting(why, where), why);
  }

  /** Returns the exception for a pool that could not open its first connection. */
  static QuipuException ofPool(RuntimeException e, String where) {
    String what =
        e.getCause() instanceof SQLException why ? connecting(why, where) : ": " + e.getMessage();
    return new NotAppliedException(Reason.UNAVAILABLE, "PostgreSQL" + what, e);
  }

  private static String connecting(SQLException e, String where) {
    String server = where.isEmpty() ? "" : " (" + where + ")";
    String remedy =
        switch (state(e)) {
          case "28P01", "28000" -> ". Check the user and the password in the store's URI";
          case "3D000" -> ". Check the database in the store's URI";
          default -> "";
        };
    return "%s: cannot connect: %s%s".formatted(server, e.getMessage(), remedy);
  }

  /** Returns the exception for a statement before the commit: without that it has no effect. */
  static QuipuException beforeCommit(SQLException e) {
    return failure(Outcome.NOT_APPLIED, e);
  }

  /** Returns the exception for a commit, or for a statement that commits by itself. */
  static QuipuException ofWrite(SQLException e) {
    return failure(isAnswer(e) ? Outcome.NOT_APPLIED : Outcome.UNKNOWN, e);
  }

  /**
   * Returns whether the server replied with an error, which means that it rolled back. When it
   * shuts down (class 57P, 58) or the connection breaks (class 08), it may have committed.
   */
  private static boolean isAnswer(SQLException e) {
    String state = state(e);
    return !state.isEmpty()
        && !state.startsWith("08")
        && !state.startsWith("57P")
        && !state.startsWith("58")
        && !state.startsWith("XX")
        && !state.startsWith("40003"); // statement completion unknown
  }

  private static String state(SQLException e) {
    return e.getSQLState() == null ? "" : e.getSQLState();
  }

  private static QuipuException failure(Outcome outcome, SQLException e) {
    String remedy = isOfSchema(state(e)) ? "; compare the table with what quipu schema prints" : "";
    return QuipuException.of(outcome, reason(e), "PostgreSQL: " + e.getMessage() + remedy, e);
  }

  /** A text that PostgreSQL has no characters for; all other data fits into the table of ddl(). */
  private static boolean isOfText(String state) {
    return state.equals("22021") || state.equals("22P05");
  }

  /**
   * Whether the table is another than that of {@link Schema#ddl}: data do not fit (class 22, 54), a
   * constraint is broken (23), or a name or a type is another (42).
   */
  private static boolean isOfSchema(String state) {
    return !isOfText(state)
        && !state.equals("42501") // a right
        && (state.startsWith("22")
            || state.startsWith("23")
            || state.startsWith("42")
            || state.startsWith("54"));
  }

  private static Reason reason(SQLException e) {
    String state = state(e);
    if (e.getCause() instanceof SocketTimeoutException || state.equals("57014")) {
      return Reason.TIMEOUT;
    }
    if (state.length() < 2) {
      return Reason.UNAVAILABLE;
    }
    return switch (state.substring(0, 2)) {
      case "40", "55" ->
          Reason.THROTTLED; // rolled back for another transaction; lock not available
      case "28" -> Reason.DENIED;
      case "53" ->
          switch (state) {
            case "53100" -> Reason.FULL;
            default -> Reason.THROTTLED;
          };
      case "22" -> isOfText(state) ? Reason.INVALID : Reason.UNAVAILABLE;
      case "42" -> state.equals("42501") ? Reason.DENIED : Reason.UNAVAILABLE; // another schema
      default -> Reason.UNAVAILABLE; // another schema (23, 54), or a read-only server (25)
    };
  }
}
