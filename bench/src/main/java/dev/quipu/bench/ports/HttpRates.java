package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.AddKind;
import dev.quipu.bench.ports.load.ClosedLoop;
import dev.quipu.bench.ports.load.ControlConnection;
import dev.quipu.bench.ports.load.Dialect;
import dev.quipu.bench.ports.load.HttpLoop;
import dev.quipu.bench.ports.load.RequestNumbers;
import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.MinimalHttp;
import dev.quipu.bench.ports.subject.Processes;
import dev.quipu.bench.ports.subject.QuipuServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Adds under request ids over HTTP: one in a request compared with a server on Netty that counts
 * nothing, and many in a bulk compared with a pipeline of the Redis protocol, in alternating turns.
 */
public final class HttpRates {
  private static final int BULK = 128;
  private static final int WARM_UP_TURNS = 28;
  private static final int ROUNDS = 31;
  private static final Duration TURN = Duration.ofSeconds(1);

  private final RequestNumbers numbers = new RequestNumbers();
  private final QuipuServer quipu;
  private final int minimalPort;

  private HttpRates(QuipuServer quipu, int minimalPort) {
    this.quipu = quipu;
    this.minimalPort = minimalPort;
  }

  /** Returns the rows of the table. */
  public static String measure() throws Exception {
    boolean isPinned = Processes.canPin();
    List<String> before = isPinned ? Processes.pinned(Processes.SERVERS_CORE) : List.of();
    try (QuipuServer quipu = QuipuServer.start(before, false, List.of());
        Minimal minimal = Minimal.start(before)) {
      if (isPinned) {
        Processes.pinOne(ProcessHandle.current().pid(), Processes.OWN_CORE);
      }
      HttpRates rates = new HttpRates(quipu, minimal.port);
      Comparand single = new Comparand("one add", () -> rates.http(1));
      Comparand bulk = new Comparand("bulk of " + BULK, () -> rates.http(BULK));
      return row(single, new Comparand("Netty, which counts nothing", rates::minimal))
          + row(bulk, new Comparand("`QUIPU.ADD`, pipeline " + BULK, rates::commands));
    }
  }

  private interface Turn {
    double perSecond() throws IOException;
  }

  private record Comparand(String name, Turn turn) {}

  /** The process of {@link MinimalHttp}. */
  private record Minimal(Process process, int port) implements AutoCloseable {
    static Minimal start(List<String> before) throws IOException {
      List<String> command = new ArrayList<>(before);
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(List.of("-cp", System.getProperty("java.class.path")));
      command.add(MinimalHttp.class.getName());
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "stop-netty"));
      BufferedReader printed = process.inputReader(StandardCharsets.US_ASCII);
      return new Minimal(process, Integer.parseInt(printed.readLine()));
    }

    @Override
    public void close() {
      process.destroyForcibly();
      process.onExit().join();
    }
  }

  private double http(int adds) throws IOException {
    try (ControlConnection control = new ControlConnection(quipu.port(), Dialect.QUIPU);
        HttpLoop loop = new HttpLoop(quipu.http(), adds, numbers)) {
      long before = control.sum(Workload.KEYS_MAX);
      HttpLoop.Outcome outcome = loop.run(TURN);
      check(control.sum(Workload.KEYS_MAX) - before, outcome.adds());
      return outcome.adds() * 1e9 / outcome.nanos();
    }
  }

  private double minimal() throws IOException {
    try (HttpLoop loop = new HttpLoop(minimalPort, 1, numbers)) {
      HttpLoop.Outcome outcome = loop.run(TURN);
      return outcome.adds() * 1e9 / outcome.nanos();
    }
  }

  private double commands() throws IOException {
    Workload workload = new Workload(AddKind.ONCE, Workload.KEYS_MAX, BULK);
    try (ControlConnection control = new ControlConnection(quipu.port(), Dialect.QUIPU);
        ClosedLoop loop =
            new ClosedLoop(
                quipu.port(),
                Dialect.QUIPU,
                Dialect.QUIPU.request(AddKind.ONCE, control),
                workload,
                numbers)) {
      long before = control.sum(Workload.KEYS_MAX);
      ClosedLoop.Outcome outcome = loop.run(TURN);
      check(control.sum(Workload.KEYS_MAX) - before, outcome.applied());
      return outcome.applied() * 1e9 / outcome.nanos();
    }
  }

  private static void check(long counted, long acknowledged) {
    if (counted != acknowledged) {
      throw new IllegalStateException(
          "%,d adds were acknowledged, and the counters grew by %,d"
              .formatted(acknowledged, counted));
    }
  }

  private static String row(Comparand own, Comparand peer) throws IOException {
    for (int turn = 0; turn < WARM_UP_TURNS; turn++) {
      var unused = own.turn.perSecond(); // for its compiler
      var unusedPeer = peer.turn.perSecond();
    }
    List<Double> owns = new ArrayList<>();
    List<Double> peers = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      owns.add(own.turn.perSecond());
      peers.add(peer.turn.perSecond());
      ratios.add(owns.getLast() / peers.getLast());
    }
    ratios.sort(null);
    String row =
        String.format(
            Locale.ROOT,
            "| %s | %s | %,.0f | %,.0f | %.2f | %.2f..%.2f |%n",
            own.name,
            peer.name,
            Comparison.median(owns),
            Comparison.median(peers),
            Comparison.median(ratios),
            ratios.getFirst(),
            ratios.getLast());
    System.err.print(row);
    return row;
  }
}
