package dev.quipu.bench.library;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.RequestId;
import dev.quipu.testservers.DataDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Groups of durable adds: one call adds one group, which is synced before it returns. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class DurableAdds {
  /** Adds per sync. */
  @Param({"1", "16", "64", "1024", "8192"})
  public int inFlight = 1;

  /** Kind of the adds. */
  @Param({"plain", "exactly-once", "bounded"})
  public String kind = "plain";

  /** Number of counters. */
  @Param({"1", "10000"})
  public int keys = 1;

  /** The measured library. */
  @Param({"engine", "rocksdb"})
  public String target = "engine";

  private Path directory = Path.of("");
  private Target counting = adds -> 0; // until one is opened
  private String[] names = {};
  private long sequence;

  /** Creates the benchmark; for JMH. */
  public DurableAdds() {}

  /** Opens the target in an empty directory. */
  @Setup(Level.Trial)
  public void open() throws Exception {
    directory = Files.createTempDirectory(Path.of(System.getProperty("bench.dir", ".")), "bench");
    counting = target.equals("engine") ? new EngineTarget(directory) : new RocksTarget(directory);
    names = new String[keys];
    for (int i = 0; i < keys; i++) {
      names[i] = "counter/" + i;
    }
  }

  /** Closes the target and removes the directory. */
  @TearDown(Level.Trial)
  public void close() {
    counting.close();
    DataDirectory.delete(directory);
  }

  /** Adds one group. */
  @Benchmark
  public int add() throws Exception {
    List<Add> adds = new ArrayList<>(inFlight);
    for (int i = 0; i < inFlight; i++) {
      long number = sequence++;
      // Deterministic; distributed like the ids of real clients.
      long high = number * 0x9E3779B97F4A7C15L;
      String name = names[(int) Long.remainderUnsigned(high, keys)];
      adds.add(
          switch (kind) {
            case "plain" -> new Add(name, 1, null);
            case "exactly-once" -> new Add(name, 1, RequestId.of(high, number));
            default -> new Add(name, 1, Bounds.between(0, 1L << 60), RequestId.of(high, number));
          });
    }
    int applied = counting.addAll(adds);
    if (applied != inFlight) {
      throw new IOException("only " + applied + " of " + inFlight + " were applied");
    }
    return applied;
  }
}
