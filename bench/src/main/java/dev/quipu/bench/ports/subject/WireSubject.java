package dev.quipu.bench.ports.subject;

import dev.quipu.bench.ports.load.AddKind;
import dev.quipu.bench.ports.load.ClosedLoop;
import dev.quipu.bench.ports.load.ControlConnection;
import dev.quipu.bench.ports.load.Dialect;
import dev.quipu.bench.ports.load.OpenLoop;
import dev.quipu.bench.ports.load.Request;
import dev.quipu.bench.ports.load.RequestNumbers;
import dev.quipu.bench.ports.load.Workload;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/** A server with a wire protocol. */
public final class WireSubject implements Subject {
  private static final double MILLION = 1e6;

  private final String name;
  private final Dialect dialect;
  private final int port;
  private final long pid;
  private final RequestNumbers numbers;
  private final Map<AddKind, Request> requests = new EnumMap<>(AddKind.class);

  public WireSubject(String name, Dialect dialect, int port, long pid, RequestNumbers numbers)
      throws IOException {
    this.name = name;
    this.dialect = dialect;
    this.port = port;
    this.pid = pid;
    this.numbers = numbers;
    if (dialect.isMemcached()) {
      try (ControlConnection control = new ControlConnection(port, dialect)) {
        control.setAll(Workload.KEYS_MAX);
      }
    }
  }

  @Override
  public String name() {
    return name;
  }

  public int port() {
    return port;
  }

  @Override
  public Measurement measure(Workload workload, Duration time) throws IOException {
    try (ControlConnection control = new ControlConnection(port, dialect);
        ClosedLoop load =
            new ClosedLoop(port, dialect, request(workload, control), workload, numbers)) {
      long before = control.sum(Workload.KEYS_MAX);
      Cpu cpu = Processes.cpu(pid);
      ClosedLoop.Outcome outcome = load.run(time);
      Cpu taken = Processes.cpu(pid).since(cpu);
      check(workload, outcome.applied(), control.sum(Workload.KEYS_MAX) - before);
      return new Measurement(
          outcome.applied(),
          outcome.applied() / (outcome.nanos() / 1e9),
          taken.per(outcome.applied() / MILLION));
    }
  }

  /** Sends at this rate, independent of replies. */
  public OpenLoop.Outcome open(Workload workload, double perSecond, Duration time)
      throws IOException {
    try (ControlConnection control = new ControlConnection(port, dialect);
        OpenLoop load =
            new OpenLoop(port, dialect, request(workload, control), workload, numbers)) {
      long before = control.sum(Workload.KEYS_MAX);
      OpenLoop.Outcome outcome = load.run(perSecond, time);
      check(workload, outcome.applied(), control.sum(Workload.KEYS_MAX) - before);
      return outcome;
    }
  }

  private Request request(Workload workload, ControlConnection control) {
    return requests.computeIfAbsent(workload.kind(), kind -> dialect.request(kind, control));
  }

  private void check(Workload workload, long applied, long found) {
    if (applied != found) {
      throw new WrongCountException(name, workload, applied, found);
    }
    if (applied == 0) {
      throw new IllegalStateException(name + ", " + workload + ": nothing was applied");
    }
  }
}
