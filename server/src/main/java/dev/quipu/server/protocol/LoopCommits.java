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
 * Group commit of one event loop. The loop reads what all its connections have received, then
 * commits it as one group and waits for the disk itself, which is faster than a handover to another
 * thread. Confined to its event loop.
 */
final class LoopCommits {
  /** Number of commands of a group, which its connections share: it bounds the time of a group. */
  private static final int GROUP_COMMANDS = 32 << 10;

  /** Maximum number of heavy batches in one group. */
  private static final int HEAVY_MAX = 2;

  private final Executor loop;
  private final Executor later;
  private final Consumer<List<? extends Operation>> engine;
  private final Consumer<Throwable> stop;
  private final Runnable commit = this::commit;
  private final Deque<Batch> heavy = new ArrayDeque<>();
  private List<Batch> waiting = new ArrayList<>();
  private List<Batch> spare = new ArrayList<>();
  private int lastSize; // batches of the last group
  private boolean isScheduled;
  private boolean isCommitting;

  /**
   * Creates the commits of a loop.
   *
   * @param later runs a task after the loop has read its pending input
   * @param engine applies operations and returns when they are durable
   * @param stop stops the engine after a {@link VirtualMachineError}
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
   * Adds a batch to the next group.
   *
   * @param then runs when the batch is durable or has failed
   */
  void add(Batch batch, Runnable then) {
    if (!isScheduled) {
      // Pipelined commands wait until the loop has read the input of other connections. If this
      // throws, the batch is not added.
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

  /** Returns the share of one connection of the commands of a group. */
  int commandsShare() {
    return GROUP_COMMANDS / Math.max(1, Math.max(lastSize, waiting.size()));
  }

  /** Moves a few heavy batches into the next group. */
  private void takeHeavy() {
    for (int taken = 0; taken < HEAVY_MAX && !heavy.isEmpty(); ) {
      Batch next = heavy.remove();
      if (!next.isAbandoned()) {
        waiting.add(next);
        taken++;
      }
    }
    if (!heavy.isEmpty()) {
      later.execute(commit); // the loop reads in between
      isScheduled = true;
    }
  }

  private void commit() {
    isScheduled = false;
    if (!heavy.isEmpty()) {
      takeHeavy();
    }
    List<Batch> batches = waiting;
    lastSize = batches.size();
    waiting = spare;
    // A commit that timed out may still execute, so its list is not reused.
    spare = new ArrayList<>(0);
    boolean isDone = false;
    try {
      engine.accept(batches);
      isDone = true;
    } catch (RuntimeException e) { // in any case, the waiting clients must get a reply
      fail(batches, 0, e);
    } catch (Error e) { // the engine has already stopped itself if the error is its own
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

  /** Answers a batch; a failure does not affect the other batches. */
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
