package dev.quipu.server.net;

import dev.quipu.engine.Engine;
import dev.quipu.engine.Operation;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;

/**
 * What the connections of one event loop ask of the engine. The loop first reads what has come by
 * all of them, and then does it in one group: the loop waits for the disk itself, which is quicker
 * than to hand over to another thread. Lives on its event loop.
 */
final class LoopCommits {
  private final EventExecutor loop;
  private final Engine engine;
  private final Runnable commit = this::commit;
  private List<Operation> waiting = new ArrayList<>();
  private List<Runnable> after = new ArrayList<>();
  private List<Operation> committing = new ArrayList<>();
  private List<Runnable> ending = new ArrayList<>();
  private boolean isScheduled;

  LoopCommits(EventExecutor loop, Engine engine) {
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
    waiting = committing;
    after = ending;
    committing = operations;
    ending = then;
    try {
      engine.run(operations);
    } catch (RuntimeException e) { // whatever it is, who waits must hear of it
      operations.forEach(each -> each.failed(e));
    }
    then.forEach(Runnable::run);
    operations.clear();
    then.clear();
  }
}
