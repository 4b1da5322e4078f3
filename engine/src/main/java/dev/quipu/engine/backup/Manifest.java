package dev.quipu.engine.backup;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.recovery.Snapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The list of the files of a backup.
 *
 * <pre>{@code
 * MANIFEST: text, one entry a line, fields separated by spaces. Replaced atomically, when all files
 * that it names are durable; a file is valid up to the length stated here.
 *
 *   quipu-backup 1
 *   position   last frame of the log, commands up to it
 *   time       when this was the last acknowledged frame
 *   clock      age time of a frame, the wall time then, in milliseconds: one for each change
 *   format     SHA-256, bytes                         of engine-format, the format of the directory
 *   log        number, first frame, last frame, SHA-256, bytes           of log/NUMBER.log
 *   snapshot   first frame after it, last frame in it, SHA-256, bytes, its other files or -
 *   ids        name, SHA-256, bytes                   of ids/NAME
 *   counters   name, SHA-256, bytes                   of snapshots/NAME
 *   sha256     of all lines before
 *
 * A snapshot and the frames after it, without a gap, restore every position from the last frame in
 * it on. Without a snapshot, the frames from 1 on do.
 * }</pre>
 */
record Manifest(
    long position,
    long commands,
    Instant time,
    List<ClockReading> clock,
    StoredFile format,
    List<LogFile> log,
    List<Base> bases,
    List<StoredFile> shared) {
  static final String FILE = "manifest";
  static final String FORMAT_FILE = "engine-format";
  static final String SNAPSHOTS = "snapshots";
  static final String IDS = "ids";
  private static final String HEAD = "quipu-backup 1";
  private static final int CLOCK_READINGS_MAX = 10_000;

  Manifest {
    clock = List.copyOf(clock);
    log = List.copyOf(log);
    bases = List.copyOf(bases);
    shared = List.copyOf(shared);
  }

  /** The name of a file within the backup, its length in bytes, and its SHA-256 in hexadecimal. */
  record StoredFile(String name, long bytes, String sha256) {}

  /** A segment of the log, up to its last archived frame. */
  record LogFile(long number, long firstFrame, long lastFrame, StoredFile file) {
    static String name(long number) {
      return "log/%016d.log".formatted(number);
    }
  }

  /**
   * A snapshot.
   *
   * @param startFrame the frame at which the log continues
   * @param endFrame the last frame that it may reflect
   * @param shared names of its files of request ids, and of its file of counters
   */
  record Base(long startFrame, long endFrame, StoredFile file, List<String> shared) {
    static String name(long startFrame) {
      return "%s/snapshot-%016d.snap".formatted(SNAPSHOTS, startFrame);
    }
  }

  /** Returns the name within the backup of a file that snapshots share. */
  static String shared(String name) {
    return (Snapshot.isCounterFile(name) ? SNAPSHOTS : IDS) + "/" + name;
  }

  /** Returns the name of such a file within the data directory. */
  static String inData(String name) {
    return Snapshot.isCounterFile(name) ? name : IDS + "/" + name;
  }

  /** Returns the files that a snapshot shares with others. */
  List<StoredFile> sharedOf(Base base) {
    List<String> names = base.shared.stream().map(Manifest::shared).toList();
    return shared.stream().filter(each -> names.contains(each.name)).toList();
  }

  /** A moment in both times of the engine. */
  record ClockReading(long ageMillis, long wallMillis) {}

  /** A range of positions that can be restored. */
  record Range(long from, long to) {}

  /** Returns a copy with a further reading, or these if the clocks have the same distance. */
  static List<ClockReading> with(List<ClockReading> readings, ClockReading now, long slackMillis) {
    if (now.wallMillis == 0) {
      return readings; // the clocks of a new directory have not started
    }
    if (!readings.isEmpty()) {
      ClockReading last = readings.getLast();
      long offset = last.wallMillis - last.ageMillis;
      if (Math.abs(now.wallMillis - now.ageMillis - offset) <= slackMillis) {
        return readings;
      }
    }
    List<ClockReading> more = new ArrayList<>(readings);
    more.add(now);
    while (more.size() > CLOCK_READINGS_MAX) {
      more.removeFirst();
    }
    return more;
  }

  /** Returns the wall time of a frame with this age time. */
  long wallMillis(long ageMillis) {
    if (clock.isEmpty()) {
      return 0; // nothing was written yet
    }
    ClockReading applicable = clock.getFirst();
    for (ClockReading each : clock) {
      if (each.ageMillis <= ageMillis) {
        applicable = each;
      }
    }
    return applicable.wallMillis + ageMillis - applicable.ageMillis;
  }

  /** Returns whether the frames from {@code startFrame} to {@code position} have no gap. */
  boolean hasFrames(long startFrame, long position) {
    return reach(startFrame) >= position;
  }

  /** Returns the last frame up to which those from {@code startFrame} on have no gap. */
  private long reach(long startFrame) {
    long next = startFrame;
    for (LogFile each : log) {
      boolean isFirst = next == startFrame && each.firstFrame <= next;
      if ((isFirst || each.firstFrame == next) && next <= each.lastFrame) {
        next = each.lastFrame + 1;
      }
    }
    return next - 1;
  }

  /** Returns the log files that an engine needs to replay these frames. */
  List<LogFile> logFor(long startFrame, long position) {
    int first = 0;
    while (first + 1 < log.size() && log.get(first + 1).firstFrame <= startFrame) {
      first++;
    }
    return log.stream().skip(first).filter(each -> each.firstFrame <= position + 1).toList();
  }

  /** Returns the newest snapshot from which a position can be restored; empty for none. */
  Optional<Base> baseFor(long position) {
    for (int i = bases.size() - 1; i >= 0; i--) {
      Base base = bases.get(i);
      if (base.endFrame <= position && hasFrames(base.startFrame, position)) {
        return Optional.of(base);
      }
    }
    return Optional.empty();
  }

  /** Returns whether a position can be restored. */
  boolean covers(long position) {
    return position >= 0
        && position <= this.position
        && (baseFor(position).isPresent() || hasFrames(1, position));
  }

  /** Returns all positions that can be restored, as ranges without a gap. */
  List<Range> ranges() {
    List<Range> ranges = new ArrayList<>();
    if (position == 0 || hasFrames(1, 1)) {
      add(ranges, new Range(0, reach(1)));
    }
    for (Base base : bases) {
      if (hasFrames(base.startFrame, base.endFrame)) {
        add(ranges, new Range(base.endFrame, Math.max(base.endFrame, reach(base.startFrame))));
      }
    }
    return ranges;
  }

  private static void add(List<Range> ranges, Range range) {
    if (!ranges.isEmpty() && range.from <= ranges.getLast().to + 1) {
      Range last = ranges.removeLast();
      ranges.add(new Range(last.from, Math.max(last.to, range.to)));
    } else {
      ranges.add(range);
    }
  }

  /** Returns all files. */
  List<StoredFile> files() {
    List<StoredFile> all = new ArrayList<>();
    all.add(format);
    log.forEach(each -> all.add(each.file));
    bases.forEach(each -> all.add(each.file));
    all.addAll(shared);
    return all;
  }

  /** Returns whether a directory has a manifest. */
  static boolean exists(Disk disk, Path backup) {
    return disk.exists(backup.resolve(FILE));
  }

  /** Returns files beside those of the manifest, which an interrupted run left. */
  List<Path> strays(Disk disk, Path backup) throws IOException {
    List<Path> known = files().stream().map(each -> backup.resolve(each.name())).toList();
    List<Path> strays = new ArrayList<>();
    for (String each : List.of("log", SNAPSHOTS, IDS)) {
      Path directory = backup.resolve(each);
      if (disk.exists(directory)) {
        disk.list(directory).stream().filter(file -> !known.contains(file)).forEach(strays::add);
      }
    }
    return strays;
  }

  /** Replaces the manifest of a backup atomically. Returns when it is durable. */
  void write(Disk disk, Path backup) throws IOException {
    StringBuilder text = new StringBuilder(HEAD).append('\n');
    line(text, "position", position, commands);
    line(text, "time", time);
    clock.forEach(each -> line(text, "clock", each.ageMillis, each.wallMillis));
    line(text, "format", format.sha256, format.bytes);
    for (LogFile each : log) {
      line(
          text,
          "log",
          each.number,
          each.firstFrame,
          each.lastFrame,
          each.file.sha256,
          each.file.bytes);
    }
    for (Base each : bases) {
      String names = each.shared.isEmpty() ? "-" : String.join(",", each.shared);
      line(
          text,
          "snapshot",
          each.startFrame,
          each.endFrame,
          each.file.sha256,
          each.file.bytes,
          names);
    }
    for (StoredFile each : shared) {
      String name = each.name.substring(each.name.indexOf('/') + 1);
      String kind = Snapshot.isCounterFile(name) ? "counters" : "ids";
      line(text, kind, name, each.sha256, each.bytes);
    }
    line(text, "sha256", Digests.of(text.toString()));
    Path draft = backup.resolve(FILE + ".tmp");
    try (DiskFile file = disk.create(draft)) {
      file.write(ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8)), 0);
      file.sync();
    }
    disk.rename(draft, backup.resolve(FILE));
  }

  private static void line(StringBuilder text, Object... fields) {
    for (int i = 0; i < fields.length; i++) {
      text.append(i == 0 ? "" : " ").append(fields[i]);
    }
    text.append('\n');
  }

  /**
   * Reads the manifest of a backup.
   *
   * @throws DamageException if it is missing or damaged
   */
  static Manifest read(Disk disk, Path backup) throws IOException {
    return readFile(disk, backup.resolve(FILE));
  }

  static Manifest readFile(Disk disk, Path path) throws IOException {
    if (!disk.exists(path)) {
      throw new DamageException(Damage.BACKUP, path, 0, "the file is missing");
    }
    String text = StandardCharsets.ISO_8859_1.decode(disk.read(path)).toString();
    String head = text.substring(0, Math.max(0, text.indexOf('\n')));
    int end = text.lastIndexOf("\nsha256 ") + 1;
    if (end < 1
        || !text.substring(end).equals("sha256 " + Digests.of(text.substring(0, end)) + "\n")) {
      throw new DamageException(Damage.BACKUP, path, 0, "the file does not match its checksum");
    }
    if (!head.equals(HEAD)) {
      throw new NotAppliedException(
          Reason.INVALID,
          "the backup %s has the format '%s', and this version reads '%s': use the version that wrote it"
              .formatted(path, head, HEAD));
    }
    try {
      return parse(text.substring(head.length() + 1, end));
    } catch (IllegalArgumentException
        | IndexOutOfBoundsException
        | DateTimeException
        | NullPointerException e) {
      throw new DamageException(Damage.BACKUP, path, 0, "malformed entry: " + e.getMessage());
    }
  }

  private static Manifest parse(String text) {
    long position = -1;
    long commands = -1;
    Instant time = Instant.EPOCH;
    StoredFile format = new StoredFile(FORMAT_FILE, -1, "");
    List<ClockReading> clock = new ArrayList<>();
    List<LogFile> log = new ArrayList<>();
    List<Base> bases = new ArrayList<>();
    List<StoredFile> shared = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      String[] f = line.split(" ", -1);
      switch (f[0]) {
        case "position" -> {
          position = Long.parseLong(f[1]);
          commands = Long.parseLong(f[2]);
        }
        case "time" -> time = Instant.parse(f[1]);
        case "clock" -> clock.add(new ClockReading(Long.parseLong(f[1]), Long.parseLong(f[2])));
        case "format" -> format = new StoredFile(FORMAT_FILE, Long.parseLong(f[2]), f[1]);
        case "log" -> {
          long number = Long.parseLong(f[1]);
          StoredFile file = new StoredFile(LogFile.name(number), Long.parseLong(f[5]), f[4]);
          log.add(new LogFile(number, Long.parseLong(f[2]), Long.parseLong(f[3]), file));
        }
        case "snapshot" -> {
          long start = Long.parseLong(f[1]);
          StoredFile file = new StoredFile(Base.name(start), Long.parseLong(f[4]), f[3]);
          List<String> names = f[5].equals("-") ? List.of() : Arrays.asList(f[5].split(",", -1));
          bases.add(new Base(start, Long.parseLong(f[2]), file, List.copyOf(names)));
        }
        case "ids", "counters" ->
            shared.add(new StoredFile(shared(checkName(f[1])), Long.parseLong(f[3]), f[2]));
        case "" -> {}
        default -> throw new IllegalArgumentException(f[0]);
      }
    }
    if (position < 0 || format.bytes < 0) {
      throw new IllegalArgumentException("position and format are required");
    }
    return new Manifest(position, commands, time, clock, format, log, bases, shared);
  }

  private static String checkName(String name) {
    if (!IdFiles.isName(name) && !Snapshot.isCounterFile(name)) {
      throw new IllegalArgumentException("file " + name);
    }
    return name;
  }
}
