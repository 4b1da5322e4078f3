package dev.quipu.server.net;

import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The process around a server.
 *
 * @param budget bounds the memory that the clients of all ports hold together
 * @param onError takes each {@link VirtualMachineError} that a thread of the server met, and each
 *     other {@link Error} that it could not handle; must neither block nor throw
 * @param impediment why the process cannot serve although its store answers, such as another port
 *     that is dead; empty if it can
 */
public record HostProcess(
    MemoryBudget budget, Consumer<Throwable> onError, Supplier<Optional<String>> impediment) {
  /** Causes of a cause that are looked at. */
  private static final int DEPTH_MAX = 16;

  /** Creates a process with a budget of its own, whose errors go to the thread that meets them. */
  public static HostProcess alone() {
    return new HostProcess(MemoryBudget.ofHeap(), error -> {}, Optional::empty);
  }

  /** Reports a throwable if it is, or was caused by, a {@link VirtualMachineError}. */
  public boolean report(Throwable thrown) {
    Throwable each = thrown;
    for (int depth = 0; each != null && depth < DEPTH_MAX; depth++) {
      if (each instanceof VirtualMachineError) {
        onError.accept(each);
        return true;
      }
      each = each.getCause();
    }
    return false;
  }
}
