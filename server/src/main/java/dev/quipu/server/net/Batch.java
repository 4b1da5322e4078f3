package dev.quipu.server.net;

import dev.quipu.engine.CounterTurn;
import dev.quipu.engine.Operation;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;

/** What one connection asked for since the last commit, in order, and the answers. */
public final class Batch implements Operation {
  private static final int TOUCHED_AHEAD = 32;

  private final List<Step> steps;
  private final ByteBuf out;
  private int next;
  private int touched;

  /**
   * Answers go into {@code out}.
   *
   * @param expected commands that it is likely to have
   */
  Batch(ByteBuf out, int expected) {
    this.out = out;
    this.steps = new ArrayList<>(expected);
  }

  /** Adds a command. */
  public void add(Step step) {
    steps.add(step);
  }

  /** Commands in it. */
  int size() {
    return steps.size();
  }

  ByteBuf out() {
    return out;
  }

  @Override
  public int bytesMax(CounterTurn turn) {
    return steps.get(next).bytesMax(turn);
  }

  @Override
  public void on(CounterTurn turn) {
    do {
      touch(turn);
      Step step = steps.get(next);
      step.run(turn, out);
      if (step.isDone()) {
        next++;
      }
    } while (next < steps.size() && turn.fits(steps.get(next).bytesMax(turn)));
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

  /** A commit that failed leaves nothing of what was to be answered. */
  @Override
  public void failed(RuntimeException why) {
    out.clear();
    steps.forEach(step -> step.failed(why, out));
  }
}
