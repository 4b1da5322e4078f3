package dev.quipu.server.watch;

import dev.quipu.server.net.MemoryBudget;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The bytes of an event that several clients are sent; reserved until the last one has it. */
final class SharedEvent {
  private final byte[] bytes;
  private final MemoryBudget budget;
  private final AtomicInteger users = new AtomicInteger(1); // the one that created it

  private SharedEvent(byte[] bytes, MemoryBudget budget) {
    this.bytes = bytes;
    this.budget = budget;
  }

  /** Returns the event, or null if there is no memory for it. */
  static @Nullable SharedEvent reserve(byte[] bytes, MemoryBudget budget) {
    return budget.tryReserve(bytes.length) ? new SharedEvent(bytes, budget) : null;
  }

  byte[] bytes() {
    return bytes;
  }

  void use() {
    users.incrementAndGet();
  }

  void release() {
    if (users.decrementAndGet() == 0) {
      budget.release(bytes.length);
    }
  }
}
