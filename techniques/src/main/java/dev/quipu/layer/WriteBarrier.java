package dev.quipu.layer;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.StoreDriver;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Rejects writes to a store while they are stopped, and records why the store itself rejects them.
 * Thread-safe.
 */
final class WriteBarrier extends Layer {
  private volatile @Nullable String stoppedBy;
  private volatile @Nullable String rejectedBy;

  WriteBarrier(StoreDriver below) {
    super(below);
  }

  @Override
  protected <T> T forwardWrite(Supplier<T> write) {
    requireWritable();
    try {
      return super.forwardWrite(write);
    } catch (QuipuException e) {
      throw explained(e);
    }
  }

  /** Rejects writes from now on; reads continue. */
  void stop(String why) {
    stoppedBy = why;
  }

  /** Reverts {@link #stop}. */
  void resume() {
    stoppedBy = null;
  }

  Optional<String> stoppedBy() {
    return Optional.ofNullable(stoppedBy);
  }

  /** Notes why the store itself rejects writes; empty if it does not, or the reason is unknown. */
  void noteRejecting(Optional<String> why) {
    rejectedBy = why.orElse(null);
  }

  /** Returns why writes are rejected, if known; empty if they are not. */
  Optional<String> impediment() {
    return stoppedBy().or(() -> Optional.ofNullable(rejectedBy));
  }

  /**
   * Passes unless writes are stopped.
   *
   * @throws QuipuException if they are; nothing was written
   */
  private void requireWritable() {
    String why = stoppedBy;
    if (why != null) {
      throw new NotAppliedException(Reason.UNAVAILABLE, why);
    }
  }

  /**
   * Returns the error of a write, completed by why the store rejects all writes if that is known.
   */
  private QuipuException explained(QuipuException e) {
    String why = rejectedBy;
    if (why == null || e.outcome() == Outcome.UNKNOWN) {
      return e;
    }
    return QuipuException.of(e.outcome(), e.reason(), e.getMessage() + "; " + why, e);
  }
}
