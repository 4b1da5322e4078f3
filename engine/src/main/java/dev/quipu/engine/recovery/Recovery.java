package dev.quipu.engine.recovery;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.past.HistoryFiles;
import dev.quipu.engine.state.State;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Rebuilds the state from a data directory. Writes nothing, except files of request ids when there
 * are many.
 *
 * <pre>{@code
 * RECOVERY: from files to state.
 *
 *   1. Read the identity, the high-water mark, the newest snapshot and its files of request ids.
 *   2. Read the segments of the log from the snapshot on, frame by frame, each number one more than
 *      the last.
 *   3. Where the frames end, decide why:
 *      - All acknowledged frames are present, and nothing valid follows: the regular end, or a
 *        write that was torn by a power failure and never acknowledged. It is overwritten.
 *      - A valid frame with a higher number follows: the frame here was damaged afterwards, for a
 *        frame is written only when the previous one is on disk.
 *      - The high-water mark is higher: acknowledged frames are missing.
 *      In the last two cases opening would silently lose counts, so it is rejected. But if frames
 *      were acknowledged before they were synced (the file "unsynced" exists), those after the mark
 *      may have reached the disk in any order: the log ends at the first gap.
 * }</pre>
 */
public final class Recovery {
  /** Exists while frames are acknowledged before they are synced, and afterwards. */
  public static final String UNSYNCED_FILE = "unsynced";

  private final Disk disk;
  private final Path directory;
  private final List<DamageException> damages = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final State state;
  private final boolean lenient;
  private final long identity;
  private HighWater.Mark highWater = new HighWater.Mark(0, 0, 0, 0);
  private List<Log.Segment> segments = List.of();
  private @Nullable DamageException uselessSnapshot; // damaged, but the log goes back to the start
  private @Nullable Unreadable unreadable;
  private boolean mustStartAgain;
  private int end = Log.HEAD_BYTES;
  private int syncedEnd = Log.HEAD_BYTES;
  private Log.@Nullable Segment reading;
  private int readEnd; // of the frame being read
  private int unsealed; // tables that could not be written to disk
  private long durableFrame; // this, and all before it
  private long validAfterDamage;
  private long logBytes;
  private final SegmentReader reader;
  private final boolean isUnsynced;
  private boolean isTailStale;
  private final TreeMap<Long, Long> sealed = new TreeMap<>(); // first and last frame of id files

  /**
   * Prepares to read one directory.
   *
   * @param before what an earlier attempt found to be unreadable; null for nothing
   */
  private Recovery(
      Disk disk, Path directory, Settings settings, boolean lenient, @Nullable Recovery before)
      throws IOException {
    this.uselessSnapshot = before == null ? null : before.uselessSnapshot;
    this.unreadable = before == null ? null : before.unreadable;
    this.disk = disk;
    this.directory = directory;
    this.lenient = lenient;
    this.isUnsynced = disk.exists(directory.resolve(UNSYNCED_FILE));
    this.identity = FormatFile.identity(disk, directory);
    this.reader = new SegmentReader(disk, identity);
    this.state = State.of(identity, settings);
  }

  /** Signals an intact frame with a record that cannot be applied. */
  private record Unreadable(long frame, DamageException damage) {}

  /**
   * Reads a directory.
   *
   * @throws DamageException at the first damage, unless {@code lenient}
   */
  public static Recovered read(Disk disk, Path directory, Settings settings, boolean lenient)
      throws IOException {
    Recovery recovery = new Recovery(disk, directory, settings, lenient, null);
    recovery.readAll();
    while (recovery.mustStartAgain) { // the unusable part has changed the state
      recovery = new Recovery(disk, directory, settings, lenient, recovery);
      recovery.readAll();
    }
    return new Recovered(
        recovery.state,
        recovery.identity,
        recovery.highWater,
        recovery.segments,
        recovery.end,
        Math.min(recovery.syncedEnd, recovery.end),
        recovery.isTailStale,
        recovery.damages,
        recovery.validAfterDamage,
        recovery.logBytes,
        recovery.notes);
  }

  private void readAll() throws IOException {
    try {
      highWater = HighWater.read(disk, directory, identity);
      state.history.inFilesUpTo(HistoryFiles.open(disk, directory).durableFrame());
    } catch (DamageException e) {
      report(e);
    }
    long next = readSnapshot();
    if (mustStartAgain) {
      return;
    }
    durableFrame = highWater.frame();
    segments = findSegments(next);
    state.frame = next - 1;
    boolean sound = true;
    for (int i = 0; i < segments.size() && sound; i++) {
      sound = readSegment(segments.get(i), i == segments.size() - 1);
    }
    state.timeMillis = Math.max(state.timeMillis, highWater.ageMillis());
    state.ready();
    long reached = Math.max(highWater.frame(), lastSealedFrame());
    if (state.frame < reached && damages.isEmpty()) {
      Path path = segments.isEmpty() ? Log.directory(directory) : segments.getLast().path();
      report(
          new DamageException(
              Damage.LOG_CUT,
              path,
              end,
              "the log ends with frame %d, but frame %d was acknowledged: %d commands are missing"
                  .formatted(
                      state.frame, reached, Math.max(0, highWater.commands() - state.commands))));
    }
  }

  /** Returns the last frame whose ids are in a file: a file is written only after its frames. */
  private long lastSealedFrame() {
    return sealed.values().stream().mapToLong(Long::longValue).max().orElse(0);
  }

  /** Reads snapshot and id files, and returns the number of the frame that follows. */
  private long readSnapshot() throws IOException {
    Optional<Path> path = Snapshot.newest(disk, directory);
    long next = 1;
    List<Path> listed = new ArrayList<>();
    long endFrame = 0;
    if (uselessSnapshot != null) {
      report(uselessSnapshot);
      notes.add("the log goes back to its first frame; the snapshot is not needed");
    } else if (path.isPresent()) {
      SnapshotReader.Attempt found = SnapshotReader.attempt(disk, path.get(), identity, state);
      next = Snapshot.frameOf(path.get());
      if (found.contents().isPresent()) {
        Snapshot.Contents contents = found.contents().get();
        endFrame = contents.endFrame();
        state.commands = contents.start().commands();
        state.timeMillis = contents.start().timeMillis();
        state.counterFile = contents.counters();
      } else {
        report(found.damages().getFirst());
        if (hasFirstFrame()) {
          uselessSnapshot = found.damages().getFirst();
          mustStartAgain = true;
          return next;
        }
        notes.add("frames up to %d were only in the snapshot".formatted(next - 1));
      }
      for (Snapshot.IdFileName file : found.idFiles()) {
        listed.add(IdFiles.directory(directory).resolve(file.name()));
      }
    }
    readIdFiles(listed, next);
    if (endFrame > highWater.frame()) { // the mark may lag behind a snapshot, never behind the log
      highWater =
          new HighWater.Mark(
              endFrame, highWater.commands(), highWater.ageMillis(), highWater.wallMillis());
    }
    return next;
  }

  private boolean hasFirstFrame() throws IOException {
    List<Path> paths = Log.segmentFiles(disk, directory);
    try {
      return !paths.isEmpty() && Log.readHead(disk, paths.getFirst(), identity).firstFrame() == 1;
    } catch (DamageException e) {
      return false;
    }
  }

  private void readIdFiles(List<Path> listed, long next) throws IOException {
    for (Path path : listed) {
      try {
        IdFile file = IdFile.open(disk, path);
        state.ids.add(file);
        if (file.lastFrame() >= next) { // it was sealed while the snapshot was written
          sealed.put(file.firstFrame(), file.lastFrame());
        }
      } catch (DamageException e) {
        report(e);
      }
    }
    // Files sealed since the snapshot make it unnecessary to read their ids from the log. A lenient
    // read reads the log all the same, and checks whether the engine could use the files.
    List<IdFile> others = new ArrayList<>();
    for (Path path : IdFiles.all(disk, directory)) {
      if (listed.contains(path)) {
        continue;
      }
      try {
        IdFile file = IdFile.open(disk, path);
        if (file.firstFrame() >= next) {
          others.add(file);
        }
      } catch (DamageException e) {
        notes.add(e.fault() + "; its ids are in the log too");
      }
    }
    others.sort(Comparator.comparingLong(file -> file.firstFrame() - file.lastFrame()));
    for (IdFile file : others) { // merged ones before those that they were merged from
      if (!state.ids.covers(file)) {
        use(file);
      }
    }
  }

  private void use(IdFile file) {
    if (!lenient) {
      state.ids.add(file);
      sealed.put(file.firstFrame(), file.lastFrame());
      return;
    }
    try {
      file.verify();
    } catch (DamageException e) {
      report(e);
    }
  }

  private List<Log.Segment> findSegments(long next) throws IOException {
    List<Log.Segment> found = new ArrayList<>();
    List<Path> paths = Log.segmentFiles(disk, directory);
    for (int i = paths.size() - 1; i >= 0; i--) {
      Log.@Nullable Segment segment;
      try {
        segment = Log.readHead(disk, paths.get(i), identity);
      } catch (DamageException e) {
        report(e);
        segment = readWithoutHead(paths.get(i));
      }
      if (segment == null) {
        found.clear(); // segments after an unreadable one cannot be used
        continue;
      }
      if (!found.isEmpty() && found.getFirst().number() != segment.number() + 1) {
        report(missing(segment.number() + 1));
        found.clear();
      }
      found.addFirst(segment);
      if (segment.firstFrame() <= next) {
        break;
      }
    }
    if (found.isEmpty() || found.getFirst().firstFrame() > next) {
      if (!found.isEmpty() && found.getFirst().number() == 1) { // there was no segment before it
        report(
            new DamageException(
                Damage.SNAPSHOT,
                directory,
                0,
                "there is no snapshot with frames 1 to %d, which the log no longer has"
                    .formatted(found.getFirst().firstFrame() - 1)));
      } else if (next > 1 || highWater.frame() > 0 || !found.isEmpty()) {
        report(missing(found.isEmpty() ? 1 : found.getFirst().number() - 1));
      }
      return List.of();
    }
    return found;
  }

  /**
   * Opens a segment by its name and first frame, for a salvage; null if that frame is damaged too.
   */
  private Log.@Nullable Segment readWithoutHead(Path path) throws IOException {
    reader.read(path, null);
    Frame.Head first = reader.frameAt(Log.HEAD_BYTES);
    long number = Long.parseLong(path.getFileName().toString().substring(0, 16));
    return first == null ? null : new Log.Segment(number, first.number(), path);
  }

  private DamageException missing(long number) {
    Path path = Log.directory(directory).resolve(Log.fileName(number));
    return new DamageException(Damage.SEGMENT_MISSING, path, 0, "the segment is missing");
  }

  /** Reads the frames of a segment, and returns whether the next segment may be read. */
  private boolean readSegment(Log.Segment segment, boolean last) throws IOException {
    reader.read(segment.path(), last && !lenient ? highWater : null);
    Place start = skipCovered(segment);
    long next = start.frame;
    int at = start.at;
    syncedEnd = next > highWater.frame() ? at : Integer.MAX_VALUE;
    for (Frame.Head head = reader.next(at, next); head != null; head = reader.next(at, next)) {
      if (next == highWater.frame() + 1) {
        syncedEnd = at;
      }
      if (unreadable != null && unreadable.frame == next) {
        end = at;
        report(unreadable.damage);
        return false;
      }
      reading = segment;
      readEnd = at + head.frameBytes();
      try {
        read(head, reader.payload(at, head));
      } catch (DamageException e) {
        throw e;
      } catch (RuntimeException e) { // an intact frame with an invalid record
        unreadable = new Unreadable(next, unreadable(segment, at, next, e));
        mustStartAgain = lenient;
        report(unreadable.damage);
        return false;
      }
      at += head.frameBytes();
      next++;
    }
    end = at;
    logBytes += at - start.at;
    if (!last) {
      long following = segments.get(segments.indexOf(segment) + 1).firstFrame();
      if (following != next) {
        report(flipped(segment, at, next));
        return false;
      }
      return true;
    }
    boolean begun = reader.begins(at, next);
    boolean isFollowed = reader.isFollowed(at, next);
    if (isUnsynced && next > highWater.frame() && (begun || isFollowed)) {
      isTailStale = true;
      notes.add(
          "UNSYNCED_TAIL in %s at byte %d: frames from %d on were not synced and are discarded"
              .formatted(segment.path(), at, next));
    } else if (isFollowed || (begun && next <= highWater.frame())) {
      report(flipped(segment, at, next));
    } else if (begun) {
      notes.add(
          "TORN_TAIL in %s at byte %d: frame %d was never acknowledged and is overwritten"
              .formatted(segment.path(), at, next));
    }
    return true;
  }

  /** The offset of a frame within a segment. */
  private record Place(long frame, int at) {}

  /**
   * Finds the first frame of a segment that the snapshot does not cover. Covered frames are not
   * needed, so damage among them does not prevent reading.
   */
  private Place skipCovered(Log.Segment segment) throws IOException {
    long next = segment.firstFrame();
    int at = Log.HEAD_BYTES;
    while (next <= state.frame) {
      Frame.@Nullable Head head = reader.frameAt(at);
      if (head != null && head.number() == next) {
        at += head.frameBytes();
        next++;
        continue;
      }
      Place following = afterDamage(at, next);
      if (following == null) {
        break;
      }
      notes.add(
          "%s in %s at byte %d: frames from %d to %d are damaged, but covered by the snapshot"
              .formatted(Damage.FLIPPED_FRAME, segment.path(), at, next, following.frame - 1));
      isTailStale = following.at == at;
      next = following.frame;
      at = following.at;
    }
    return new Place(next, at);
  }

  /** Returns where reading can continue after damage; null if a needed frame is damaged too. */
  private @Nullable Place afterDamage(int at, long number) throws IOException {
    reader.readRest();
    SegmentReader.@Nullable Found found = reader.find(at, number + 1, state.frame + 1);
    if (found != null) {
      return new Place(found.head().number(), found.at());
    }
    return reader.isFollowed(at, number) ? null : new Place(state.frame + 1, at);
  }

  private static DamageException unreadable(
      Log.Segment segment, int at, long number, RuntimeException why) {
    DamageException damage =
        new DamageException(
            Damage.FLIPPED_FRAME,
            segment.path(),
            at,
            "frame %d has a record that cannot be applied (%s); all before it can be salvaged"
                .formatted(number, why));
    damage.addSuppressed(why);
    return damage;
  }

  private DamageException flipped(Log.Segment segment, int at, long number) throws IOException {
    SegmentReader.Following following = reader.following(at, number);
    validAfterDamage = following.commands();
    return new DamageException(
        Damage.FLIPPED_FRAME,
        segment.path(),
        at,
        "frame %d does not match its checksum, and %s; all before it can be salvaged"
            .formatted(
                number,
                following.highest() > 0
                    ? "frames up to " + following.highest() + " follow it"
                    : "it was acknowledged"));
  }

  private void read(Frame.Head head, ByteBuffer payload) throws IOException {
    state.frame = head.number();
    state.timeMillis = head.timeMillis();
    Map.Entry<Long, Long> file = sealed.floorEntry(head.number());
    boolean isSealed = file != null && head.number() <= file.getValue();
    if (isSealed != state.idsAreSealed && !lenient) {
      state.ids.rotate(); // no file has ids of frames on both sides of another's
      sealWaiting();
    }
    state.idsAreSealed = isSealed;
    Records.read(payload, state);
    state.commands = head.commandsBefore() + head.commands();
    state.ids.reserve();
    if (state.ids.advance(head.timeMillis()) && !lenient) {
      sealWaiting();
    }
  }

  /** Ids of a long log must not accumulate in memory. */
  private void sealWaiting() throws IOException {
    if (state.ids.waiting() <= unsealed) {
      return; // the disk is full: they wait, as they did in the engine before
    }
    try {
      sealAll();
      unsealed = 0;
    } catch (IOException e) {
      unsealed = state.ids.waiting();
      if (unsealed > RequestIds.WAITING_MAX) {
        throw e;
      }
    }
  }

  private void sealAll() throws IOException {
    for (IdTable table = state.ids.nextWaiting(); table != null; table = state.ids.nextWaiting()) {
      if (table.lastFrame() > durableFrame) {
        // Frames that may not be durable are all in one segment: the others were synced.
        Log.writeAgain(
            disk, Objects.requireNonNull(reading).path(), Math.min(syncedEnd, readEnd), readEnd);
        durableFrame = state.frame;
      }
      state.ids.replaced(table, IdFiles.write(disk, directory, table));
    }
  }

  private void report(DamageException damage) {
    if (!lenient) {
      throw damage;
    }
    damages.add(damage);
  }
}
