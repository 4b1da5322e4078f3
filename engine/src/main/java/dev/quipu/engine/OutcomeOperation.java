package dev.quipu.engine;

import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import org.jspecify.annotations.Nullable;

/** Returns the outcome of a request, or cancels it. */
final class OutcomeOperation implements Operation {
  private final String counter;
  private final RequestId id;
  private final boolean cancels;
  private RequestOutcome outcome = new RequestOutcome.NotSeen();
  private @Nullable RuntimeException failure;

  OutcomeOperation(String counter, RequestId id, boolean cancels) {
    this.counter = counter;
    this.id = id;
    this.cancels = cancels;
  }

  RequestOutcome outcome() {
    if (failure != null) {
      throw failure;
    }
    return outcome;
  }

  @Override
  public int bytesMax(CounterAccess access) {
    return CounterAccess.bytesMax(1, counter.length());
  }

  @Override
  public void on(CounterAccess access) {
    outcome = cancels ? access.cancel(counter, id) : access.outcome(counter, id);
  }

  @Override
  public void failed(RuntimeException why) {
    failure = why;
  }
}
