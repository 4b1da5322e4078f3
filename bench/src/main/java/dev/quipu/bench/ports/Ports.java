package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.AddKind;
import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.Subject;
import dev.quipu.bench.ports.subject.WireSubject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** Compares Quipu's server with Redis, memcached, PostgreSQL and RocksDB. */
public final class Ports {
  private static final int ROUNDS = 5;
  private static final int SECONDS = 2;
  private static final int OPEN_TURNS = 3; // turns of a closed loop per turn of an open loop
  private static final double OPEN_SHARE = 0.5;

  static final String COLUMNS =
      """

      | adds | counters | pipeline | Quipu | peer | Quipu/s | peer/s | ratio | of rounds \
      | Quipu's CPU | peer's CPU |
      |---|---|---|---|---|---|---|---|---|---|---|
      """;

  private final StringBuilder page = new StringBuilder();
  private final StringBuilder byRedisBenchmark = new StringBuilder();
  private final List<Comparison> plain = new ArrayList<>();
  private final List<Comparison> once = new ArrayList<>();
  private final Servers servers;
  private final int rounds;
  private final Duration time;

  private Ports(Servers servers, int rounds, Duration time) {
    this.servers = servers;
    this.rounds = rounds;
    this.time = time;
  }

  /**
   * Runs all measurements.
   *
   * @param arguments rounds and seconds per turn, if not the defaults
   * @param machine date and machine, for the header
   * @return the page
   */
  public static String measure(List<String> arguments, String machine) throws Exception {
    int rounds = arguments.isEmpty() ? ROUNDS : Integer.parseInt(arguments.get(0));
    int seconds = arguments.size() < 2 ? SECONDS : Integer.parseInt(arguments.get(1));
    try (Servers servers = new Servers()) {
      Ports ports = new Ports(servers, rounds, Duration.ofSeconds(seconds));
      ports.head(machine);
      ports.warmUp();
      ports.durable();
      ports.lessDurable();
      ports.openLoop();
      ports.redisBenchmark();
      ports.limits();
      return ports.page.toString();
    }
  }

  private void head(String machine) throws IOException {
    String cores =
        servers.pinned
            ? """
            Servers are pinned to one core and the generator to the other, which limits servers
            that would use more cores.\
            """
            : "Servers and the generator share the cores: pinning is unavailable here.";
    page.append(
        """
        # Benchmarks of ports

        Adds per second over the wire, of Quipu's server and of others, in one run on one machine:
        real processes, %d connections from one generator, turns of %d s, %d in each cell. Repeat it
        with `./dev bench ports`; `./dev bench ports 1 1` takes one round with turns of 1 s.

        Measured on %s.
        Data are on %s.

        A ratio is Quipu's adds per second to the peer's in the same round: above 1 Quipu is
        faster. It is the median of the rounds; `of rounds` is the least and the greatest. Only
        the ratios carry over to other machines. CPU is the processor time of the server in
        seconds per million adds, with the share of the kernel, for network and files, in
        parentheses. After each turn the counters are summed: if those of any server, Quipu or
        peer, differ from the adds that it reported as applied, the run fails. (For RocksDB, only
        the number of applied adds is checked.)

        %s
        Other servers are idle during a turn. A pipeline is the number of requests that each
        connection sends before it waits for all the replies. Quipu's server, which runs with a
        JIT compiler, is warmed up by all kinds of adds first, and each subject in each cell by a
        quarter of a turn.
        """
            .formatted(
                Workload.CONNECTIONS,
                time.toSeconds(),
                rounds,
                machine,
                Files.getFileStore(Path.of(System.getProperty("java.io.tmpdir"))).type(),
                cores.strip()));
  }

  private void warmUp() throws IOException {
    for (WireSubject each : servers.quipus()) {
      for (AddKind kind : AddKind.values()) {
        each.measure(new Workload(kind, Workload.KEYS_MAX, 128), time);
        each.measure(new Workload(kind, Workload.KEYS_MAX, 16), time);
        each.measure(new Workload(kind, Workload.KEYS_MAX, 1), time);
      }
    }
  }

  private void durable() throws Exception {
    page.append(
        """

        ## On disk before the reply

        Quipu with its defaults. Redis with `appendfsync always`; bounded and exactly once by a
        script (`EVALSHA`): `GET`, compare, `INCRBY`; and `SET id NX EX 86400`, `INCRBY`. The
        script detects a repeat, but does not replay the result of the first request, as Quipu
        does. PostgreSQL with `synchronous_commit` on, one statement per add over JDBC, marker and
        counter in one for exactly once, %d connections. RocksDB runs in this process, without a
        network or a server: the adds in flight share one synced batch; it has the core of the
        generator.
        """
            .formatted(Workload.CONNECTIONS));
    page.append(COLUMNS);
    for (AddKind kind : List.of(AddKind.PLAIN, AddKind.ONCE)) {
      List<Comparison> comparisons = kind == AddKind.PLAIN ? plain : once;
      for (int pipeline : List.of(1, 16, 128)) {
        List<Subject> subjects = new ArrayList<>(List.of(servers.quipu, servers.redisAlways));
        if (pipeline == 1) {
          subjects.add(servers.postgres);
        }
        if (pipeline != 16) {
          subjects.add(servers.rocks);
        }
        comparisons.add(comparison(new Workload(kind, Workload.KEYS_MAX, pipeline), subjects));
        if (kind == AddKind.PLAIN && RedisBenchmark.isThere()) {
          // Here, so that both run in the same state of the machine.
          byRedisBenchmark.append(
              RedisBenchmark.row(comparisons.getLast(), servers.quipu, servers.redisAlways, time));
        }
        if (pipeline != 16) {
          comparison(new Workload(kind, 1, pipeline), subjects);
        }
      }
    }
    for (int keys : List.of(Workload.KEYS_MAX, 1)) {
      comparison(
          new Workload(AddKind.BOUNDED, keys, 128), List.of(servers.quipu, servers.redisAlways));
    }
  }

  private void lessDurable() throws Exception {
    page.append(
        """

        ## On disk within a second

        Redis with `appendfsync everysec`. The name of Quipu states its durability.
        """);
    page.append(COLUMNS);
    List<Subject> subjects = List.of(servers.quipuEverySecond, servers.redisEverySecond);
    comparison(new Workload(AddKind.PLAIN, Workload.KEYS_MAX, 1), subjects);
    comparison(new Workload(AddKind.PLAIN, Workload.KEYS_MAX, 128), subjects);
    comparison(new Workload(AddKind.ONCE, Workload.KEYS_MAX, 128), subjects);
    page.append(
        """

        ## In memory

        Redis without a file, and memcached, which never has one: `incr`, and if both support it
        the meta command `ma` (in the last row). Where its name contains memcached, Quipu uses
        that protocol.
        """);
    page.append(COLUMNS);
    List<List<Subject>> pairs =
        List.of(List.of(servers.quipuMemory, servers.redisMemory), servers.memcacheds());
    for (List<Subject> pair : pairs) {
      if (!pair.isEmpty()) {
        for (int pipeline : List.of(1, 16, 128)) {
          comparison(new Workload(AddKind.PLAIN, Workload.KEYS_MAX, pipeline), pair);
        }
        comparison(new Workload(AddKind.PLAIN, 1, 128), pair);
      }
    }
    if (!servers.memcachedMetas().isEmpty()) {
      comparison(new Workload(AddKind.PLAIN, Workload.KEYS_MAX, 128), servers.memcachedMetas());
    }
  }

  private Comparison comparison(Workload workload, List<Subject> subjects) throws Exception {
    Comparison comparison = new Comparison(workload, subjects).run(rounds, time);
    page.append(comparison.rows());
    return comparison;
  }

  private void openLoop() throws Exception {
    page.append(
        """

        ## Latency under a steady load

        Requests are sent on a fixed schedule, at half of the server's rate above in a closed loop
        (pipeline 1, 10,000 counters); the faster server also at the slower one's rate. Latency
        starts when a request is due, not when it is sent: a stall counts for all requests that
        were due in it. On disk before the reply. Milliseconds, over %d s.

        | adds | server | rate/s | p50 | p99 | p99.9 |
        |---|---|---|---|---|---|
        """
            .formatted(time.multipliedBy(OPEN_TURNS).toSeconds()));
    for (Comparison comparison : List.of(plain.getFirst(), once.getFirst())) {
      double quipu = comparison.perSecond(0) * OPEN_SHARE;
      double redis = comparison.perSecond(1) * OPEN_SHARE;
      latency(comparison.workload(), servers.quipu, quipu);
      latency(comparison.workload(), servers.redisAlways, redis);
      if (quipu > redis) {
        latency(comparison.workload(), servers.quipu, redis);
      } else {
        latency(comparison.workload(), servers.redisAlways, quipu);
      }
    }
  }

  private void latency(Workload workload, WireSubject subject, double rate) throws IOException {
    subject.open(workload, rate, time.dividedBy(2));
    Histogram latencies = subject.open(workload, rate, time.multipliedBy(OPEN_TURNS)).latencies();
    String row =
        String.format(
            Locale.ROOT,
            "| %s | %s | %,.0f | %.2f | %.2f | %.2f |%n",
            workload.kind(),
            subject.name(),
            rate,
            latencies.getValueAtPercentile(50) / 1e6,
            latencies.getValueAtPercentile(99) / 1e6,
            latencies.getValueAtPercentile(99.9) / 1e6);
    System.err.print(row);
    page.append(row);
  }

  private void redisBenchmark() {
    page.append(
        """

        ## The same by redis-benchmark

        `INCR` over 10,000 counters by Redis' load generator, medians of 3 turns, compared with
        the results of Quipu's generator just before. On disk before the reply.

        """);
    if (!RedisBenchmark.isThere()) {
      page.append("Not installed: `./dev deps` installs it.\n");
      return;
    }
    page.append(
        """
        | pipeline | Quipu | Redis | ratio | Quipu, own generator | Redis, own generator |
        |---|---|---|---|---|---|
        """);
    page.append(byRedisBenchmark);
  }

  private void limits() {
    page.append(
        """

        ## Bottlenecks

        Without a pipeline, and at 16, Quipu spends most of its time in the kernel, for one read
        and one write per connection (the shares above), which limits the possible speedup of any
        server. At 128 in memory its core is saturated.

        Exactly once, the cost of an add grows with the number of kept ids: each is checked
        against the filters of all files of ids, which are merged (see
        [scale](benchmarks-scale.md)); each turn above starts with the ids
        of the last one. Reads of ids from disk are rare; writes of ids, in sorted files, share the
        disk with the log, which causes the differences between rounds.
        """);
  }
}
