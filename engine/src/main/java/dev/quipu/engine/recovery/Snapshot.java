package dev.quipu.engine.recovery;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.log.TransactionRecord;
import dev.quipu.engine.state.CounterContent;
import dev.quipu.engine.state.State;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads snapshots.
 *
 * <pre>{@code
 * SNAPSHOT: snapshot-FRAME.snap, frames of records, numbered from 1:
 *
 *   START    the log continues with this frame; the number of commands before it; the time
 *   ID_FILE  name of a file of request ids that belongs to it, its newest time; one each
 *   SALVAGED ordinals without a name may have request ids in these files
 *   NAME, SCALE, VALUE, TEXT, EXPIRES, HOLD, ITEM   as in the log
 *   HAD_IDS  the counter has request ids in these files
 *   END      the last frame of the log that the snapshot may reflect
 *
 * The snapshot is fuzzy: it is taken in pieces while writes continue, so pieces reflect different
 * moments. Records hold resulting values, so replaying all frames from START on over it is
 * idempotent. Those up to END must exist, and do, for they were synced before END was written.
 * }</pre>
 */
public final class Snapshot implements Closeable {
  private static final int FRAME_BYTES = 1 << 20;
  private static final String PREFIX = "snapshot-";
  private static final String SUFFIX = ".snap";

  private final Disk disk;
  private final Path path;
  private final Path draft;
  private final DiskFile file;
  private final Frame frame;
  private ByteBuffer out;
  private long number;
  private long offset;
  private boolean isEnded;

  private Snapshot(Disk disk, Path path, long identity) throws IOException {
    this.disk = disk;
    this.path = path;
    this.draft = path.resolveSibling(path.getFileName() + ".tmp");
    this.file = disk.create(draft);
    this.out = disk.buffer(FRAME_BYTES);
    this.frame = new Frame(identity);
    out.position(Frame.HEAD_BYTES);
  }

  /** Where the log continues after a snapshot. */
  public record Start(long frame, long commands, long timeMillis) {}

  /** A file of request ids that belongs to a snapshot. */
  public record IdFileName(String name, long newestMillis) {}

  /** The content of a snapshot besides the state. */
  public record Contents(Start start, List<IdFileName> idFiles, long endFrame) {}

  /** Returns the newest snapshot of a directory. */
  public static Optional<Path> newest(Disk disk, Path directory) throws IOException {
    List<Path> all = all(disk, directory);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.getLast());
  }

  /** Returns all snapshots of a directory, oldest first. */
  public static List<Path> all(Disk disk, Path directory) throws IOException {
    return disk.list(directory).stream()
        .filter(file -> {
          String name = file.getFileName().toString();
          return name.startsWith(PREFIX) && name.endsWith(SUFFIX);
        })
        .toList();
  }

  /** Returns the frame at which the log continues after a snapshot, from its name. */
  public static long frameOf(Path snapshot) {
    String name = snapshot.getFileName().toString();
    return Long.parseLong(name.substring(PREFIX.length(), name.length() - SUFFIX.length()));
  }

  /** Starts a snapshot. */
  public static Snapshot start(Disk disk, Path directory, long identity, Start start)
      throws IOException {
    Path path = directory.resolve("%s%016d%s".formatted(PREFIX, start.frame, SUFFIX));
    Snapshot snapshot = new Snapshot(disk, path, identity);
    snapshot.out.put(Records.START);
    Records.unsigned(snapshot.out, start.frame);
    Records.unsigned(snapshot.out, start.commands);
    Records.unsigned(snapshot.out, start.timeMillis);
    return snapshot;
  }

  /**
   * Writes the names of the request id files that belong to the snapshot.
   *
   * @param isSalvaged whether they may contain ids of counters whose names were lost
   */
  public void idFiles(List<IdFile> files, boolean isSalvaged) throws IOException {
    for (IdFile file : files) {
      String name = file.path().getFileName().toString();
      room(16 + name.length());
      out.put(Records.ID_FILE);
      Records.text(out, name);
      Records.unsigned(out, file.newestMillis());
    }
    if (isSalvaged) {
      room(1);
      out.put(Records.SALVAGED);
    }
  }

  /** Writes one counter as it was when it was read. */
  public void counter(int ordinal, CounterContent content) throws IOException {
    byte[] text = content.text;
    int textLength = text == null ? 0 : text.length;
    room(5 * Records.COUNTER_RECORD_BYTES_MAX + 3 * content.name.length() + textLength);
    Records.name(out, ordinal, content.name);
    if (content.scale != 0) {
      Records.scale(out, ordinal, content.scale);
    }
    if (text != null) {
      Records.text(out, ordinal, text);
    } else if (content.isWritten) {
      Records.value(out, ordinal, content.value);
    }
    if (content.hasIds) {
      Records.hadIds(out, ordinal);
    }
    if (content.expiresAt != 0) {
      Records.expires(out, ordinal, content.expiresAt);
    }
  }

  /** Writes an open hold as it was when it was read. */
  public void hold(HoldRecord hold) throws IOException {
    room(HoldRecord.bytesMax(hold.parts().size(), hold.namesLength()));
    Records.hold(out, hold);
  }

  public void item(Item item) throws IOException {
    room(Records.itemBytesMax(item));
    Records.item(out, item);
  }

  /** Ends the snapshot. Returns when it is durable under its name. */
  public void end(long endFrame) throws IOException {
    room(16);
    out.put(Records.END);
    Records.unsigned(out, endFrame);
    flush();
    file.sync();
    file.close();
    disk.rename(draft, path);
    isEnded = true;
  }

  /** Discards a snapshot that was not ended. */
  @Override
  public void close() throws IOException {
    if (!isEnded) {
      file.close();
      disk.delete(draft);
    }
  }

  private void room(int bytes) throws IOException {
    if (out.remaining() < bytes + Frame.ALIGNMENT) {
      flush();
      if (out.remaining() < bytes + Frame.ALIGNMENT) {
        out = disk.buffer(Frame.frameBytes(bytes) + Frame.ALIGNMENT);
        out.position(Frame.HEAD_BYTES);
      }
    }
  }

  private void flush() throws IOException {
    frame.seal(out, 0, ++number, 0, 0);
    int length = out.remaining();
    file.write(out, offset);
    offset += length;
    out.clear().position(Frame.HEAD_BYTES);
  }

  /**
   * Reads a snapshot into {@code state}.
   *
   * @throws DamageException if any of it is damaged
   */
  public static Contents read(Disk disk, Path path, long identity, State state) throws IOException {
    return read(disk, path, identity, new Reading(state));
  }

  /**
   * Verifies a snapshot and returns its content besides the state.
   *
   * @throws DamageException if any of it is damaged
   */
  public static Contents outline(Disk disk, Path path, long identity) throws IOException {
    return read(disk, path, identity, new Outline());
  }

  private static Contents read(Disk disk, Path path, long identity, Outline reading)
      throws IOException {
    Frame frame = new Frame(identity);
    long offset = 0;
    long number = 0;
    long size = disk.size(path);
    while (offset < size && reading.end < 0) {
      ByteBuffer in = frameAt(disk, path, offset, size);
      Frame.Head head = frame.read(in, 0);
      if (head == null || head.number() != ++number) {
        throw new DamageException(
            Damage.SNAPSHOT, path, offset, "frame " + (number + 1) + " is damaged");
      }
      try {
        Records.read(in.slice(Frame.HEAD_BYTES, head.payloadBytes()), reading);
      } catch (RuntimeException e) {
        throw new DamageException(
            Damage.SNAPSHOT, path, offset, "frame %d cannot be applied: %s".formatted(number, e));
      }
      offset += head.frameBytes();
    }
    Start start = reading.start;
    if (start == null || reading.end < 0) {
      throw new DamageException(Damage.SNAPSHOT, path, offset, "the end is missing");
    }
    return new Contents(start, List.copyOf(reading.idFiles), reading.end);
  }

  private static ByteBuffer frameAt(Disk disk, Path path, long offset, long size)
      throws IOException {
    ByteBuffer head = ByteBuffer.allocate(Frame.HEAD_BYTES);
    disk.read(path, offset, head);
    long payload = Math.max(0, head.getInt(4));
    long length = Math.min(Frame.HEAD_BYTES + payload, size - offset);
    ByteBuffer in = ByteBuffer.allocate((int) Math.min(length, Integer.MAX_VALUE - 8));
    disk.read(path, offset, in);
    return in.flip();
  }

  /** Reads all records of a snapshot, and keeps those that are not part of the state. */
  private static class Outline implements Records.Reader {
    final List<IdFileName> idFiles = new ArrayList<>();
    @Nullable Start start;
    long end = -1;

    @Override
    public void name(int ordinal, String name) {}

    @Override
    public void value(int ordinal, long value) {}

    @Override
    public void once(int ordinal, long high, long low, long delta, long value, int boundsMark) {
      throw new IllegalStateException("a request in a snapshot");
    }

    @Override
    public void cancel(int ordinal, long high, long low) {
      throw new IllegalStateException("a request in a snapshot");
    }

    @Override
    public void expires(int ordinal, long atMillis) {}

    @Override
    public void gone(int ordinal) {
      throw new IllegalStateException("a removal in a snapshot");
    }

    @Override
    public void free(int ordinal) {
      throw new IllegalStateException("a free ordinal in a snapshot");
    }

    @Override
    public void hadIds(int ordinal) {}

    @Override
    public void text(int ordinal, byte[] text) {}

    @Override
    public void transaction(TransactionRecord transaction) {
      throw new IllegalStateException("a transaction in a snapshot");
    }

    @Override
    public void hold(HoldRecord hold) {}

    @Override
    public void scale(int ordinal, int scale) {}

    @Override
    public void item(Key key, Optional<Item> item) {}

    void salvaged() {}

    @Override
    public void snapshot(byte kind, ByteBuffer in) {
      switch (kind) {
        case Records.START ->
            start = new Start(Records.unsigned(in), Records.unsigned(in), Records.unsigned(in));
        case Records.ID_FILE -> idFiles.add(new IdFileName(Records.text(in), Records.unsigned(in)));
        case Records.SALVAGED -> salvaged();
        case Records.END -> end = Records.unsigned(in);
        default -> throw new IllegalStateException("unexpected record kind " + kind);
      }
    }
  }

  /** Applies the records of a snapshot. */
  private static final class Reading extends Outline {
    private final State state;

    Reading(State state) {
      this.state = state;
    }

    @Override
    public void name(int ordinal, String name) {
      state.name(ordinal, name);
    }

    @Override
    public void value(int ordinal, long value) {
      state.value(ordinal, value);
    }

    @Override
    public void expires(int ordinal, long atMillis) {
      state.expires(ordinal, atMillis);
    }

    @Override
    public void hadIds(int ordinal) {
      state.hadIds(ordinal);
    }

    @Override
    public void text(int ordinal, byte[] text) {
      state.text(ordinal, text);
    }

    @Override
    public void hold(HoldRecord hold) {
      state.hold(hold);
    }

    @Override
    public void scale(int ordinal, int scale) {
      state.scale(ordinal, scale);
    }

    @Override
    public void item(Key key, Optional<Item> item) {
      state.item(key, item);
    }

    @Override
    void salvaged() {
      state.isSalvaged = true;
    }
  }
}
