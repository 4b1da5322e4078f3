package dev.quipu.bench.ports.subject;

import dev.quipu.Add;
import dev.quipu.RequestId;
import dev.quipu.bench.library.RocksTarget;
import dev.quipu.bench.ports.load.AddKind;
import dev.quipu.bench.ports.load.Request;
import dev.quipu.bench.ports.load.RequestNumbers;
import dev.quipu.bench.ports.load.Workload;
import dev.quipu.testservers.DataDirectory;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.RocksDBException;

/** RocksDB in this process, without a network; the adds in flight share a sync. */
public final class RocksSubject implements Subject, AutoCloseable {
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private final Path directory = Files.createTempDirectory("quipu-ports-rocks");
  private final RocksTarget target = new RocksTarget(directory);
  private final RequestNumbers numbers;

  public RocksSubject(RequestNumbers numbers) throws IOException, RocksDBException {
    this.numbers = numbers;
  }

  @Override
  public String name() {
    return "RocksDB in process";
  }

  @Override
  public Measurement measure(Workload workload, Duration time) throws RocksDBException {
    long start = Clock.system().nanoTime();
    long applied = 0;
    long asked = 0;
    while (Clock.system().nanoTime() - start < time.toNanos()) {
      applied += target.addAll(adds(workload));
      asked += workload.inFlight();
    }
    long nanos = Clock.system().nanoTime() - start;
    if (applied != asked) {
      throw new WrongCountException(name(), workload, asked, applied);
    }
    return new Measurement(applied, applied / (nanos / 1e9), Cpu.UNKNOWN);
  }

  private List<Add> adds(Workload workload) {
    List<Add> adds = new ArrayList<>(workload.inFlight());
    for (int i = 0; i < workload.inFlight(); i++) {
      long number = numbers.next();
      String name = Request.key(RequestNumbers.key(number, workload.keys()));
      boolean once = workload.kind() == AddKind.ONCE;
      adds.add(new Add(name, 1, once ? RequestId.of(number * SPREAD, number) : null));
    }
    return adds;
  }

  @Override
  public void close() {
    target.close();
    DataDirectory.delete(directory);
  }
}
