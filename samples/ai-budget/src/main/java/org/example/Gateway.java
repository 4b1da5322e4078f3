package org.example;

import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;

/** Answers calls as long as the budgets suffice. */
final class Gateway {
  private final Guard guard;
  private final ModelClient model;

  Gateway(Guard guard, ModelClient model) {
    this.guard = guard;
    this.model = model;
  }

  /**
   * Makes a call. It is settled at what the model bills, whether the model answers, fails, breaks
   * off or stalls, and whether the caller waits or is canceled.
   *
   * @param call an id of 32 hexadecimal digits
   * @return what it cost in millionths of a dollar; negative if a budget was too low
   */
  long complete(String call, List<Budget> budgets, long tokensMax) throws IOException {
    long most = tokensMax * Model.TOKEN_PRICE;
    if (!guard.reserve(call, budgets, most)) {
      return -1;
    }
    boolean isCanceled = false;
    try {
      model.complete(call, tokensMax);
    } catch (InterruptedException e) {
      isCanceled = true;
    } catch (IOException e) {
      // not "failed": the model bills what it generated
    }
    isCanceled |= Thread.interrupted();
    OptionalLong cost = billed(call);
    // A call that the model does not know may still arrive there: its hold stays until it expires.
    if (cost.isPresent()) {
      guard.settle(call, budgets, most, cost.getAsLong());
    }
    if (isCanceled) {
      Thread.currentThread().interrupt();
    }
    return cost.orElse(0);
  }

  /** Returns what the model bills; a cancellation of the caller does not end the wait. */
  private OptionalLong billed(String call) {
    while (true) {
      try {
        return model.billed(call);
      } catch (InterruptedException e) {
        // canceled once more
      }
    }
  }
}
