package dev.quipu.engine.commit;

import dev.quipu.QuipuException;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.state.State;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One call, on its way through the committer. */
public abstract class Task {
  private final Thread caller = Thread.currentThread();
  private volatile boolean done;
  private volatile boolean abandoned;
  private @Nullable RuntimeException failure; // published by done

  /**
   * Does the work, or a part of it.
   *
   * @return whether all is done; false to be called again with an empty frame
   * @throws RuntimeException if the task fails; before it has changed memory in this frame, or the
   *     engine stops
   * @throws IOException if the disk fails, which stops the engine
   */
  public abstract boolean run(State state, Group group) throws IOException;

  /** Says that the caller waits no longer. */
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

  /** Ends the call; its work has reached the disk. */
  final void succeed() {
    done = true;
    LockSupport.unpark(caller);
  }

  /** Ends the call with an exception. */
  final void fail(RuntimeException why) {
    failure = why;
    succeed();
  }

  /** Throws what the call ended with, if it was an exception. */
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
