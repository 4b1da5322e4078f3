package org.example;

import java.io.IOException;
import java.util.List;

/** Guards budgets. Amounts are in millionths of a dollar. */
interface Guard extends AutoCloseable {
  /**
   * Reserves the most that a call may cost, on all budgets or on none.
   *
   * @param call the id of the call
   * @return whether it is reserved; false if a budget is too low
   */
  boolean reserve(String call, List<Budget> budgets, long most) throws IOException;

  /** Records what the call cost, and returns the rest of what was reserved. */
  void settle(String call, List<Budget> budgets, long reserved, long cost) throws IOException;

  /**
   * Settles the calls of gateways that ended before they did so.
   *
   * @param isLast whether no gateway runs: then it also returns what is reserved for calls that
   *     never reached the model, instead of when that expires
   */
  void recover(List<Budget> budgets, ModelClient model, boolean isLast)
      throws IOException, InterruptedException;

  /** Returns what is spent of a budget. */
  long spent(Budget budget) throws IOException;

  /** Returns what is reserved of a budget for calls that have not settled. */
  long held(Budget budget) throws IOException;

  @Override
  void close();
}
