package dev.quipu.server.net;

import dev.quipu.engine.CounterTurn;
import dev.quipu.engine.Operation;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * A commit that fails by its deadline may still be done later, by another thread. So a batch that
 * has failed is left alone: its steps and what they write are never used again, the answers that
 * say so are others, and the connection ends with them.
 */

/** What one connection asked for since the last commit, in order, and the answers. */
public final class Batch implements Operation {
  private static final int TOUCHED_AHEAD = 32;

  private final List<Step> steps;
  private final ByteBuf out;
  private int next;
  private int touched;
  private @Nullable ByteBuf failures;

  /**
   * An empty one.
   *
   * @param commands that it is likely to have
   * @param answerBytes that it is likely to be answered
   */
  Batch(int commands, int answerBytes) {
    this.steps = new ArrayList<>(commands);
    this.out = Unpooled.buffer(answerBytes);
  }

  /** Adds a command. */
  public void add(Step step) {
    steps.add(step);
  }

  /** Commands in it. */
  int size() {
    return steps.size();
  }

  /** What is to be answered. */
  ByteBuf answers() {
    return failures == null ? out : failures;
  }

  boolean hasFailed() {
    return failures != null;
  }

  @Override
  public int bytesMax(CounterTurn turn) {
    int bytes = steps.get(next).bytesMax(turn);
    return turn.canEverFit(bytes) ? bytes : 0; // else it is refused, which writes nothing
  }

  @Override
  public void on(CounterTurn turn) {
    int bytes = steps.get(next).bytesMax(turn);
    do {
      touch(turn);
      Step step = steps.get(next);
      if (turn.canEverFit(bytes)) {
        step.run(turn, out);
      } else {
        step.failed(new IllegalArgumentException("more changes than fit into one commit"), out);
      }
      if (!turn.canEverFit(bytes) || step.isDone()) {
        next++;
      }
      if (next == steps.size()) {
        return;
      }
      bytes = steps.get(next).bytesMax(turn);
    } while (turn.fits(bytes) || !turn.canEverFit(bytes));
  }

  private void touch(CounterTurn turn) {
    if (next == touched) {
      touched = Math.min(steps.size(), next + TOUCHED_AHEAD);
      for (int i = next; i < touched; i++) {
        steps.get(i).touch(turn);
      }
    }
  }

  @Override
  public boolean isDone() {
    return next == steps.size();
  }

  /** Nobody knows what of it was done. */
  @Override
  public void failed(RuntimeException why) {
    ByteBuf told = Unpooled.buffer();
    steps.forEach(step -> step.failed(why, told));
    failures = told;
  }
}
