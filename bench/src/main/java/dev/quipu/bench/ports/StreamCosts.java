package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.AddKind;
import dev.quipu.bench.ports.load.Dialect;
import dev.quipu.bench.ports.load.EventStreams;
import dev.quipu.bench.ports.load.Request;
import dev.quipu.bench.ports.load.RequestNumbers;
import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.Processes;
import dev.quipu.bench.ports.subject.QuipuServer;
import dev.quipu.bench.ports.subject.WireSubject;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** What adds cost more while streams of changes are open, in alternating turns. */
public final class StreamCosts {
  /** Number of open streams. */
  public static final int STREAMS = 500;

  /** The disk is not what streams share with adds. */
  private static final List<String> UNSYNCED = List.of("--durability", "none");

  private static final int PIPELINE = 16;
  private static final int WARM_UP_TURNS = 3;
  private static final int ROUNDS = 40;
  private static final Duration TURN = Duration.ofSeconds(2); // twice as long as the longest tick
  private static final int SHARED_PREFIX_LENGTH = 8; // of a key: 100 keys have it in common

  /** A kind of turns: which counters the streams follow; null for no streams. */
  private record Kind(String title, @Nullable IntFunction<String> prefix) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind("none", null),
          new Kind("each of a counter of its own", Request::key),
          new Kind(
              "all of the same 100 counters",
              i -> Request.key(0).substring(0, SHARED_PREFIX_LENGTH)));

  private StreamCosts() {}

  /** Returns the rows of the table. */
  public static String measure() throws Exception {
    boolean isPinned = Processes.canPin();
    List<String> before = isPinned ? Processes.pinned(Processes.SERVERS_CORE) : List.of();
    try (QuipuServer server = QuipuServer.start(before, false, UNSYNCED)) {
      if (isPinned) {
        Processes.pinOne(ProcessHandle.current().pid(), Processes.OWN_CORE);
      }
      WireSubject subject =
          new WireSubject(
              "Quipu", Dialect.QUIPU, server.port(), server.pid(), new RequestNumbers());
      List<List<Double>> rates = new ArrayList<>();
      KINDS.forEach(each -> rates.add(new ArrayList<>()));
      for (int round = -WARM_UP_TURNS; round < ROUNDS; round++) {
        for (int turn = 0; turn < KINDS.size(); turn++) {
          int i = Math.floorMod(round + turn, KINDS.size()); // each comes first as often
          double rate = perSecond(server, subject, KINDS.get(i));
          if (round >= 0) {
            rates.get(i).add(rate);
          }
        }
      }
      StringBuilder rows = new StringBuilder();
      for (int i = 0; i < KINDS.size(); i++) {
        rows.append(row(KINDS.get(i), rates.get(i), rates.getFirst()));
      }
      return rows.toString();
    }
  }

  private static double perSecond(QuipuServer server, WireSubject subject, Kind kind)
      throws IOException {
    Workload adds = new Workload(AddKind.PLAIN, Workload.KEYS_MAX, PIPELINE);
    if (kind.prefix == null) {
      return subject.measure(adds, TURN).perSecond();
    }
    try (EventStreams streams = new EventStreams(server.http(), STREAMS, kind.prefix)) {
      double rate = subject.measure(adds, TURN).perSecond();
      streams.check();
      return rate;
    }
  }

  private static String row(Kind kind, List<Double> rates, List<Double> base) {
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < rates.size(); i++) {
      ratios.add(rates.get(i) / base.get(i));
    }
    ratios.sort(null);
    return String.format(
        Locale.ROOT,
        "| %s | %,.0f | %.3f | %.3f..%.3f |%n",
        kind.title,
        mean(rates),
        mean(rates) / mean(base),
        ratios.get(ROUNDS / 4),
        ratios.get(ROUNDS * 3 / 4));
  }

  private static double mean(List<Double> rates) {
    return rates.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
  }
}
