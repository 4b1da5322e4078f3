package dev.quipu.server.protocol;

import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.Operation;
import dev.quipu.server.net.Incidents;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Batches that the connections of one event loop give to the engine. The loop first reads what has
 * come by all of them, and then commits it in one group: the loop waits for the disk itself, which
 * is quicker than to hand over to another thread. Lives on its event loop.
 */
final class LoopCommits {
  /** Batches in one group that keep others waiting. */
  private static final int HEAVY_MAX = 2;

  private final Executor loop;
  private final Executor later;
  private final Consumer<List<? extends Operation>> engine;
  private final Consumer<Throwable> stop;
  private final Runnable commit = this::commit;
  private final Deque<Batch> heavy = new ArrayDeque<>();
  private List<Batch> waiting = new ArrayList<>();
  private List<Batch> spare = new ArrayList<>();
  private boolean isScheduled;
  private boolean isCommitting;

  /**
   * Creates the commits of a loop.
   *
   * @param later runs what is not urgent, after the loop has read what came meanwhile
   * @param engine does operations, and returns when they have reached the disk
   * @param stop stops the engine, after an error of the virtual machine
   */
  LoopCommits(
      Executor loop,
      Executor later,
      Consumer<List<? extends Operation>> engine,
      Consumer<Throwable> stop) {
    this.loop = loop;
    this.later = later;
    this.engine = engine;
    this.stop = stop;
  }

  /**
   * Commits a batch with the next group.
   *
   * @param then runs when it has reached the disk, or has failed
   */
  void add(Batch batch, Runnable then) {
    if (!isScheduled) {
      // What was sent ahead of answers waits until the loop has read what others sent. If this
      // fails, nothing was added that could be done later.
      (isCommitting ? later : loop).execute(commit);
      isScheduled = true;
    }
    batch.then(then);
    if (batch.isLikelyHeavy()) {
      heavy.add(batch);
    } else {
      waiting.add(batch);
    }
  }

  /** Of the batches that keep others waiting only a few are in one group. */
  private void takeHeavy() {
    for (int taken = 0; taken < HEAVY_MAX && !heavy.isEmpty(); ) {
      Batch next = heavy.remove();
      if (!next.isAbandoned()) {
        waiting.add(next);
        taken++;
      }
    }
    if (!heavy.isEmpty()) {
      later.execute(commit); // else the loop reads nothing until all of them are done
      isScheduled = true;
    }
  }

  private void commit() {
    isScheduled = false;
    if (!heavy.isEmpty()) {
      takeHeavy();
    }
    List<Batch> batches = waiting;
    waiting = spare;
    // A commit that failed by its deadline may still be done: then its list is never used again.
    spare = new ArrayList<>(0);
    boolean isDone = false;
    try {
      engine.accept(batches);
      isDone = true;
    } catch (RuntimeException e) { // whatever it is, who waits must know of it
      fail(batches, 0, e);
    } catch (Error e) { // the engine has stopped itself, if it was its own
      stop.accept(e);
      fail(batches, 0, unknown(e));
    }
    isCommitting = true;
    for (int i = 0; i < batches.size(); i++) {
      isDone &= complete(batches, i);
    }
    isCommitting = false;
    if (isDone) {
      batches.clear();
      spare = batches;
    }
  }

  /** Answers a batch; one that cannot be answered does not keep others from it. */
  private boolean complete(List<Batch> batches, int index) {
    try {
      batches.get(index).complete();
      return true;
    } catch (RuntimeException e) {
      Incidents.inConnection("Unhandled exception after a commit", e);
    } catch (Error e) {
      stop.accept(e); // before anything more is acknowledged
      fail(batches, index + 1, unknown(e));
    }
    return false;
  }

  private static QuipuException unknown(Error why) {
    return new OutcomeUnknownException(Reason.UNAVAILABLE, "the engine stopped: " + why, why);
  }

  private static void fail(List<Batch> batches, int first, RuntimeException why) {
    for (int i = first; i < batches.size(); i++) {
      batches.get(i).failed(why);
    }
  }
}
