package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.List;

/** Proves one thing of a history of one counter that started at 0. */
public interface Checker {
  /**
   * Looks at a history that is complete: all clients have ended.
   *
   * @param operations what clients asked and heard
   * @param finalValue what the counter holds at the end
   */
  Verdict check(List<Operation> operations, long finalValue);
}
