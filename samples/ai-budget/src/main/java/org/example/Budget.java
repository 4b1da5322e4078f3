package org.example;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;

/**
 * A limit of what may be spent.
 *
 * @param counter the name of what is spent
 * @param limit in millionths of a dollar
 */
record Budget(String counter, long limit) {
  /** Returns the budgets of a team and of a key, for the day and for the month. */
  static List<Budget> of(String team, String key, LocalDate day, long teamLimit, long keyLimit) {
    String month = day.toString().substring(0, 7);
    return List.of(
        new Budget("budget/key/%s/%s".formatted(key, day), keyLimit),
        new Budget("budget/key/%s/%s".formatted(key, month), 20 * keyLimit),
        new Budget("budget/team/%s/%s".formatted(team, day), teamLimit),
        new Budget("budget/team/%s/%s".formatted(team, month), 20 * teamLimit));
  }

  /** Returns an amount in dollars, for people. */
  static String dollars(long micros) {
    return BigDecimal.valueOf(micros, 6).toPlainString();
  }
}
