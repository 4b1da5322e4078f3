package dev.quipu.verify.drill;

import dev.quipu.Limits;
import dev.quipu.store.Consistency;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Page;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
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
import org.jspecify.annotations.Nullable;

/**
 * Measures what calls would cost on DynamoDB: a unit for each 1,024 bytes that are written and each
 * 4,096 that are read, twice as much in a transaction, and a write costs the same if its condition
 * fails. Sizes are those of keys, names and values. What a batch leaves is not told by stores, so
 * an update in a batch counts as one unit.
 *
 * <p>May also be slow, as a store far away is.
 */
final class MeteredDriver implements StoreDriver {
  private static final int WRITE_BYTES = 1_024;
  private static final int READ_BYTES = 4_096;

  private final StoreDriver driver;
  private final Clock clock;
  private final Duration halfWay;
  private final LongAdder readUnits = new LongAdder();
  private final LongAdder writeUnits = new LongAdder();

  /**
   * Measures a driver.
   *
   * @param latency how long each call takes beside its own time
   */
  MeteredDriver(StoreDriver driver, Clock clock, Duration latency) {
    this.driver = driver;
    this.clock = clock;
    this.halfWay = latency.dividedBy(2);
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
    Optional<Item> found = thereAndBack(() -> driver.get(key, consistency));
    readUnits.add(units(found.map(MeteredDriver::bytes).orElse(0L), READ_BYTES));
    return found;
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    List<Optional<Item>> found = thereAndBack(() -> driver.getAll(keys));
    for (Optional<Item> each : found) {
      readUnits.add(2 * units(each.map(MeteredDriver::bytes).orElse(0L), READ_BYTES));
    }
    return found;
  }

  @Override
  public Page scan(Scan scan) {
    Page page = thereAndBack(() -> driver.scan(scan));
    long bytes = page.items().stream().mapToLong(MeteredDriver::bytes).sum();
    readUnits.add(units(bytes, READ_BYTES));
    return page;
  }

  @Override
  public WriteResult write(Write write) {
    WriteResult result = thereAndBack(() -> driver.write(write));
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
    WriteResult result = thereAndBack(() -> driver.writeAll(writes, token));
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

  private <T> T thereAndBack(Supplier<T> call) {
    pause();
    T answer = call.get();
    pause();
    return answer;
  }

  private void pause() {
    if (halfWay.isZero()) {
      return;
    }
    try {
      clock.sleep(halfWay);
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
