package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.List;

/** Checks one property of a history of one counter that started at 0. */
public interface Checker {
  /**
   * Checks a complete history: all clients have ended.
   *
   * @param operations the operations of clients with their results
   * @param finalValue the value of the counter at the end
   */
  Verdict check(List<Operation> operations, long finalValue);
}
