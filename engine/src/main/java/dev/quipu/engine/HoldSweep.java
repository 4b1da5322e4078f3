package dev.quipu.engine;

import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.Ticker;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ends the holds whose time to live has ended, as many as fit into a frame. */
final class HoldSweep implements Operation {
  private static final int AT_ONCE = 1_024;

  /** So that an expired hold is released within a second. */
  private static final Duration INTERVAL = Duration.ofMillis(250);

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
    return 0; // it takes what is left of the frame
  }

  @Override
  public void on(CounterAccess access) {
    HoldAccess holds = new HoldAccess(access);
    try {
      int ended = 0;
      while (ended < AT_ONCE && holds.expireNext()) {
        ended++;
      }
      isMore = ended > 0;
    } catch (RuntimeException e) { // before the change of this hold; those before it are complete
      failure = e;
    }
  }

  @Override
  public void failed(RuntimeException why) {
    failure = why;
  }
}
