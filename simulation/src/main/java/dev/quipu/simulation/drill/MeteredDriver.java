package dev.quipu.simulation.drill;

import dev.quipu.Limits;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Measures what calls would cost on DynamoDB: one unit per 1,024 bytes written and per 4,096 bytes
 * read, twice as much in a transaction; a write costs the same if its condition fails. Sizes are
 * those of keys, names and values. Stores do not return the items of a batch, so an update in a
 * batch counts as one unit.
 *
 * <p>May add latency, to simulate a remote store.
 */
final class MeteredDriver implements BatchDriver, ScanDriver {
  private static final int WRITE_BYTES = 1_024;
  private static final int READ_BYTES = 4_096;
  private static final double QUEUED_PART =
      0.85; // varying fraction of the latency, as in a queue; measured
  private static final double READ_PART_BEFORE =
      0.5; // fraction of the latency before the item is read
  private static final double WRITE_PART_BEFORE =
      0.8; // fraction of the latency before the item is visible to others

  private final StoreDriver driver;
  private final Clock clock;
  private final RandomGenerator random;
  private final Way reading;
  private final Way writing;
  private final LongAdder readUnits = new LongAdder();
  private final LongAdder writeUnits = new LongAdder();

  /** Calls of one kind: their intended and their measured latency. */
  private static final class Way {
    final long latencyNanos;
    final double partBefore;
    final LongAdder nanos = new LongAdder();
    final LongAdder calls = new LongAdder();

    Way(Duration latency, double partBefore) {
      latencyNanos = latency.toNanos();
      this.partBefore = partBefore;
    }

    Duration mean() {
      return Duration.ofNanos(nanos.sum() / Math.max(1, calls.sum()));
    }
  }

  /**
   * Wraps a driver.
   *
   * @param random varies the latency
   * @param readLatency additional latency of reads, on average
   * @param writeLatency additional latency of writes, on average
   */
  MeteredDriver(
      StoreDriver driver,
      Clock clock,
      RandomGenerator random,
      Duration readLatency,
      Duration writeLatency) {
    this.driver = driver;
    this.clock = clock;
    this.random = random;
    this.reading = new Way(readLatency, READ_PART_BEFORE);
    this.writing = new Way(writeLatency, WRITE_PART_BEFORE);
  }

  /** Returns the mean latency of reads. */
  Duration meanRead() {
    return reading.mean();
  }

  /** Returns the mean latency of writes. */
  Duration meanWrite() {
    return writing.mean();
  }

  long readUnits() {
    return readUnits.sum();
  }

  long writeUnits() {
    return writeUnits.sum();
  }

  @Override
  public StoreProfile profile() {
    return driver.profile();
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    Optional<Item> found = thereAndBack(reading, () -> driver.get(key, consistency));
    readUnits.add(units(found.map(MeteredDriver::bytes).orElse(0L), READ_BYTES));
    return found;
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    List<Optional<Item>> found = thereAndBack(reading, () -> BatchDriver.of(driver).getAll(keys));
    for (Optional<Item> each : found) {
      readUnits.add(2 * units(each.map(MeteredDriver::bytes).orElse(0L), READ_BYTES));
    }
    return found;
  }

  @Override
  public Page scan(Scan scan) {
    Page page = thereAndBack(reading, () -> ScanDriver.of(driver).scan(scan));
    long bytes = page.items().stream().mapToLong(MeteredDriver::bytes).sum();
    readUnits.add(units(bytes, READ_BYTES));
    return page;
  }

  @Override
  public WriteResult write(Write write) {
    WriteResult result = thereAndBack(writing, () -> driver.write(write));
    long bytes =
        switch (result) {
          case WriteResult.Applied applied -> applied.after().map(MeteredDriver::bytes).orElse(0L);
          case WriteResult.ConditionFailed failed ->
              failed.found().map(MeteredDriver::bytes).orElse(0L);
        };
    writeUnits.add(units(bytes, WRITE_BYTES));
    return result;
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    WriteResult result =
        thereAndBack(writing, () -> BatchDriver.of(driver).writeAll(writes, token));
    for (Write write : writes) {
      long bytes = write instanceof Write.Put put ? bytes(put.key(), put.fields()) : 0;
      writeUnits.add(2 * units(bytes, WRITE_BYTES));
    }
    return result;
  }

  @Override
  public void close() {
    driver.close();
  }

  private <T> T thereAndBack(Way way, Supplier<T> call) {
    long start = clock.nanoTime();
    pause(way, way.partBefore);
    T answer = call.get();
    pause(way, 1 - way.partBefore);
    way.nanos.add(clock.nanoTime() - start);
    way.calls.increment();
    return answer;
  }

  private void pause(Way way, double part) {
    if (way.latencyNanos == 0) {
      return;
    }
    double varied =
        1 - QUEUED_PART - QUEUED_PART * StrictMath.log(1 - random.nextDouble()); // mean: 1
    try {
      clock.sleep(Duration.ofNanos(Math.round(part * way.latencyNanos * varied)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private static long units(long bytes, int each) {
    return Math.max(1, Math.ceilDiv(bytes, (long) each));
  }

  private static long bytes(Item item) {
    return bytes(item.key(), item.fields());
  }

  private static long bytes(Key key, Map<String, Field> fields) {
    long bytes = Limits.utf8Length(key.partition()) + (long) Limits.utf8Length(key.sort());
    for (Map.Entry<String, Field> field : fields.entrySet()) {
      bytes += Limits.utf8Length(field.getKey());
      bytes +=
          switch (field.getValue()) {
            case Field.Number number -> 8;
            case Field.Text text -> Limits.utf8Length(text.value());
            case Field.Tokens tokens ->
                tokens.values().stream().mapToLong(Limits::utf8Length).sum();
          };
    }
    return bytes;
  }
}
