package dev.quipu.bench.library;

import dev.quipu.Add;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The same on RocksDB, tuned: values in a map in memory, as in the engine; counters and markers in
 * two column families; a filter for markers; direct buffers; one synced batch per group.
 */
public final class RocksTarget implements Target {
  private static final int MARKER_BYTES = 20;
  private static final int ANSWER_BYTES = 16;

  private final DBOptions options =
      new DBOptions().setCreateIfMissing(true).setCreateMissingColumnFamilies(true);
  private final ColumnFamilyOptions counterOptions = new ColumnFamilyOptions();
  private final ColumnFamilyOptions markerOptions =
      new ColumnFamilyOptions()
          .setWriteBufferSize(256L << 20)
          .setTableFormatConfig(
              new BlockBasedTableConfig().setFilterPolicy(new BloomFilter(12, false)));
  private final List<ColumnFamilyHandle> families = new ArrayList<>();
  private final WriteOptions synced = new WriteOptions().setSync(true);
  private final RocksDB database;
  private final Map<String, Long> values = new HashMap<>();
  private final Map<String, Integer> ordinals = new HashMap<>();
  private final Set<RequestId> group = new HashSet<>();
  private final byte[] marker = new byte[MARKER_BYTES];
  private final byte[] found = new byte[ANSWER_BYTES];
  private final ByteBuffer markerKey = ByteBuffer.allocateDirect(MARKER_BYTES);
  private final ByteBuffer answer = ByteBuffer.allocateDirect(ANSWER_BYTES);

  /** Opens a database in this directory. */
  public RocksTarget(Path directory) throws RocksDBException {
    RocksDB.loadLibrary();
    database =
        RocksDB.open(
            options,
            directory.toString(),
            List.of(
                new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, counterOptions),
                new ColumnFamilyDescriptor(
                    "markers".getBytes(StandardCharsets.UTF_8), markerOptions)),
            families);
  }

  @Override
  public int addAll(List<Add> adds) throws RocksDBException {
    int applied = 0;
    Map<String, Long> changed = new HashMap<>();
    group.clear();
    try (WriteBatch batch = new WriteBatch()) {
      for (Add add : adds) {
        RequestId id = add.id();
        if (id != null && isRepeat(add.counter(), id)) {
          continue;
        }
        long value = values.getOrDefault(add.counter(), 0L);
        if (Rejection.of(value, add.delta(), add.bounds()) != null) {
          continue;
        }
        long after = value + add.delta();
        values.put(add.counter(), after);
        changed.put(add.counter(), after);
        if (id != null) {
          answer.clear().putLong(add.delta()).putLong(after).flip();
          markerKey.clear().put(marker).flip();
          batch.put(families.get(1), markerKey, answer);
        }
        applied++;
      }
      byte[] bytes = new byte[Long.BYTES];
      for (Map.Entry<String, Long> each : changed.entrySet()) {
        ByteBuffer.wrap(bytes).putLong(each.getValue());
        batch.put(each.getKey().getBytes(StandardCharsets.UTF_8), bytes);
      }
      database.write(synced, batch);
    }
    return applied;
  }

  /** Returns whether the marker exists; leaves its key in {@link #marker}. */
  private boolean isRepeat(String counter, RequestId id) throws RocksDBException {
    int ordinal = ordinals.computeIfAbsent(counter, name -> ordinals.size());
    ByteBuffer.wrap(marker).putInt(ordinal).putLong(id.high()).putLong(id.low());
    return !group.add(id) || database.get(families.get(1), marker, found) != RocksDB.NOT_FOUND;
  }

  @Override
  public void close() {
    families.forEach(ColumnFamilyHandle::close);
    database.close();
    synced.close();
    markerOptions.close();
    counterOptions.close();
    options.close();
  }
}
