package dev.quipu.engine.recovery;

import dev.quipu.Limits;
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
 *   PAGE     number, length, names and values of up to 4,096 counters: see PageImage
 *   SCALE, TEXT, EXPIRES   as in the log, of a counter in the page before
 *   ORDER    number, that many ordinals of four bytes: written counters in order of their names
 *   COUNTERS name of a file of counters, instead of SIZE, PAGE and ORDER. After it, as in the log,
 *            the counters that have changed since: NAME, VALUE or GONE, SCALE, EXPIRES, TEXT and
 *            HAD_IDS, or FREE
 *   HOLD, ITEM, THRESHOLDS   as in the log
 *   END      the last frame of the log that the snapshot may reflect
 *
 * The snapshot is fuzzy: it is taken in pieces while writes continue, so pieces reflect different
 * moments. Records hold resulting values, so replaying all frames from START on over it is
 * idempotent. Those up to END must exist, and do, for they were synced before END was written.
 *
 * A file of counters, counters-FRAME.snap, has START, SIZE, PAGE and ORDER with their records, and
 * END. Snapshots of many counters refer to it until too many of them have changed.
 *
 * Older formats have NAME, VALUE and HAD_IDS instead of pages and order.
 * }</pre>
 */
public final class Snapshot implements Closeable {
  private static final int FRAME_BYTES = 1 << 20;
  private static final int CROSSINGS_AT_ONCE = 1_000;
  private static final int BYTES_PER_SYNC = 8 << 20;
  private static final String PREFIX = "snapshot-";
  private static final String COUNTERS_PREFIX = "counters-";
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

  /**
   * The content of a snapshot besides the state.
   *
   * @param counters the name of its file of counters; empty if it has them itself
   */
  public record Contents(Start start, List<IdFileName> idFiles, String counters, long endFrame) {}

  /** Returns the newest snapshot of a directory. */
  public static Optional<Path> newest(Disk disk, Path directory) throws IOException {
    List<Path> all = all(disk, directory);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.getLast());
  }

  /** Returns all snapshots of a directory, oldest first. */
  public static List<Path> all(Disk disk, Path directory) throws IOException {
    return files(disk, directory, PREFIX);
  }

  /** Returns all files of counters of a directory. */
  public static List<Path> counterFiles(Disk disk, Path directory) throws IOException {
    return files(disk, directory, COUNTERS_PREFIX);
  }

  /** Returns the size of the newest snapshot and its file of counters; 0 if there is none. */
  public static long bytes(Disk disk, Path directory) throws IOException {
    Optional<Path> newest = newest(disk, directory);
    long bytes = newest.isPresent() ? disk.size(newest.get()) : 0;
    for (Path file : counterFiles(disk, directory)) {
      bytes += disk.size(file);
    }
    return bytes;
  }

  private static List<Path> files(Disk disk, Path directory, String prefix) throws IOException {
    return disk.list(directory).stream()
        .filter(file -> isName(String.valueOf(file.getFileName()), prefix))
        .toList();
  }

  private static boolean isName(String name, String prefix) {
    return name.startsWith(prefix) && name.endsWith(SUFFIX);
  }

  /** Returns whether this is the name of a file of counters. */
  public static boolean isCounterFile(String name) {
    return isName(name, COUNTERS_PREFIX) && name.indexOf('/') < 0;
  }

  /** Returns the frame at which the log continues after a snapshot, from its name. */
  public static long frameOf(Path snapshot) {
    String name = snapshot.getFileName().toString();
    return Long.parseLong(name.substring(PREFIX.length(), name.length() - SUFFIX.length()));
  }

  /** Starts a snapshot. */
  public static Snapshot start(Disk disk, Path directory, long identity, Start start)
      throws IOException {
    return start(disk, directory, identity, start, PREFIX);
  }

  /** Starts a file of counters. */
  public static Snapshot startCounters(Disk disk, Path directory, long identity, Start start)
      throws IOException {
    return start(disk, directory, identity, start, COUNTERS_PREFIX);
  }

  private static Snapshot start(
      Disk disk, Path directory, long identity, Start start, String prefix) throws IOException {
    Path path = directory.resolve("%s%016d%s".formatted(prefix, start.frame, SUFFIX));
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

  /** Returns the path that it has when it is ended. */
  public Path path() {
    return path;
  }

  /** Writes the name of the file of counters, and those that have changed since. */
  public void counters(String file, Source source) throws IOException {
    room(16 + file.length());
    out.put(Records.COUNTERS);
    Records.text(out, file);
    flush(); // so that it is read before the changes
    CounterImages images = source.at(state -> state.counters.images());
    boolean isLast = false;
    for (int number = 0; !isLast; ) {
      int next = number;
      CounterImages.Changes changes = source.at(state -> images.changes(next, state.ids));
      for (CounterImages.Change change : changes.changes()) {
        change(change);
      }
      number = changes.nextPage();
      isLast = changes.isLast();
    }
  }

  private void change(CounterImages.Change change) throws IOException {
    int ordinal = change.ordinal();
    CounterContent content = change.content();
    if (content == null) {
      room(Records.COUNTER_RECORD_BYTES_MAX);
      Records.free(out, ordinal);
      return;
    }
    byte[] text = content.text;
    room(
        6 * Records.COUNTER_RECORD_BYTES_MAX
            + Limits.utf8Length(content.name)
            + (text == null ? 0 : text.length));
    Records.name(out, ordinal, content.name);
    if (!content.isWritten) {
      Records.gone(out, ordinal);
    } else if (text == null) {
      Records.value(out, ordinal, content.value);
    } else {
      Records.text(out, ordinal, text);
    }
    if (change.mayHaveScale()) {
      Records.scale(out, ordinal, content.scale);
    }
    if (change.mayExpire()) {
      Records.expires(out, ordinal, content.expiresAt);
    }
    if (content.hasIds) {
      Records.hadIds(out, ordinal);
    }
  }

  /**
   * Writes all counters: see {@link CounterImages}.
   *
   * @param isFile whether this is a file that later snapshots refer to
   */
  public void counters(Source source, boolean isFile) throws IOException {
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
      List<CounterImages.Page> pages = source.at(state -> images.pages(next, state.ids, isFile));
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
