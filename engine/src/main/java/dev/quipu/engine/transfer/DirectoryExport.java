package dev.quipu.engine.transfer;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.HeldLock;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.recovery.FormatFile;
import dev.quipu.engine.recovery.Recovered;
import dev.quipu.engine.recovery.Recovery;
import dev.quipu.engine.state.CounterContent;
import dev.quipu.engine.state.OpenHold;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.TransactionIds;
import dev.quipu.store.Item;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.function.Consumer;

/** Reads a complete data directory that no engine has open. */
public final class DirectoryExport {
  private final Consumer<Entry> target;
  private long entries;

  private DirectoryExport(Consumer<Entry> target) {
    this.target = target;
  }

  /**
   * Reads all counters, texts, items and request ids of a directory. It needs as much memory as an
   * engine on the directory, and writes nothing, except files of request ids when there are many.
   *
   * @return the number of entries, without head and end
   * @throws QuipuException if the directory is in use, damaged, or cannot be read
   */
  public static long read(Path directory, Consumer<Entry> target) {
    return read(new FileDisk(), directory, target);
  }

  static long read(Disk disk, Path directory, Consumer<Entry> target) {
    try {
      if (!disk.exists(directory.resolve(FormatFile.FILE))) {
        throw new NotAppliedException(Reason.INVALID, directory + " is not a data directory");
      }
      HeldLock lock = disk.lock(directory);
      try {
        Settings settings = Settings.forReading(EngineOptions.defaults().idsInMemoryMax());
        return new DirectoryExport(target).write(Recovery.read(disk, directory, settings, false));
      } catch (DamageException e) {
        throw new NotAppliedException(Reason.CORRUPT, String.valueOf(e.getMessage()), e);
      } finally {
        lock.close();
      }
    } catch (IOException e) {
      throw new NotAppliedException(Reason.UNAVAILABLE, "cannot read " + directory + ": " + e, e);
    }
  }

  private long write(Recovered found) {
    State state = found.state();
    target.accept(new Entry.Head(state.commands, state.timeMillis, found.highWater().wallMillis()));
    for (int i = 0; i < state.counters.size(); i++) {
      CounterContent content = state.counters.content(i, state.ids);
      if (content != null && content.text != null) {
        String base64 = Base64.getEncoder().encodeToString(content.text);
        add(new Entry.Text(content.name, base64, content.expiresAt));
      } else if (content != null && content.isWritten) {
        add(new Entry.Number(content.name, content.value, content.expiresAt));
      }
      if (content != null && content.scale != 0) {
        add(new Entry.Scale(content.name, content.scale));
      }
    }
    for (Item item : state.items.next(null, Integer.MAX_VALUE)) {
      add(new Entry.Stored(item));
    }
    for (OpenHold hold : state.holds.all()) {
      add(TransactionEntries.of(hold.current()));
    }
    state.ids.forEach(entry -> request(state, entry));
    target.accept(new Entry.End(entries));
    return entries;
  }

  /** Writes a request id; those of counters whose names were lost have no meaning any more. */
  private void request(State state, long[] entry) {
    long meta = entry[2];
    int ordinal = IdTable.ordinal(meta);
    if (ordinal == TransactionIds.MARKER) {
      TransactionEntries.of(entry, state).ifPresent(this::add);
      return;
    }
    String name = state.nameOf(ordinal);
    if (!name.isEmpty()) {
      add(
          new Entry.Request(
              name,
              entry[0],
              entry[1],
              IdTable.kind(meta) == IdTable.CANCELED,
              entry[3],
              entry[4],
              IdTable.boundsMark(meta)));
    }
  }

  private void add(Entry entry) {
    entries++;
    target.accept(entry);
  }
}
