package dev.quipu.engine.recovery;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.WatchedDisk;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.ids.Secret;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.CounterContent;
import dev.quipu.engine.state.State;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A snapshot is read back as written, completely or not at all. */
final class SnapshotTest {
  private static final long IDENTITY = 0x0123_4567_89ab_cdefL;
  private static final int FRAME_BYTES = 1 << 20;
  private static final Snapshot.Start START = new Snapshot.Start(12, 300, 1_700_000_000_000L);
  private static final Item ITEM =
      new Item(
          new Key("p", "s"),
          Map.of("n", new Field.Number(3)),
          Records.version(9),
          Optional.empty());

  @TempDir Path directory;
  private final Disk disk = new FileDisk();
  private final State state = new State(IDENTITY, 1_000, 1_000, 0);

  private interface Body {
    void write(Snapshot snapshot) throws IOException;
  }

  private Path write(Snapshot.Start start, long endFrame, Body body) throws IOException {
    try (Snapshot snapshot = Snapshot.start(disk, directory, IDENTITY, start)) {
      body.write(snapshot);
      snapshot.end(endFrame);
    }
    return Snapshot.newest(disk, directory).orElseThrow();
  }

  private CounterContent content(int ordinal) {
    return Objects.requireNonNull(state.counters.content(ordinal, state.ids));
  }

  private void text(Snapshot snapshot, int length) throws IOException {
    state.name(0, "a");
    state.text(0, new byte[length]);
    snapshot.counters(DirectoryWriter.still(state), false);
  }

  private Snapshot.Contents read(Path path, State into) throws IOException {
    return SnapshotReader.read(disk, path, IDENTITY, into);
  }

  private DamageException damage(Path path) {
    State into = new State(IDENTITY, 1_000, 1_000, 0);
    DamageException e = assertThrows(DamageException.class, () -> read(path, into));
    assertEquals(Damage.SNAPSHOT, e.damage());
    assertEquals(path, e.file());
    return e;
  }

  private static void assertSays(DamageException e, String part) {
    String message = String.valueOf(e.getMessage());
    assertTrue(message.contains(part), message);
  }

  /** Returns the lengths of the frames of a snapshot, all of which are numbered from 1. */
  private static List<Integer> frames(Path path) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path));
    List<Integer> lengths = new ArrayList<>();
    for (int at = 0; at < bytes.limit(); at += lengths.getLast()) {
      Frame.Head head = Objects.requireNonNull(new Frame(IDENTITY).read(bytes, at));
      lengths.add(head.frameBytes());
      assertEquals(lengths.size(), head.number());
      assertEquals(0, head.commands());
    }
    return lengths;
  }

  @Test
  void contentIsReadBackAsWritten() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    IdTable table = new IdTable(new Secret(IDENTITY), 1 << 16);
    table.add(1, 2, IdTable.meta(1, IdTable.APPLIED, 0), 3, 4, 77_000, 5);
    IdFile ids = IdFiles.write(disk, directory, table);
    state.name(0, "number");
    state.value(0, Long.MIN_VALUE);
    state.name(1, "text");
    state.text(1, new byte[] {1, -1});
    state.expires(1, 5_000_000_000_000L);
    state.name(2, "removed, with ids");
    state.hadIds(2);
    state.name(4, "zéro");
    state.value(4, 0);
    state.hadIds(4);
    Path path =
        write(
            START,
            15,
            snapshot -> {
              snapshot.idFiles(List.of(ids), true);
              snapshot.counters(DirectoryWriter.still(state), false);
              snapshot.item(ITEM);
            });
    State read = new State(IDENTITY, 1_000, 1_000, 0);
    assertEquals(
        new Snapshot.Contents(
            START, List.of(new Snapshot.IdFileName("0000000000000005.ids", 77_000)), "", 15),
        read(path, read));
    assertTrue(read.isSalvaged);
    assertEquals(5, read.counters.size());
    for (int ordinal : new int[] {0, 1, 2, 4}) {
      CounterContent expected = content(ordinal);
      CounterContent found = read.counters.content(ordinal, read.ids);
      assertNotNull(found);
      assertEquals(expected.name, found.name);
      assertEquals(expected.isWritten, found.isWritten);
      assertEquals(expected.value, found.value);
      assertArrayEquals(expected.text, found.text);
      assertEquals(expected.expiresAt, found.expiresAt);
      assertEquals(ordinal == 2 || ordinal == 4, found.hasIds);
    }
    assertFalse(content(2).isWritten);
    assertNull(read.counters.name(3));
    assertEquals(Optional.of(ITEM), read.items.get(ITEM.key()));
    assertEquals(1, read.items.size());
  }

  @Test
  void anEmptySnapshotIsRead() throws IOException {
    Path path = write(START, 12, snapshot -> snapshot.idFiles(List.of(), false));
    State read = new State(IDENTITY, 1_000, 1_000, 0);
    assertEquals(new Snapshot.Contents(START, List.of(), "", 12), read(path, read));
    assertFalse(read.isSalvaged);
    assertEquals(0, read.counters.size());
  }

  @Test
  void snapshotsAreFoundByTheirNames() throws IOException {
    assertEquals(Optional.empty(), Snapshot.newest(disk, directory));
    Path last = write(new Snapshot.Start(100, 0, 0), 100, snapshot -> {});
    assertEquals(last, write(new Snapshot.Start(99, 0, 0), 100, snapshot -> {}));
    Path first = directory.resolve("snapshot-0000000000000099.snap");
    for (String other : List.of("snapshot-0000000000000200.snap.tmp", "x.snap", "snapshot-7")) {
      Files.createFile(directory.resolve(other));
    }
    assertEquals(List.of(first, last), Snapshot.all(disk, directory));
    assertEquals(Optional.of(last), Snapshot.newest(disk, directory));
    assertEquals("snapshot-0000000000000100.snap", last.getFileName().toString());
    assertEquals(100, Snapshot.frameOf(last));
    assertEquals(99, Snapshot.frameOf(first));
  }

  @Test
  void itIsSyncedBeforeItHasItsName() throws IOException {
    List<String> calls = new ArrayList<>();
    try (Snapshot snapshot =
        Snapshot.start(new WatchedDisk(disk, calls), directory, IDENTITY, START)) {
      snapshot.end(12);
    }
    assertEquals(
        List.of(
            "create snapshot-0000000000000012.snap.tmp",
            "buffer 1048576",
            "write 56 at 0",
            "sync",
            "close",
            "rename snapshot-0000000000000012.snap"),
        calls);
    try (var files = Files.list(directory)) {
      assertEquals(1, files.count());
    }
  }

  @Test
  void aDiscardedSnapshotLeavesNothing() throws IOException {
    List<String> calls = new ArrayList<>();
    Snapshot.start(new WatchedDisk(disk, calls), directory, IDENTITY, START).close();
    assertEquals(
        List.of("close", "delete snapshot-0000000000000012.snap.tmp"), calls.subList(2, 4));
    try (var files = Files.list(directory)) {
      assertEquals(0, files.count());
    }
  }

  /** Space is reserved for the largest record: 64 bytes per part. */
  @Test
  void aFrameIsFilledUntilTheNextRecordMayNotFit() throws IOException {
    Snapshot.Start small = new Snapshot.Start(1, 1, 1); // four bytes
    int left = FRAME_BYTES - Frame.HEAD_BYTES - 4 - Frame.ALIGNMENT;
    int page = 10; // with the size before it
    int most = left - page - 3 * Records.COUNTER_RECORD_BYTES_MAX;
    assertEquals(1, frames(write(small, 1, snapshot -> text(snapshot, most))).size());
    assertEquals(2, frames(write(small, 1, snapshot -> text(snapshot, most + 1))).size());
  }

  @Test
  void aRecordOfMoreThanAFrameHasOneOfItsOwn() throws IOException {
    int most =
        FRAME_BYTES - Frame.HEAD_BYTES - Frame.ALIGNMENT - 3 * Records.COUNTER_RECORD_BYTES_MAX;
    for (int more : new int[] {0, 1, FRAME_BYTES}) {
      List<String> calls = new ArrayList<>();
      try (Snapshot snapshot =
          Snapshot.start(new WatchedDisk(disk, calls), directory, IDENTITY, START)) {
        text(snapshot, most + more);
        snapshot.end(12);
      }
      int length = most + more + 3 * Records.COUNTER_RECORD_BYTES_MAX;
      int room = Frame.HEAD_BYTES + Math.ceilDiv(length, 8) * 8 + Frame.ALIGNMENT;
      List<String> buffers = new ArrayList<>(List.of("buffer " + FRAME_BYTES));
      if (more > 0) {
        buffers.add("buffer " + room);
      }
      assertEquals(buffers, calls.stream().filter(each -> each.startsWith("buffer")).toList());
      State read = new State(IDENTITY, 1_000, 1_000, 0);
      Path path = Snapshot.newest(disk, directory).orElseThrow();
      assertEquals(12, read(path, read).endFrame());
      byte[] text = read.counters.text(0);
      assertNotNull(text);
      assertEquals(most + more, text.length);
    }
  }

  @Test
  void manyRecordsTakeManyFrames() throws IOException {
    Item wide =
        new Item(
            new Key("p", "x"),
            Map.of("t", new Field.Text("é".repeat(300_000))),
            Records.version(1),
            Optional.empty());
    int texts = 40;
    Path path =
        write(
            START,
            99,
            snapshot -> {
              for (int i = 0; i < texts; i++) {
                state.name(i, "c" + i);
                state.text(i, new byte[100_000 + i]);
              }
              snapshot.counters(DirectoryWriter.still(state), false);
              snapshot.item(wide);
              snapshot.item(ITEM);
            });
    List<Integer> frames = frames(path);
    assertTrue(frames.size() >= 5, frames.toString());
    State read = new State(IDENTITY, 1_000, 1_000, 0);
    assertEquals(99, read(path, read).endFrame());
    for (int i = 0; i < texts; i++) {
      byte[] text = read.counters.text(i);
      assertNotNull(text);
      assertEquals(100_000 + i, text.length);
    }
    assertEquals(Optional.of(wide), read.items.get(wide.key()));
    assertEquals(Optional.of(ITEM), read.items.get(ITEM.key()));
    byte[] whole = Files.readAllBytes(path);
    byte[] without = new byte[whole.length - frames.get(1)]; // the second of the frames
    System.arraycopy(whole, 0, without, 0, frames.get(0));
    int rest = frames.get(0) + frames.get(1);
    System.arraycopy(whole, rest, without, frames.get(0), whole.length - rest);
    Files.write(path, without);
    DamageException gap = damage(path);
    assertEquals(frames.get(0).longValue(), gap.offset());
    assertSays(gap, "frame 2 is damaged");
    Files.write(path, Arrays.copyOf(whole, rest));
    DamageException cut = damage(path);
    assertEquals(rest, cut.offset());
    assertSays(cut, "the end is missing");
  }

  @Test
  void everyDamagedByteIsDetected() throws IOException {
    Path path = write(START, 12, snapshot -> text(snapshot, 100));
    byte[] whole = Files.readAllBytes(path);
    int payload = ByteBuffer.wrap(whole).getInt(4);
    for (int at = 0; at < Frame.HEAD_BYTES + payload; at++) {
      for (int bit : new int[] {0x80, 1}) {
        byte[] flipped = whole.clone();
        flipped[at] ^= (byte) bit;
        Files.write(path, flipped);
        assertEquals(0, damage(path).offset());
      }
    }
    for (int length = 0; length < Frame.HEAD_BYTES + payload; length++) {
      Files.write(path, Arrays.copyOf(whole, length));
      assertEquals(0, damage(path).offset());
    }
    Files.write(path, Arrays.copyOf(whole, whole.length + 5)); // what follows the end is not read
    assertEquals(12, read(path, new State(IDENTITY, 1_000, 1_000, 0)).endFrame());
    State other = new State(IDENTITY + 1, 1_000, 1_000, 0);
    assertThrows(DamageException.class, () -> SnapshotReader.read(disk, path, IDENTITY + 1, other));
  }

  private Path frame(Consumer<ByteBuffer> records) throws IOException {
    ByteBuffer out = ByteBuffer.allocate(1_000).position(Frame.HEAD_BYTES);
    records.accept(out);
    new Frame(IDENTITY).seal(out, 0, 1, 0, 0);
    Path path = directory.resolve("snapshot-0000000000000012.snap");
    Files.write(path, Arrays.copyOf(out.array(), out.limit()));
    return path;
  }

  private static void start(ByteBuffer out) {
    out.put(Records.START).put((byte) 1).put((byte) 2).put((byte) 3);
  }

  private static void end(ByteBuffer out) {
    out.put(Records.END).put((byte) 5);
  }

  @Test
  void logRecordsAreInvalidInASnapshot() throws IOException {
    List<Consumer<ByteBuffer>> records =
        List.of(
            out -> Records.once(out, 0, 1, 2, 3, 4, 0),
            out -> Records.cancel(out, 0, 1, 2),
            out -> Records.gone(out, 0),
            out -> Records.free(out, 0),
            out -> out.put((byte) 99));
    for (Consumer<ByteBuffer> each : records) {
      Path path =
          frame(out -> {
            start(out);
            Records.name(out, 0, "a");
            each.accept(out);
            end(out);
          });
      assertSays(damage(path), "frame 1 cannot be applied");
    }
  }

  @Test
  void itHasAStartAndAnEnd() throws IOException {
    Path path =
        frame(out -> {
          start(out);
          end(out);
        });
    assertEquals(
        new Snapshot.Contents(new Snapshot.Start(1, 2, 3), List.of(), "", 5),
        read(path, new State(IDENTITY, 1_000, 1_000, 0)));
    assertSays(damage(frame(SnapshotTest::start)), "the end is missing");
    assertSays(damage(frame(SnapshotTest::end)), "the end is missing");
  }
}
