package dev.quipu.bench.library;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.testservers.DataDirectory;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.UInt64AddOperator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Plain adds to counters at random, in groups that are on disk before the next one is sent, by the
 * number of counters: the engine, RocksDB and Redis in alternating turns.
 */
public final class Growth {
  private static final int GROUP = 1_000;
  private static final int ROUNDS = 5;
  private static final Duration TURN = Duration.ofSeconds(2);
  private static final long SPREAD = 0x9E3779B97F4A7C15L;
  private static final List<Integer> COUNTERS =
      List.of(1_000, 10_000, 100_000, 1_000_000, 10_000_000);

  private final int counters;
  private final Clock clock = Clock.system();
  private long sequence;

  private Growth(int counters) {
    this.counters = counters;
  }

  /** Adds 1 to each of these counters; returns when all of it is on disk. */
  private interface Subject extends Closeable {
    void add(long[] counters) throws IOException, RocksDBException;
  }

  /** Returns the rows of the table. */
  public static String measure(long countersMax) throws IOException, RocksDBException {
    StringBuilder rows = new StringBuilder();
    for (int counters : COUNTERS) {
      if (counters <= countersMax) {
        String row = new Growth(counters).row();
        System.err.print(row);
        rows.append(row);
      }
    }
    return rows.toString();
  }

  private String row() throws IOException, RocksDBException {
    Path directory = Files.createTempDirectory("quipu-growth");
    try (Subject quipu = new OfEngine(directory.resolve("quipu"));
        Subject rocks = new OfRocks(directory.resolve("rocks"));
        Subject redis = new OfRedis()) {
      List<Subject> subjects = List.of(quipu, rocks, redis);
      for (Subject each : subjects) {
        create(each);
        rate(each); // warms up
      }
      List<double[]> rounds = new ArrayList<>();
      for (int round = 0; round < ROUNDS; round++) {
        rounds.add(new double[] {rate(quipu), rate(rocks), rate(redis)});
      }
      return String.format(
          Locale.ROOT,
          "| %,d | %,.0f | %,.0f | %,.0f |%n",
          counters,
          median(rounds, 0),
          median(rounds, 1),
          median(rounds, 2));
    } finally {
      DataDirectory.delete(directory);
    }
  }

  private static double median(List<double[]> rounds, int column) {
    return rounds.stream().mapToDouble(round -> round[column]).sorted().toArray()[ROUNDS / 2];
  }

  private void create(Subject subject) throws IOException, RocksDBException {
    for (long from = 0; from < counters; from += GROUP) {
      long[] group = new long[GROUP];
      for (int i = 0; i < GROUP; i++) {
        group[i] = from + i;
      }
      subject.add(group);
    }
  }

  /** Returns the adds per second of one turn. */
  private double rate(Subject subject) throws IOException, RocksDBException {
    long start = clock.nanoTime();
    long added = 0;
    long nanos = 0;
    while (nanos < TURN.toNanos()) {
      long[] group = new long[GROUP];
      for (int i = 0; i < GROUP; i++) {
        group[i] = ((sequence++ * SPREAD) >>> 1) % counters;
      }
      subject.add(group);
      added += GROUP;
      nanos = clock.nanoTime() - start;
    }
    return added / (nanos / 1e9);
  }

  private static String name(long number) {
    String digits = Long.toString(number);
    return "counter/" + "00000000".substring(digits.length()) + digits;
  }

  private static final class OfEngine implements Subject {
    private final Engine engine;

    OfEngine(Path directory) {
      engine = Engine.open(directory, EngineOptions.defaults());
    }

    @Override
    public void add(long[] counters) {
      List<Add> adds = new ArrayList<>(counters.length);
      for (long each : counters) {
        adds.add(new Add(name(each), 1, null));
      }
      for (ItemResult result : engine.addAll(adds)) {
        if (!(result instanceof AddResult.Applied)) {
          throw new IllegalStateException("not applied: " + result);
        }
      }
    }

    @Override
    public void close() {
      engine.close();
    }
  }

  /** By its operator for adding, which reads nothing and returns no value. */
  private static final class OfRocks implements Subject {
    private static final long WRITE_BUFFER_BYTES = 256L << 20;

    static {
      RocksDB.loadLibrary(); // before the fields
    }

    private final UInt64AddOperator operator = new UInt64AddOperator();
    private final Options options =
        new Options()
            .setCreateIfMissing(true)
            .setWriteBufferSize(WRITE_BUFFER_BYTES)
            .setMergeOperator(operator);
    private final WriteOptions synced = new WriteOptions().setSync(true);
    private final byte[] one =
        ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(1).array();
    private final RocksDB database;

    OfRocks(Path directory) throws RocksDBException {
      database = RocksDB.open(options, directory.toString());
    }

    @Override
    public void add(long[] counters) throws RocksDBException {
      try (WriteBatch batch = new WriteBatch()) {
        for (long each : counters) {
          batch.merge(name(each).getBytes(StandardCharsets.US_ASCII), one);
        }
        database.write(synced, batch);
      }
    }

    @Override
    public void close() {
      database.close();
      synced.close();
      options.close();
      operator.close();
    }
  }

  /** INCR in one pipeline, with {@code appendfsync always}. */
  private static final class OfRedis implements Subject {
    private final RedisServer server = RedisServer.startDurable();
    private final Socket socket;
    private final InputStream replies;

    OfRedis() throws IOException {
      socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
      socket.setTcpNoDelay(true);
      replies = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    }

    @Override
    public void add(long[] counters) throws IOException {
      StringBuilder commands = new StringBuilder();
      for (long each : counters) {
        commands.append("*2\r\n$4\r\nINCR\r\n$16\r\n").append(name(each)).append("\r\n");
      }
      socket.getOutputStream().write(commands.toString().getBytes(StandardCharsets.US_ASCII));
      for (int replied = 0; replied < counters.length; ) {
        int read = replies.read();
        if (read < 0 || read == '-') {
          throw new IOException("Redis did not count");
        }
        replied += read == '\n' ? 1 : 0;
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
      server.close();
    }
  }
}
