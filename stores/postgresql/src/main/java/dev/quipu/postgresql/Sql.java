package dev.quipu.postgresql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A statement and its parameters, in the order of its question marks. */
record Sql(String text, List<@Nullable Object> parameters) {
  /** Joins statements into one, which needs one round trip. */
  static Sql sequence(List<Sql> statements) {
    List<@Nullable Object> parameters = new ArrayList<>();
    statements.forEach(each -> parameters.addAll(each.parameters));
    return new Sql(
        statements.stream().map(Sql::text).collect(Collectors.joining("; ")), parameters);
  }

  PreparedStatement prepare(Connection connection) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(text);
    try {
      for (int i = 0; i < parameters.size(); i++) {
        statement.setObject(i + 1, parameters.get(i));
      }
      return statement;
    } catch (SQLException e) {
      statement.close();
      throw e;
    }
  }
}
