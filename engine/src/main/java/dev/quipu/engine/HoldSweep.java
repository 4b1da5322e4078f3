package dev.quipu.engine;

import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.Ticker;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ends the holds whose time to live has ended, each by a change of its own. */
final class HoldSweep implements Operation {
  private static final int AT_ONCE = 1_024;

  /** So that an expired hold is released within a second. */
  private static final Duration INTERVAL = Duration.ofMillis(250);

  private int ended;
  private boolean isMore;
  private @Nullable RuntimeException failure;

  /** Starts to end such holds periodically. */
  static Ticker periodic(Engine engine, Environment environment, Failure failure) {
    return new Ticker(environment, failure, "quipu-hold-sweeper", INTERVAL, () -> run(engine));
  }

  /**
   * Ends all such holds.
   *
   * @throws dev.quipu.QuipuException if the disk is full, there is no memory, or the engine has
   *     stopped; the rest is ended later
   */
  static void run(Engine engine) {
    HoldSweep sweep;
    do {
      sweep = new HoldSweep();
      engine.run(List.of(sweep));
      if (sweep.failure != null) {
        throw sweep.failure;
      }
    } while (sweep.isMore);
  }

  @Override
  public int bytesMax(CounterAccess access) {
    return new HoldAccess(access).expireBytesMax();
  }

  @Override
  public void on(CounterAccess access) {
    isMore = new HoldAccess(access).expireNext();
    ended++;
  }

  @Override
  public boolean isDone() {
    return !isMore || ended == AT_ONCE;
  }

  @Override
  public void failed(RuntimeException why) {
    failure = why;
  }
}
