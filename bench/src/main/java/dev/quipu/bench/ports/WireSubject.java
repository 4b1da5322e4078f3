package dev.quipu.bench.ports;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/** A server that is reached over the wire. */
final class WireSubject implements Subject {
  private static final double MILLION = 1e6;

  private final String name;
  private final Dialect dialect;
  private final int port;
  private final long pid;
  private final Numbers numbers;
  private final Map<Kind, Request> requests = new EnumMap<>(Kind.class);

  WireSubject(String name, Dialect dialect, int port, long pid, Numbers numbers)
      throws IOException {
    this.name = name;
    this.dialect = dialect;
    this.port = port;
    this.pid = pid;
    this.numbers = numbers;
    if (dialect.isMemcached()) {
      try (Control control = new Control(port, dialect)) {
        control.setAll(Shape.KEYS_MAX);
      }
    }
  }

  @Override
  public String name() {
    return name;
  }

  int port() {
    return port;
  }

  @Override
  public Turn turn(Shape shape, Duration time) throws IOException {
    try (Control control = new Control(port, dialect);
        Load load = new Load(port, dialect, request(shape, control), shape, numbers)) {
      long before = control.sum(Shape.KEYS_MAX);
      Cpu cpu = Processes.cpu(pid);
      Load.Outcome outcome = load.run(time);
      Cpu taken = Processes.cpu(pid).since(cpu);
      check(shape, outcome.applied(), control.sum(Shape.KEYS_MAX) - before);
      return new Turn(
          outcome.applied() / (outcome.nanos() / 1e9), taken.per(outcome.applied() / MILLION));
    }
  }

  /** Sends at this rate, whatever comes back. */
  OpenLoop.Outcome open(Shape shape, double perSecond, Duration time) throws IOException {
    try (Control control = new Control(port, dialect);
        OpenLoop load = new OpenLoop(port, dialect, request(shape, control), shape, numbers)) {
      long before = control.sum(Shape.KEYS_MAX);
      OpenLoop.Outcome outcome = load.run(perSecond, time);
      check(shape, outcome.applied(), control.sum(Shape.KEYS_MAX) - before);
      return outcome;
    }
  }

  private Request request(Shape shape, Control control) {
    return requests.computeIfAbsent(shape.kind(), kind -> dialect.request(kind, control));
  }

  private void check(Shape shape, long applied, long found) {
    if (applied != found) {
      throw new WrongCountException(name, shape, applied, found);
    }
    if (applied == 0) {
      throw new IllegalStateException(name + ", " + shape + ": nothing was applied");
    }
  }
}
