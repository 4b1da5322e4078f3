package dev.quipu.engine.transfer;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.HeldLock;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.recovery.DirectoryWriter;
import dev.quipu.engine.recovery.FormatFile;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.TransactionIds;
import dev.quipu.time.Randomness;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/*
 * All request ids count as added at the time of the export, and are remembered for a window from
 * then on. The files of ids are written while entries arrive; the rest is in memory until the end.
 */

/**
 * Creates a data directory from the entries of another. Nothing is kept unless {@link #end} has
 * returned. Not thread-safe.
 */
public final class DirectoryImport implements Closeable {
  /** Exists during an import: an engine rejects a directory with files that it does not know. */
  private static final String MARK = "import-is-incomplete";

  /** Maximum of the engine's own clock: ten thousand years. */
  private static final long AGE_MILLIS_MAX = 315_360_000_000_000L;

  private final Disk disk;
  private final Path directory;
  private final long identity = Randomness.secure().nextLong();
  private final State state;
  private final HeldLock lock;
  private final boolean isNew;
  private final long[] entry = new long[IdTable.STRIDE];
  private Entry.@Nullable Head head;
  private long entries;
  private boolean isComplete;
  private boolean isKept;

  private DirectoryImport(Disk disk, Path directory) throws IOException {
    this.disk = disk;
    this.directory = directory;
    Settings settings = Settings.forReading(EngineOptions.defaults().idsInMemoryMax());
    this.state = State.of(identity, settings);
    this.isNew = !disk.exists(directory);
    disk.createDirectories(directory);
    this.lock = disk.lock(directory);
    try (DiskFile mark = disk.create(directory.resolve(MARK))) {
      mark.sync();
    }
    disk.syncDirectory(directory);
    disk.createDirectories(IdFiles.directory(directory));
    disk.createDirectories(Log.directory(directory));
  }

  /**
   * Begins a new data directory.
   *
   * @throws QuipuException if the directory is not missing or empty, or the disk fails
   */
  public static DirectoryImport begin(Path directory) {
    return begin(new FileDisk(), directory);
  }

  static DirectoryImport begin(Disk disk, Path directory) {
    try {
      if (Files.isRegularFile(directory)) {
        throw new NotAppliedException(
            Reason.INVALID, directory + " is a file; specify a new directory");
      }
      if (disk.exists(directory) && !disk.list(directory).isEmpty()) {
        throw new NotAppliedException(
            Reason.INVALID, directory + " is not empty; specify a new directory");
      }
      return new DirectoryImport(disk, directory);
    } catch (IOException e) {
      throw failed(directory, e);
    }
  }

  private static NotAppliedException failed(Path directory, IOException e) {
    return new NotAppliedException(Reason.UNAVAILABLE, "cannot write " + directory + ": " + e, e);
  }

  /**
   * Adds an entry.
   *
   * @throws IllegalArgumentException if it cannot follow the entries before it
   * @throws QuipuException if the disk fails
   */
  public void add(Entry entry) {
    if (isComplete) {
      throw new IllegalArgumentException("an entry follows the end");
    }
    if (head == null && !(entry instanceof Entry.Head)) {
      throw new IllegalArgumentException("the first entry is not the head");
    }
    switch (entry) {
      case Entry.Head first -> begin(first);
      case Entry.Number number -> {
        int ordinal = newOrdinal(number.name());
        state.value(ordinal, number.value());
        expire(ordinal, number.expiresAtMillis());
      }
      case Entry.Text text -> {
        byte[] bytes = Base64.getDecoder().decode(text.base64());
        int ordinal = newOrdinal(text.name());
        state.text(ordinal, bytes);
        expire(ordinal, text.expiresAtMillis());
      }
      case Entry.Scale scale -> {
        int known = state.counters.find(scale.counter());
        state.scale(known >= 0 ? known : newOrdinal(scale.counter()), scale.scale());
      }
      case Entry.Stored stored -> {
        if (state.items.get(stored.item().key()).isPresent()) {
          throw new IllegalArgumentException("the item occurs a second time");
        }
        state.item(stored.item().key(), Optional.of(stored.item()));
      }
      case Entry.Request request -> request(request);
      case Entry.Transaction transaction -> transaction(transaction);
      case Entry.End end -> {
        if (end.entries() != entries) {
          throw new IllegalArgumentException(
              "the end states %d entries, and %d precede it".formatted(end.entries(), entries));
        }
        isComplete = true;
        return;
      }
    }
    entries += entry instanceof Entry.Head ? 0 : 1;
  }

  private void begin(Entry.Head first) {
    if (head != null) {
      throw new IllegalArgumentException("the head occurs a second time");
    }
    if (first.commands() < 0 || first.ageMillis() < 0 || first.ageMillis() > AGE_MILLIS_MAX) {
      throw new IllegalArgumentException(
          "commands and ageMillis must be 0 or more; ageMillis at most " + AGE_MILLIS_MAX);
    }
    head = first;
    state.frame = 1;
    state.commands = first.commands();
    state.timeMillis = first.ageMillis();
  }

  private void expire(int ordinal, long atMillis) {
    if (atMillis != 0) {
      state.expires(ordinal, atMillis);
    }
  }

  private int newOrdinal(String name) {
    if (state.counters.find(name) >= 0) {
      throw new IllegalArgumentException("the counter occurs a second time, or after its requests");
    }
    if (name.isEmpty()) {
      throw new IllegalArgumentException("the name of a counter is empty");
    }
    int ordinal = state.counters.size();
    state.name(ordinal, name);
    return ordinal;
  }

  private void transaction(Entry.Transaction transaction) {
    TransactionEntries.requireNew(transaction, state);
    if (transaction.state() == Entry.Transaction.State.OPEN) {
      state.hold(TransactionEntries.holdOf(transaction, this::ordinalOf));
    } else if (transaction.state() == Entry.Transaction.State.CANCELED) {
      state.cancel(TransactionIds.MARKER, transaction.high(), transaction.low());
      sealIfFull();
    } else {
      state.transaction(TransactionEntries.recordOf(transaction, this::ordinalOf));
      sealIfFull();
    }
  }

  /** Returns the ordinal of a counter, which is assigned if it was removed. */
  private int ordinalOf(String counter) {
    int known = state.counters.find(counter);
    return known >= 0 ? known : newOrdinal(counter);
  }

  private void request(Entry.Request request) {
    int ordinal = ordinalOf(request.counter());
    if (state.ids.find(request.high(), request.low(), ordinal, state.timeMillis, entry)) {
      throw new IllegalArgumentException("the request occurs a second time for this counter");
    }
    int kind = request.isCanceled() ? IdTable.CANCELED : IdTable.APPLIED;
    state.remember(
        request.high(),
        request.low(),
        IdTable.meta(ordinal, kind, request.boundsMark()),
        request.added(),
        request.value());
    sealIfFull();
  }

  private void sealIfFull() {
    if (state.ids.advance(state.timeMillis)) {
      sealIds();
    }
  }

  /** Writes tables of request ids that are full. The next ones belong to another frame. */
  private void sealIds() {
    try {
      IdTable table = state.ids.nextWaiting();
      while (table != null) {
        state.ids.sealed(table, IdFiles.write(disk, directory, table));
        state.frame++;
        table = state.ids.nextWaiting();
      }
    } catch (IOException e) {
      throw failed(directory, e);
    }
  }

  /**
   * Completes the directory. Returns when it is durable.
   *
   * @return the number of entries, without head and end
   * @throws IllegalArgumentException if the end was not added
   * @throws QuipuException if the disk fails
   */
  public long end() {
    Entry.Head first = head;
    if (first == null || !isComplete) {
      throw new IllegalArgumentException("the end is missing: the export is incomplete");
    }
    state.ids.rotate();
    sealIds();
    try {
      DirectoryWriter writer = new DirectoryWriter(disk, directory, identity);
      int segmentBytes = EngineOptions.defaults().segmentBytes();
      writer.write(state, state.ids.files(), false, first.wallMillis(), segmentBytes);
      disk.syncDirectory(IdFiles.directory(directory));
      disk.delete(directory.resolve(MARK)); // the snapshot is enough now
      // Last: until then, no engine opens the directory.
      FormatFile.restore(disk, directory, identity, Randomness.secure().nextLong());
      disk.syncDirectory(directory);
    } catch (IOException e) {
      throw failed(directory, e);
    }
    isKept = true;
    return entries;
  }

  /** Removes all files if the directory was not completed. */
  @Override
  public void close() throws IOException {
    lock.close();
    if (!isKept) {
      Path ids = IdFiles.directory(directory);
      for (Path parent : List.of(ids, Log.directory(directory), directory)) {
        for (Path each : disk.list(parent)) {
          disk.delete(each);
        }
      }
      if (isNew) {
        disk.delete(directory);
      }
    }
  }
}
