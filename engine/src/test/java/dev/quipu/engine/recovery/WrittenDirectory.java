package dev.quipu.engine.recovery;

import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.ids.Secret;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.State;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * A data directory that a test writes file by file. Unless given other records, frame N has two
 * commands, the time N seconds, and sets the counter "a", with ordinal 0, to N.
 */
public final class WrittenDirectory {
  /** The end of a damage message. */
  public static final String REMEDY =
      ". Run 'quipu check --data DIR' to list all damage; then restore a backup, or run"
          + " 'quipu salvage --data DIR' to keep what is before the damage";

  public static final long IDENTITY = 0x0123_4567_89ab_cdefL;
  public static final int HEAD = 4_096;

  /** Bytes of a frame with a value: 40 of head, 7 of records, and a zero. */
  public static final int FRAME = 48;

  /** Bytes of a frame with a request: 40 of head, and 24 of records. */
  public static final int ONCE_FRAME = 64;

  private static final EngineOptions OPTIONS =
      EngineOptions.defaults().withLog(1 << 16, 1 << 20).withIdsInMemoryMax(16);

  private final Disk disk = new FileDisk();
  final Path path;

  public WrittenDirectory(Path path) throws IOException {
    this.path = path;
    Files.createDirectories(path.resolve("log"));
    Files.createDirectories(path.resolve("ids"));
    Files.writeString(path.resolve("format"), "quipu-engine 6\nidentity 0123456789abcdef\n");
    mark(0, 0);
  }

  /** Writes the high-water mark. */
  public void mark(long frame, long ageMillis) throws IOException {
    HighWater.Mark mark = new HighWater.Mark(frame, 2 * frame, ageMillis, 77);
    HighWater.create(disk, path, IDENTITY, mark);
  }

  /** Writes the mark of a log that was closed. */
  void closed(long frame, int end) throws IOException {
    HighWater.create(disk, path, IDENTITY, new HighWater.Mark(frame, 2 * frame, 0, 77, end));
  }

  public Path log(long number) {
    return path.resolve("log").resolve("%016d.log".formatted(number));
  }

  /** Writes a segment of 8 KiB of log with frames after its head. */
  public Path segment(long number, long firstFrame, byte[]... frames) throws IOException {
    return segmentOf(2 * HEAD, number, firstFrame, frames);
  }

  /** Writes a segment of another size. */
  public Path segmentOf(int bytes, long number, long firstFrame, byte[]... frames)
      throws IOException {
    ByteBuffer out = ByteBuffer.allocate(Math.max(bytes, 2 * HEAD));
    out.putLong(0x5155_4950_554c_4731L).putInt(1).putInt(bytes);
    out.putLong(number).putLong(firstFrame);
    out.putInt(checksum(out.array(), 0, 32)).position(HEAD);
    for (byte[] frame : frames) {
      out.put(frame);
    }
    Files.write(log(number), Arrays.copyOf(out.array(), bytes));
    return log(number);
  }

  /** Returns a frame that sets the counter to {@code number}, which is below 64. */
  public static byte[] frame(long number) {
    return frame(
        number,
        out -> {
          Records.name(out, 0, "a");
          Records.value(out, 0, number);
        });
  }

  /** Returns frames with numbers from {@code first} to {@code last}. */
  public static byte[] frames(long first, long last) {
    ByteBuffer all = ByteBuffer.allocate((int) (last - first + 1) * FRAME);
    for (long number = first; number <= last; number++) {
      all.put(frame(number));
    }
    return all.array();
  }

  /** Returns a frame with the request {@code number} that set the counter to {@code number}. */
  public static byte[] once(long number) {
    return frame(
        number,
        out -> {
          Records.name(out, 0, "a");
          Records.once(out, 0, number, number, 1, number, 0);
        });
  }

  public static byte[] frame(long number, Consumer<ByteBuffer> records) {
    ByteBuffer payload = ByteBuffer.allocate(1_024);
    records.accept(payload);
    int length = payload.position();
    ByteBuffer frame = ByteBuffer.allocate((40 + length + 7) / 8 * 8);
    frame.putInt(0x5150_4652).putInt(length).putInt(0).putInt(2);
    frame.putLong(number).putLong(2 * (number - 1)).putLong(1_000 * number);
    frame.put(payload.flip());
    return frame.putInt(8, checksum(frame.array(), 12, 28 + length)).array();
  }

  /** Returns the frame with a bit flipped in its records. */
  public static byte[] flipped(byte[] frame) {
    byte[] copy = frame.clone();
    copy[41] ^= 4;
    return copy;
  }

  private static int checksum(byte[] bytes, int from, int length) {
    CRC32C crc = new CRC32C();
    crc.update(ByteBuffer.allocate(8).putLong(IDENTITY).flip());
    crc.update(bytes, from, length);
    return (int) crc.getValue();
  }

  /** Writes the file that holds the requests of frames from {@code first} to {@code last}. */
  public IdFile ids(long first, long last) throws IOException {
    IdTable table = new IdTable(new Secret(IDENTITY), 1 << 16);
    for (long i = first; i <= last; i++) {
      table.add(i, i, IdTable.meta(0, IdTable.APPLIED, 0), 1, i, 1_000 * i, i);
    }
    return IdFiles.write(disk, path, table);
  }

  /** Writes a snapshot in which the counter is {@code value}; the log continues after it. */
  public Path snapshot(long startFrame, long endFrame, long value, IdFile... files)
      throws IOException {
    State state = new State(IDENTITY, 1_000, 16, 0);
    state.name(0, "a");
    state.value(0, value);
    Snapshot.Start start =
        new Snapshot.Start(startFrame, 2 * (startFrame - 1), 1_000 * startFrame - 500);
    try (Snapshot snapshot = Snapshot.start(disk, path, IDENTITY, start)) {
      snapshot.idFiles(List.of(files), false);
      snapshot.counters(DirectoryWriter.still(state), false);
      snapshot.end(endFrame);
    }
    return path.resolve("snapshot-%016d.snap".formatted(startFrame));
  }

  /** Reads it like an engine that opens it. */
  public Recovered read() throws IOException {
    return read(disk);
  }

  public Recovered read(Disk other) throws IOException {
    return Recovery.read(other, path, TestOperation.settings(OPTIONS), false);
  }

  /** Reads it like a salvage. */
  public Recovered readLeniently() throws IOException {
    return Recovery.read(disk, path, TestOperation.settings(OPTIONS), true);
  }

  /** Returns the value of the counter "a". */
  public static long value(Recovered found) {
    int ordinal = found.state().counters.find("a");
    return ordinal < 0 ? 0 : found.state().counters.value(ordinal);
  }

  public static List<Damage> damages(Recovered found) {
    return found.damages().stream().map(DamageException::damage).toList();
  }

  public static void flip(Path file, int at) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[at] ^= 4;
    Files.write(file, bytes);
  }
}
