package dev.quipu.bench;

import dev.quipu.bench.library.CombinedAdds;
import dev.quipu.bench.library.DurableAdds;
import dev.quipu.bench.library.FollowCosts;
import dev.quipu.bench.library.IdScale;
import dev.quipu.bench.library.IngestOverhead;
import dev.quipu.bench.library.LargeState;
import dev.quipu.bench.library.SequenceCosts;
import dev.quipu.bench.library.SequenceNumbers;
import dev.quipu.bench.library.StoreOverhead;
import dev.quipu.bench.library.TransactionCosts;
import dev.quipu.bench.ports.BuildComparison;
import dev.quipu.bench.ports.HoldRates;
import dev.quipu.bench.ports.HttpRates;
import dev.quipu.bench.ports.OnceRates;
import dev.quipu.bench.ports.PageCosts;
import dev.quipu.bench.ports.Ports;
import dev.quipu.bench.ports.Sizes;
import dev.quipu.bench.ports.StreamCosts;
import dev.quipu.bench.ports.Tails;
import dev.quipu.bench.ports.load.HttpLoop;
import dev.quipu.bench.ports.load.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** Runs the benchmarks and writes their tables. */
public final class Main {
  private Main() {}

  /**
   * Runs the benchmark of the arguments: {@code engine}, {@code stores}, {@code combining}, {@code
   * ingest}, {@code sequences}, {@code sequence-costs}, {@code transactions}, {@code scale}, {@code
   * past}, {@code streams}, {@code page}, {@code large}, {@code ports}, {@code http}, {@code once},
   * {@code tails}, {@code sizes} or {@code compare}, and the output file; then for the engine,
   * values of inFlight (default: all); for the scale, the largest number of ids (default: 32
   * million); for a large state, the number of counters (default: 100 million); for the ports,
   * rounds and seconds per turn; to compare, the jar of another build, rounds and seconds per turn.
   */
  public static void main(String[] arguments) throws Exception {
    String table =
        switch (arguments[0]) {
          case "engine" -> engine(Arrays.copyOfRange(arguments, 2, arguments.length));
          case "stores" -> storesHead() + StoreOverhead.measure(stores(arguments));
          case "combining" -> combiningHead() + CombinedAdds.measure(stores(arguments));
          case "ingest" -> ingestHead() + IngestOverhead.measure();
          case "sequences" -> sequencesHead() + SequenceNumbers.measure();
          case "sequence-costs" -> sequenceCostsHead() + SequenceCosts.measure();
          case "transactions" ->
              transactionsHead() + TransactionCosts.measure() + holdsHead() + HoldRates.measure();
          case "scale" -> scaleHead() + IdScale.measure(idsMax(arguments));
          case "past" -> pastHead() + FollowCosts.measure();
          case "streams" -> streamsHead() + StreamCosts.measure();
          case "page" -> pageHead() + PageCosts.measure();
          case "large" -> largeHead() + LargeState.measure(countersMax(arguments));
          case "ports" -> Ports.measure(rest(arguments), machine());
          case "http" -> httpHead() + HttpRates.measure();
          case "tails" -> tailsHead() + Tails.measure();
          case "once" -> onceHead() + OnceRates.measure(minutes(arguments));
          case "sizes" -> Sizes.measure(rest(arguments), machine());
          case "compare" -> BuildComparison.measure(rest(arguments), machine());
          default ->
              throw new IllegalArgumentException(
                  "expected engine, stores, combining, ingest, sequences, sequence-costs,"
                      + " transactions, scale, past, streams, page, large, ports, http, once, tails,"
                      + " sizes or compare, found "
                      + arguments[0]);
        };
    System.out.println(table);
    Files.writeString(Path.of(arguments[1]), table);
    System.exit(0); // some clients leave threads running
  }

  private static List<String> rest(String[] arguments) {
    return List.of(arguments).subList(2, arguments.length);
  }

  private static Set<String> stores(String[] arguments) {
    return arguments.length > 2
        ? Set.of(Arrays.copyOfRange(arguments, 2, arguments.length))
        : Set.of("redis", "memcached", "postgresql", "dynamodb");
  }

  private static String engine(String[] inFlight) throws RunnerException, IOException {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(DurableAdds.class.getSimpleName())
            .forks(1)
            .jvmArgsAppend("-Xmx4g", "--enable-native-access=ALL-UNNAMED")
            .warmupIterations(2)
            .warmupTime(TimeValue.seconds(1))
            .measurementIterations(5)
            .measurementTime(TimeValue.seconds(1))
            .shouldFailOnError(true);
    if (inFlight.length > 0) {
      options.param("inFlight", inFlight);
    }
    return table(new Runner(options.build()).run());
  }

  private static String table(Collection<RunResult> results) throws IOException {
    Map<String, Map<String, Double>> rows = new LinkedHashMap<>();
    for (RunResult result : results) {
      BenchmarkParams params = result.getParams();
      String inFlight = params.getParam("inFlight");
      String row =
          "| %s | %s | %s |".formatted(params.getParam("kind"), params.getParam("keys"), inFlight);
      double adds = result.getPrimaryResult().getScore() * Integer.parseInt(inFlight);
      rows.computeIfAbsent(row, key -> new LinkedHashMap<>()).put(params.getParam("target"), adds);
    }
    StringBuilder table = new StringBuilder(head());
    rows.forEach((row, targets) -> {
      double engine = targets.getOrDefault("engine", Double.NaN);
      double rocks = targets.getOrDefault("rocksdb", Double.NaN);
      table.append(
          String.format(
              Locale.ROOT, "%s %,.0f | %,.0f | %.1f |%n", row, engine, rocks, engine / rocks));
    });
    return table.toString();
  }

  private static String head() throws IOException {
    return """
    # Benchmarks

    Durable adds per second in process: a group of adds is on disk before the call returns.
    `exactly-once`: each with a unique request id; `bounded`: the same with a floor and a ceiling.
    RocksDB does the same work, marker and counter, in one synced batch per group. Only the ratios
    carry over to other machines. Drivers compared with raw clients: [stores](benchmarks-stores.md).

    Measured by `./dev bench engine` on %s.

    | adds | counters | in flight | engine | RocksDB | ratio |
    |---|---|---|---|---|---|
    """
        .formatted(machine());
  }

  private static String storesHead() throws IOException {
    return """
    # Benchmarks of drivers

    Adds per second to one hot number, through `Store` and the driver, compared with a raw client,
    in turns of a second each: medians of 21 turns, and the minimum and maximum ratio of two turns.
    The servers run on the same machine, with durable writes if they support them. Only the ratios
    carry over to other machines. All drivers but that of memcached combine adds that wait for the
    same item: see [combining](benchmarks-combining.md).

    Measured by `./dev bench stores` on %s.

    | store | raw client's call | clients | through Quipu | raw | ratio | range of ratios |
    |---|---|---|---|---|---|---|
    """
        .formatted(machine());
  }

  private static String combiningHead() throws IOException {
    return """
    # Benchmark of combined adds

    Adds per second under new request ids to one counter, by `marker-item` through `Store` and the
    driver, by this number of clients that each wait for their result: with the default
    `combine=on`, and with `combine=off`, one transaction for each add. In alternating turns of 2 s
    on one server on the same machine, with durable writes: medians of 7 turns after one that warms
    up, and the minimum and maximum ratio of two turns. The last column is the mean number of adds
    in a transaction with `combine=on`. A ratio is the median of those of two turns in a row. Adds
    that the store rejects because of conflicts are repeated, and the counter must equal the applied
    adds at the end. Only the ratios carry over to other machines; DynamoDB Local executes one
    request at a time, and DynamoDB does not.

    Measured by `./dev bench combining` on %s.

    | store | clients | combined | single | ratio | range of ratios | adds in a transaction |
    |---|---|---|---|---|---|---|
    """
        .formatted(machine());
  }

  private static String ingestHead() throws IOException {
    return """
    # Benchmark of the queue consumer

    Messages per second from an SQS server (ElasticMQ) on the same machine. The consumer counts each
    view exactly once and durably on the engine before it deletes the message; the bare loop only
    receives and deletes, with the same client. They alternate in turns of 20,000 messages. The
    table shows the medians of 7 turns, and the minimum and maximum ratio of two turns. Only the
    ratios carry over to other machines.

    Measured by `./dev bench ingest` on %s.

    | pollers | consumer | bare loop | ratio | range of ratios |
    |---|---|---|---|---|
    """
        .formatted(machine());
  }

  private static String sequencesHead() throws IOException {
    return """
    # Benchmark of gap-free numbers

    Numbers per second of one series, each with its record and a request id, durable before it is
    returned: by `SequenceOfRecords` on the engine and on PostgreSQL, in process, compared with
    the usual pattern of PostgreSQL: a counter row, and the record in the same transaction. In
    turns of two seconds: medians of 7 turns. Only the ratios carry over to other machines.

    Measured by `./dev bench sequences` on %s.

    | clients | engine | PostgreSQL | counter row | engine : row | PostgreSQL : row |
    |---|---|---|---|---|---|
    """
        .formatted(machine());
  }

  private static String transactionsHead() throws IOException {
    return """
    # Benchmark of transactions and holds

    Per second in process, in groups that are durable when the call returns, in turns of a second on
    one engine: medians of 7 turns. An add has a request id and bounds; a transaction adds to two
    counters, and counts as two; a hold is placed and then settled, in two groups. The ratio is
    that of adds in transactions to single adds.

    Measured by `./dev bench transactions` on %s.

    | in flight | adds | adds in transactions | ratio | holds settled |
    |---|---|---|---|---|
    """
        .formatted(machine());
  }

  private static long idsMax(String[] arguments) {
    return arguments.length > 2 ? Long.parseLong(arguments[2]) : 128_000_000;
  }

  private static long countersMax(String[] arguments) {
    return arguments.length > 2 ? Long.parseLong(arguments[2]) : 100_000_000;
  }

  private static String largeHead() throws IOException {
    return """
    # Benchmark of a large state

    A process with a heap of 7 GiB writes counters with names of 16 letters, each of them once,
    under a request id, in groups of 4,096; then it is killed. A second one opens the directory,
    of whose log much is newer than the last snapshot. It compares the number of counters, and
    of 100,000 of them at random the value and the replay, to what was written. It takes a
    snapshot, adds to 1,000,000 counters, and is killed. A third one opens the directory and
    compares again: that is the usual case. All counters are in memory; request ids are on disk,
    except for the newest ones. Memory is what the process has for itself; mapped files are in
    it, too, until memory is short.

    Measured by `./dev bench large` on %s.

    | counters and ids | written/s | memory of the first, MiB | mapped, MiB | on disk, MiB \
    | s to open, second process | memory of it, MiB | mapped, MiB | s to open, third process |
    |---|---|---|---|---|---|---|---|---|
    """
        .formatted(machine());
  }

  private static String pastHead() throws IOException {
    return """
    # Benchmark of the past and of changes

    Adds per second to 100,000 counters, in process, in groups of 1,024, which are not synced: what
    they cost more if the engine keeps [the past](http.md#the-past) of all counters, and if a
    program reads [which changed](http.md#changes-as-they-happen). Turns of 0.25 s that alternate,
    240 of each; the means, in which three ends of a minute are, the ratios of means to that of the
    first row, and the quartiles of the ratios of rounds.

    Measured by `./dev bench past` on %s.

    | | adds per second | ratio | half of the rounds |
    |---|---|---|---|
    """
        .formatted(machine());
  }

  private static String streamsHead() throws IOException {
    return """
    # Benchmark of streams

    Adds per second over the Redis protocol to 10,000 counters (%d connections, pipeline 16), and
    how much fewer they are while %d [streams of changes](http.md#changes-as-they-happen) are open
    and read. They are not synced: the processor is what streams take from adds. Turns of 2 s
    that alternate, 40 of each; the means, their ratios to that of the first row, and the quartiles
    of the ratios of rounds. The server has one core; the adds and the readers share the other.

    Measured by `./dev bench streams` on %s.

    | streams | adds per second | ratio | half of the rounds |
    |---|---|---|---|
    """
        .formatted(Workload.CONNECTIONS, StreamCosts.STREAMS, machine());
  }

  private static String pageHead() throws IOException {
    return """
    # Benchmark of the page

    What [the page](../guides/page.md) costs a browser while 50,000 times a second one of 100,000
    counters changes: Chromium draws a frame every 16.7 ms, and a trace of 20 s shows how long its
    main thread worked between two frames (scripts, layout, and all else), in milliseconds of the
    processor. Memory in MB: the heap of the scripts, and what the process of the page has for
    itself; an empty page has about 20 MB. Then what the stream transfers, in MB per second.

    Measured by `./dev bench page` on %s, whose two cores the server and the load share.

    | page | 95 %% of frames | longest frame | heap | process | stream |
    |---|---|---|---|---|---|
    """
        .formatted(machine());
  }

  private static String scaleHead() throws IOException {
    return """
    # Benchmark of scale

    Adds per second under new request ids to 10,000 counters, in process, in groups of 4,096 that
    are durable when the call returns, by the number of ids that the engine remembers: the time from
    the number of the row before to that of the row, in which files of ids are written, merged and
    deleted. Files and megabytes are those of the ids on disk at its end, of which some are deleted
    after the next snapshot. In the first row, the JVM compiles. The heap has 8 GiB, of which an
    eighth is for the index of ids: enough for all of them.

    Measured by `./dev bench scale` on %s.

    | ids | adds per second | ns per add | files | MB |
    |---|---|---|---|---|
    """
        .formatted(machine());
  }

  private static int minutes(String[] arguments) {
    return arguments.length > 2 ? Integer.parseInt(arguments[2]) : 10;
  }

  private static String tailsHead() throws IOException {
    return """
    # Benchmark of tail latencies

    Adds on a fixed schedule, at half of the rate of Redis in a closed loop (pipeline 1, 10,000 of
    1,000,000 counters, %d connections), for a minute each, on disk before the reply. Latency starts
    when a request is due, not when it is sent: a stall counts for all requests that were due in it.
    Before each minute there is a burst of 30 s of adds under ids, so that Quipu has ids to seal and
    to merge, and it takes a snapshot after each 16 MiB of log. Redis with `appendfsync always` has
    the same burst, and rewrites its log every 15 s. In each minute, 1,000 other counters expire
    every second. The servers share a core, the generator has the other. The first row is the disk
    alone: a write of 4 KiB and its sync, one after the other, for 20 s. Milliseconds.

    Measured by `./dev bench tails` on %s.

    | adds | server | rate/s | p50 | p99 | p99.9 | p99.99 | max | meanwhile |
    |---|---|---|---|---|---|---|---|---|
    """
        .formatted(Workload.CONNECTIONS, machine());
  }

  private static String onceHead() throws IOException {
    return """
    # Benchmark of exactly once over many minutes

    Adds per second under new request ids to 10,000 counters over the Redis protocol, pipeline 128,
    %d connections, on disk before the reply, by the number of ids that Quipu remembers: all of
    them, of which most are on disk. The peer is Redis with `appendfsync always` and the script of
    [the other ports](benchmarks-ports.md), whose log is never rewritten. Turns of 5 s that
    alternate, after four of each that do not count, in which the JVM compiles; a row has medians of
    6 rounds: of the rates, and of the ratios with their range. The servers share a core, the
    generator has the other. After each turn the sum of the counters must equal what was
    acknowledged.

    Measured by `./dev bench once` on %s.

    | ids | Quipu/s | Redis/s | ratio | range of the ratio |
    |---|---|---|---|---|
    """
        .formatted(Workload.CONNECTIONS, machine());
  }

  private static String httpHead() throws IOException {
    return """
    # Benchmark of HTTP

    Adds per second under request ids to 10,000 counters over HTTP, durable before the reply, by
    `POST /v1/counters/{name}/add` and by `POST /v1/counters/bulk`. The peer of single adds is the
    least that a server on Netty with its default transport does: it reads a request and sends the
    same bytes each time, and counts nothing. Quipu uses io_uring where there is one. The peer of
    bulk requests is Quipu's own port of the Redis protocol, with as many adds in flight.

    One generator with %d connections (the Redis protocol: %d), each of which waits for the reply
    before it sends the next request. The servers share a core, the generator has the other. Turns
    of 1 s, the median of 31 rounds, and the range of the ratios of rounds. After each turn the sum
    of the counters must equal what was acknowledged.

    Measured by `./dev bench http` on %s.

    | adds | peer | Quipu/s | peer/s | ratio | of rounds |
    |---|---|---|---|---|---|
    """
        .formatted(HttpLoop.CONNECTIONS, Workload.CONNECTIONS, machine());
  }

  private static String holdsHead() {
    return """

    ## Holds over the Redis protocol

    Holds per second that were placed and settled, durable before each reply, of Quipu's server by
    `QUIPU.HOLD` and `QUIPU.SETTLE`, and of Redis with `appendfsync always` by scripts that store a
    hold, reserve within a ceiling and settle once. Redis releases no expired holds: that takes
    another process. Its append-only file is not rewritten, which would slow down both.

    One generator with %d connections; each places a pipeline of holds, waits for all replies, and
    settles them. The servers share a core, the generator has the other. Quipu's server, which has a
    JIT compiler, is warmed up by 14 turns. Turns of 3 s, the median of 7 rounds, and the range of
    the ratios of rounds. After each turn the sum of the counters must equal what was settled.

    | pipeline | Quipu | Redis | ratio | of rounds |
    |---|---|---|---|---|
    """
        .formatted(Workload.CONNECTIONS);
  }

  private static String sequenceCostsHead() throws IOException {
    return """
    # Cost of a number and of a live count

    Microseconds per call, in process, on PostgreSQL on the same machine, with durable commits, when
    a series has this number of records: medians of 300 calls, the lowest of 3. Each call is made by
    new objects, as of a process that has just started and remembers no number. The first four
    columns must not grow with the number of records, except by the depth of the index; counting
    every record does. The columns that write contain the time of a durable commit, which varies
    with everything else that uses the disk.

    - highest number: `SequenceOfRecords.last`, one query in descending order;
    - new number: `SequenceOfRecords.add`, this query and one write;
    - count: `RevisionLog.count`, one read of the newest revision;
    - insert: `RevisionLog.write`, which computes the new count;
    - count by scan: a scan of all revisions, in milliseconds, once.

    Measured by `./dev bench sequence-costs` on %s.

    | records | highest number | new number | count | insert | count by scan (ms) |
    |---|---|---|---|---|---|
    """
        .formatted(machine());
  }

  private static String machine() throws IOException {
    Path cpuInfo = Path.of("/proc/cpuinfo");
    String cpu = "unknown processor";
    if (Files.exists(cpuInfo)) {
      cpu =
          Files.readAllLines(cpuInfo).stream()
              .filter(line -> line.startsWith("model name"))
              .findFirst()
              .map(line -> line.substring(line.indexOf(':') + 1).strip())
              .orElse(cpu);
    }
    return "%s: %s, %d cores, %s, Java %s"
        .formatted(
            LocalDate.now(ZoneOffset.UTC),
            cpu,
            Runtime.getRuntime().availableProcessors(),
            System.getProperty("os.name") + " " + System.getProperty("os.version"),
            System.getProperty("java.version"));
  }
}
