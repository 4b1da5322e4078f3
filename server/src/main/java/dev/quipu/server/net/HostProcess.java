package dev.quipu.server.net;

import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The process around a server.
 *
 * @param budget bounds the memory held by the clients of all ports
 * @param onError receives each {@link VirtualMachineError} in a thread of the server, and each
 *     other {@link Error} that was not handled; must neither block nor throw
 * @param impediment why the process cannot serve although its store answers, such as a failed port;
 *     empty if it can
 * @param ports meters of the other ports, by protocol
 * @param meters meters of other parts of the process
 */
public record HostProcess(
    MemoryBudget budget,
    Consumer<Throwable> onError,
    Supplier<Optional<String>> impediment,
    Map<String, PortMeter> ports,
    List<MeterBinder> meters) {
  /** Maximum depth of the chain of causes. */
  private static final int DEPTH_MAX = 16;

  /**
   * Creates a process with its own budget that leaves errors to the threads in which they occur.
   */
  public static HostProcess alone() {
    return new HostProcess(
        MemoryBudget.ofHeap(), error -> {}, Optional::empty, Map.of(), List.of());
  }

  /**
   * Passes a {@link VirtualMachineError} in the chain of causes on; returns whether there was one.
   */
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
