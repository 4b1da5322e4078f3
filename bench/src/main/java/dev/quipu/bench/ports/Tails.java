package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.AddKind;
import dev.quipu.bench.ports.load.ControlConnection;
import dev.quipu.bench.ports.load.Dialect;
import dev.quipu.bench.ports.load.RequestNumbers;
import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.Processes;
import dev.quipu.bench.ports.subject.QuipuServer;
import dev.quipu.bench.ports.subject.WireSubject;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import dev.quipu.time.Periodic;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/**
 * Latencies in an open loop while a server is busy with its files and with keys that expire: Quipu
 * seals and merges ids and takes snapshots, and Redis rewrites its log.
 */
public final class Tails {
  private static final Duration TURN = Duration.ofSeconds(60);
  private static final Duration CLOSED = Duration.ofSeconds(10);

  /** Before each turn, so that there is a backlog of ids to seal and merge, and of log. */
  private static final Duration BUSY = Duration.ofSeconds(30);

  private static final Duration REWRITE_EVERY = Duration.ofSeconds(15);
  private static final int PIPELINE = 128;
  private static final int KEYS = 1_000_000; // of which the adds are to some
  private static final int EXPIRING = 60_000; // in a turn
  private static final String SNAPSHOT_AFTER = "16m"; // otherwise a turn would have none
  private static final Duration SYNCS = Duration.ofSeconds(20);
  private static final int SYNC_BYTES = 4_096;
  private static final double SHARE = 0.5; // of the rate of Redis in a closed loop
  private static final Pattern SEALS = Pattern.compile("quipu_engine_seals_seconds_count (\\d+)");
  private static final Pattern SNAPSHOTS =
      Pattern.compile("quipu_engine_checkpoints_seconds_count (\\d+)");

  private final QuipuServer server;
  private final WireSubject quipu;
  private final WireSubject redis;
  private final StringBuilder rows = new StringBuilder();

  private Tails(QuipuServer server, WireSubject quipu, WireSubject redis) {
    this.server = server;
    this.quipu = quipu;
    this.redis = redis;
  }

  /** Returns the rows of the table. */
  public static String measure() throws Exception {
    boolean isPinned = Processes.canPin();
    List<String> before = isPinned ? Processes.pinned(Processes.SERVERS_CORE) : List.of();
    RequestNumbers numbers = new RequestNumbers();
    try (QuipuServer quipu =
            QuipuServer.start(before, false, List.of("--snapshot-after", SNAPSHOT_AFTER));
        RedisServer redis = RedisServer.start(HoldRates.REDIS_OPTIONS)) {
      if (isPinned) {
        Processes.pin(redis.pid(), Processes.SERVERS_CORE);
        Processes.pinOne(ProcessHandle.current().pid(), Processes.OWN_CORE);
      }
      Tails tails =
          new Tails(
              quipu,
              new WireSubject("Quipu", Dialect.QUIPU, quipu.port(), quipu.pid(), numbers),
              new WireSubject("Redis", Dialect.REDIS, redis.port(), redis.pid(), numbers));
      tails.fill(quipu.port(), Dialect.QUIPU);
      tails.fill(redis.port(), Dialect.REDIS);
      tails.syncs(quipu.directory());
      tails.turns(AddKind.PLAIN);
      tails.turns(AddKind.ONCE);
      return tails.rows.toString();
    }
  }

  private void fill(int port, Dialect dialect) throws IOException {
    try (ControlConnection control = new ControlConnection(port, dialect)) {
      control.addToOthers(KEYS - Workload.KEYS_MAX);
    }
  }

  private static void expire(WireSubject subject, Dialect dialect) throws IOException {
    try (ControlConnection control = new ControlConnection(subject.port(), dialect)) {
      control.expireAll(EXPIRING, (int) TURN.toSeconds());
    }
  }

  /** Measures writes that are synced, one after the other, while nothing else uses the disk. */
  private void syncs(Path directory) throws IOException {
    Histogram latencies = new Histogram(3);
    Path path = directory.resolve("syncs");
    try (FileChannel file =
        FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      ByteBuffer page = ByteBuffer.allocateDirect(SYNC_BYTES);
      file.write(page, 0);
      long begun = Clock.system().nanoTime();
      long now = begun;
      while (now - begun < SYNCS.toNanos()) {
        file.write(page.clear(), 0);
        file.force(false);
        long ended = Clock.system().nanoTime();
        latencies.recordValue(ended - now);
        now = ended;
      }
    }
    Files.delete(path);
    double perSecond = (double) latencies.getTotalCount() / SYNCS.toSeconds();
    row("-", "a sync of the disk", perSecond, latencies, "-");
  }

  private void turns(AddKind kind) throws Exception {
    Workload workload = new Workload(kind, Workload.KEYS_MAX, 1);
    Workload busy = new Workload(AddKind.ONCE, Workload.KEYS_MAX, PIPELINE);
    var unusedWarmUp = quipu.measure(workload, CLOSED);
    double rate = redis.measure(workload, CLOSED).perSecond() * SHARE;
    var unusedBusy = quipu.measure(busy, BUSY);
    long seals = metric(SEALS);
    long snapshots = metric(SNAPSHOTS);
    expire(quipu, Dialect.QUIPU);
    Histogram own = quipu.open(workload, rate, TURN).latencies();
    String work =
        "ids sealed %d times, %d snapshots"
            .formatted(metric(SEALS) - seals, metric(SNAPSHOTS) - snapshots);
    row(kind.toString(), quipu.name(), rate, own, work);
    var unusedBusyRedis = redis.measure(busy, BUSY);
    expire(redis, Dialect.REDIS);
    Periodic rewriting = new Periodic("rewriting", REWRITE_EVERY, () -> rewrite(redis.port()));
    try {
      Histogram other = redis.open(workload, rate, TURN).latencies();
      row(kind.toString(), redis.name(), rate, other, "log rewritten");
    } finally {
      rewriting.close();
    }
  }

  private static void rewrite(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write("BGREWRITEAOF\r\n".getBytes(StandardCharsets.US_ASCII));
      socket.getInputStream().read(); // the reply begins
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private long metric(Pattern name) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://127.0.0.1:%d/metrics".formatted(server.http()));
      String text =
          client
              .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
              .body();
      Matcher matcher = name.matcher(text);
      if (!matcher.find()) {
        throw new IllegalStateException(name + " is not among the metrics");
      }
      return Long.parseLong(matcher.group(1));
    }
  }

  private void row(String kind, String name, double rate, Histogram latencies, String work) {
    String row =
        String.format(
            Locale.ROOT,
            "| %s | %s | %,.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %s |%n",
            kind,
            name,
            rate,
            latencies.getValueAtPercentile(50) / 1e6,
            latencies.getValueAtPercentile(99) / 1e6,
            latencies.getValueAtPercentile(99.9) / 1e6,
            latencies.getValueAtPercentile(99.99) / 1e6,
            latencies.getMaxValue() / 1e6,
            work);
    System.err.print(row);
    rows.append(row);
  }
}
