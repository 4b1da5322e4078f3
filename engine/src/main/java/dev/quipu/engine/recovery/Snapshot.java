package dev.quipu.engine.recovery;

import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.CounterContent;
import dev.quipu.engine.state.CounterImages;
import dev.quipu.engine.state.State;
import dev.quipu.engine.threshold.Thresholds;
import dev.quipu.store.Item;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Writes snapshots; {@link SnapshotReader} reads them.
 *
 * <pre>{@code
 * SNAPSHOT: snapshot-FRAME.snap, frames of records, numbered from 1:
 *
 *   START    the log continues with this frame; the number of commands before it; the time
 *   ID_FILE  name of a file of request ids that belongs to it, its newest time; one each
 *   SALVAGED ordinals without a name may have request ids in these files
 *   SIZE     number of counters, so that memory is reserved at once
 *   PAGE     number, length, names and values of up to 4,096 counters: see CounterTablePage
 *   SCALE, TEXT, EXPIRES   as in the log, of a counter in the page before
 *   ORDER    number, that many ordinals of four bytes: written counters in order of their names
 *   HOLD, ITEM, THRESHOLDS   as in the log
 *   END      the last frame of the log that the snapshot may reflect
 *
 * The snapshot is fuzzy: it is taken in pieces while writes continue, so pieces reflect different
 * moments. Records hold resulting values, so replaying all frames from START on over it is
 * idempotent. Those up to END must exist, and do, for they were synced before END was written.
 *
 * Older formats have NAME, VALUE and HAD_IDS instead of pages and order.
 * }</pre>
 */
public final class Snapshot implements Closeable {
  private static final int FRAME_BYTES = 1 << 20;
  private static final int CROSSINGS_AT_ONCE = 1_000;
  private static final int BYTES_PER_SYNC = 8 << 20;
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
  private long synced;
  private BooleanSupplier pause = () -> true;
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
   * Calls {@code other} after each frame of about a megabyte.
   *
   * @param other returns false to give up: the method that writes throws InterruptedIOException
   */
  public void pause(BooleanSupplier other) {
    pause = other;
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

  /** Reads the state at one moment, as often as it is called. */
  public interface Source {
    /** Returns what {@code read} returns. */
    <T> T at(Function<State, T> read) throws IOException;
  }

  /** Writes all counters: see {@link CounterImages}. */
  public void counters(Source source) throws IOException {
    CounterImages images = source.at(state -> state.counters.images());
    if (images.isEmpty()) {
      return; // counters added since are in the log from the snapshot's start on
    }
    room(16);
    out.put(Records.SIZE);
    Records.unsigned(out, images.counters());
    boolean isLast = false;
    for (int number = 0; !isLast; ) {
      int next = number;
      List<CounterImages.Page> pages = source.at(state -> images.pages(next, state.ids));
      for (CounterImages.Page page : pages) {
        page(page);
      }
      number += pages.size();
      isLast = pages.getLast().isLast();
    }
    String last = "";
    for (boolean isFull = true; isFull; ) {
      String before = last;
      CounterImages.Part part = source.at(state -> images.orderAfter(before));
      order(part.ordinals());
      last = part.last();
      isFull = part.isFull();
    }
  }

  private void page(CounterImages.Page page) throws IOException {
    int length = page.image().remaining();
    room(length + 16);
    out.put(Records.PAGE);
    Records.unsigned(out, page.number());
    Records.unsigned(out, length);
    out.put(page.image());
    for (int i = 0; i < page.ordinals().size(); i++) {
      int ordinal = page.ordinals().get(i);
      CounterContent content = page.contents().get(i);
      byte[] text = content.text;
      room(3 * Records.COUNTER_RECORD_BYTES_MAX + (text == null ? 0 : text.length));
      if (content.scale != 0) {
        Records.scale(out, ordinal, content.scale);
      }
      if (text != null) {
        Records.text(out, ordinal, text);
      }
      if (content.expiresAt != 0) {
        Records.expires(out, ordinal, content.expiresAt);
      }
    }
  }

  private void order(IntBuffer ordinals) throws IOException {
    room(16 + Integer.BYTES * ordinals.remaining());
    out.put(Records.ORDER);
    Records.unsigned(out, ordinals.remaining());
    while (ordinals.hasRemaining()) {
      out.putInt(ordinals.get());
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

  /** Writes thresholds, and the crossings that wait for delivery. */
  public void thresholds(Source source) throws IOException {
    records(source.at(state -> state.thresholds.image()));
    Thresholds.Place next = Thresholds.Place.START;
    while (next != null) {
      Thresholds.Place after = next;
      Thresholds.Part part =
          source.at(state -> state.thresholds.waitingAfter(after, CROSSINGS_AT_ONCE));
      records(part.image());
      next = part.next();
    }
  }

  private void records(ByteBuffer image) throws IOException {
    room(image.remaining());
    out.put(image);
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
      await();
      if (out.remaining() < bytes + Frame.ALIGNMENT) {
        out = disk.buffer(Frame.frameBytes(bytes) + Frame.ALIGNMENT);
        out.position(Frame.HEAD_BYTES);
      }
    }
  }

  private void await() throws IOException {
    if (offset - synced >= BYTES_PER_SYNC) { // so that no sync is long: the log shares the disk
      file.sync();
      synced = offset;
    }
    if (!pause.getAsBoolean()) {
      throw new InterruptedIOException("the snapshot was given up");
    }
  }

  private void flush() throws IOException {
    frame.seal(out, 0, ++number, 0, 0);
    int length = out.remaining();
    file.write(out, offset);
    offset += length;
    out.clear().position(Frame.HEAD_BYTES);
  }
}
