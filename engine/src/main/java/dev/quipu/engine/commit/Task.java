package dev.quipu.engine.commit;

import dev.quipu.QuipuException;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.state.State;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One call on its way through the committer. */
public abstract class Task {
  private final Thread caller = Thread.currentThread();
  private volatile boolean done;
  private volatile boolean abandoned;
  private @Nullable RuntimeException failure; // published by done

  /**
   * Runs the task, or a part of it.
   *
   * @return whether the task is complete; false to be called again with an empty frame
   * @throws RuntimeException if the task fails; if it has changed memory in this frame, the engine
   *     stops
   * @throws IOException if the disk fails, which stops the engine
   */
  public abstract boolean run(State state, Group group) throws IOException;

  /** Marks the task as abandoned: its caller no longer waits. */
  final void abandon() {
    abandoned = true;
  }

  final boolean isAbandoned() {
    return abandoned;
  }

  final boolean isDone() {
    return done;
  }

  final Thread caller() {
    return caller;
  }

  /** Completes the call; its effect is on disk. */
  final void succeed() {
    done = true;
    LockSupport.unpark(caller);
  }

  /** Ends the call with an exception. */
  final void fail(RuntimeException why) {
    failure = why;
    succeed();
  }

  /** Throws the exception that the call ended with, if any. */
  final void rethrow() {
    RuntimeException why = failure;
    if (why instanceof DamageException damage) {
      throw damage;
    }
    if (why instanceof QuipuException known) {
      throw QuipuException.of(known.outcome(), known.reason(), known.getMessage(), known);
    }
    if (why != null) {
      throw why;
    }
  }
}
