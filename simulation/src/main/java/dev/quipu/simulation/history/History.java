package dev.quipu.simulation.history;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** Records the operations on one counter, from many clients. Thread-safe. */
public final class History {
  private final List<Operation> operations = new ArrayList<>();
  private long step;

  /** Creates an empty history. */
  public History() {}

  /** An operation that has begun. */
  public final class Pending {
    private final String request;
    private final Operation.Kind kind;
    private final long delta;
    private final long floor;
    private final long ceiling;
    private final long invoked;

    private Pending(String request, Operation.Kind kind, long delta, long floor, long ceiling) {
      this.request = request;
      this.kind = kind;
      this.delta = delta;
      this.floor = floor;
      this.ceiling = ceiling;
      this.invoked = nextStep();
    }

    /** Records the end of the operation. */
    public void end(Operation.End end, OptionalLong value) {
      add(
          new Operation(
              request,
              kind,
              delta,
              floor,
              ceiling,
              invoked,
              end == Operation.End.UNKNOWN ? Operation.NEVER : nextStep(),
              end,
              value));
    }
  }

  /** Records the start of an add. */
  public Pending add(String request, long delta, long floor, long ceiling) {
    return new Pending(request, Operation.Kind.ADD, delta, floor, ceiling);
  }

  /** Records the start of a read. */
  public Pending read() {
    return new Pending("read", Operation.Kind.READ, 0, Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /** Returns all operations that have ended, in order of their end. */
  public synchronized List<Operation> operations() {
    return List.copyOf(operations);
  }

  private synchronized void add(Operation operation) {
    operations.add(operation);
  }

  private synchronized long nextStep() {
    return ++step;
  }

  @Override
  public String toString() {
    return operations().stream().map(Operation::toString).collect(Collectors.joining("\n"));
  }
}
