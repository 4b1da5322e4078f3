package dev.quipu.server.net;

import dev.quipu.engine.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * What the connections of one event loop ask of the engine. The loop first reads what has come by
 * all of them, and then does it in one group: the loop waits for the disk itself, which is quicker
 * than to hand over to another thread. Lives on its event loop.
 */
final class LoopCommits {
  private final Executor loop;
  private final Consumer<List<Operation>> engine;
  private final Runnable commit = this::commit;
  private List<Operation> waiting = new ArrayList<>();
  private List<Runnable> after = new ArrayList<>();
  private List<Operation> spareWaiting = new ArrayList<>();
  private List<Runnable> spareAfter = new ArrayList<>();
  private boolean isScheduled;

  /**
   * Of a loop.
   *
   * @param engine does operations, and returns when they have reached the disk
   */
  LoopCommits(Executor loop, Consumer<List<Operation>> engine) {
    this.loop = loop;
    this.engine = engine;
  }

  /**
   * Has an operation done with the next commit.
   *
   * @param then runs when it has reached the disk, or has failed
   */
  void add(Operation operation, Runnable then) {
    waiting.add(operation);
    after.add(then);
    if (!isScheduled) {
      isScheduled = true;
      loop.execute(commit);
    }
  }

  private void commit() {
    isScheduled = false;
    List<Operation> operations = waiting;
    List<Runnable> then = after;
    waiting = spareWaiting;
    after = spareAfter;
    // A commit that failed by its deadline may still be done: then its list is never used again.
    spareWaiting = new ArrayList<>(0);
    spareAfter = then;
    try {
      engine.accept(operations);
      spareWaiting = operations;
    } catch (RuntimeException e) { // whatever it is, who waits must hear of it
      operations.forEach(each -> each.failed(e));
    }
    then.forEach(Runnable::run);
    spareWaiting.clear();
    spareAfter.clear();
  }
}
