package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.WatchedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sealed ids are found where the layout says, and damage is reported. */
final class IdFileTest {
  private static final long IDENTITY = 77;
  private static final int PAGE = 4_096;
  private static final int PAGE_ENTRIES = 104; // of those here, which have about 39 bytes
  private static final int BLOCK = 64;
  private static final int FIRST_FRAME = 1_000;

  private final Secret secret = new Secret(IDENTITY);
  private final Disk disk = new FileDisk();
  private final List<long[]> added = new ArrayList<>();
  private final long[] entry = new long[IdTable.STRIDE];
  @TempDir Path directory;
  private Path path = Path.of("");

  @BeforeEach
  void name() {
    path = directory.resolve("0000000000001000.ids");
  }

  private static long[] entry(long high, long low, int ordinal) {
    long meta = IdTable.meta(ordinal, IdTable.APPLIED, (int) high);
    return new long[] {high, low, meta, high ^ low, high + low};
  }

  private long hash(long[] of) {
    return secret.hash(of[0], of[1], IdTable.ordinal(of[2]));
  }

  private IdTable table(List<long[]> entries) {
    IdTable table = new IdTable(secret, 1 << 16);
    for (int i = 0; i < entries.size(); i++) {
      long[] each = entries.get(i);
      table.add(each[0], each[1], each[2], each[3], each[4], 5_000 + i, FIRST_FRAME + i);
    }
    return table;
  }

  private IdFile write(int count) throws IOException {
    Random random = new Random(count);
    for (int i = 0; i < count; i++) {
      added.add(entry(random.nextLong(), random.nextLong(), i));
    }
    IdFile.write(disk, path, table(added));
    return IdFile.open(disk, path);
  }

  private boolean isFound(IdFile file, long[] wanted) {
    return file.find(hash(wanted), wanted[0], wanted[1], IdTable.ordinal(wanted[2]), entry);
  }

  private static int crc(ByteBuffer bytes, int from, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.slice(from, length));
    return (int) crc.getValue();
  }

  /** Up to a page, some pages, and more than the 64 that are written at once. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 42, 103, 104, 105, 106, 209, 210, 64 * 104, 64 * 105, 14_000})
  void everyIdIsFoundAndNoOther(int count) throws IOException {
    IdFile file = write(count);
    assertEquals(count, file.entries());
    assertEquals(path, file.path());
    file.verify();
    for (long[] each : added) {
      assertTrue(isFound(file, each));
      assertArrayEquals(each, entry);
    }
    Random random = new Random(-1);
    for (int i = 0; i < 1_000; i++) {
      assertFalse(isFound(file, entry(random.nextLong(), random.nextLong(), i)));
    }
    for (long[] each : added.subList(0, Math.min(1_000, count))) {
      long hash = hash(each); // with which it passes the filter
      int ordinal = IdTable.ordinal(each[2]);
      assertFalse(file.find(hash, each[0], each[1], ordinal + 1, entry));
      assertFalse(file.find(hash, each[0] + 1, each[1], ordinal, entry));
      assertFalse(file.find(hash, each[0], each[1] + 1, ordinal, entry));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 102, 250, 7_000})
  void theFileHasTheDocumentedLayout(int count) throws IOException {
    IdFile file = write(count);
    List<long[]> ordered = new ArrayList<>(added);
    ordered.sort((a, b) -> Long.compareUnsigned(hash(a), hash(b)));
    List<List<long[]>> expected = pages(ordered);
    int pages = expected.size();
    int blocks = Math.max(1, count * 16 / (8 * BLOCK));
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path));
    int tail = PAGE * (1 + pages);
    assertEquals(tail + 8 * pages + BLOCK * blocks, bytes.limit());
    assertEquals("QUIPUID5", new String(bytes.array(), 0, 8, StandardCharsets.UTF_8));
    assertEquals(
        List.of(1, count, pages, blocks),
        List.of(bytes.getInt(8), bytes.getInt(12), bytes.getInt(16), bytes.getInt(20)));
    assertEquals(count == 0 ? Long.MAX_VALUE : 5_000, bytes.getLong(24));
    assertEquals(count == 0 ? Long.MIN_VALUE : 5_000 + count - 1, bytes.getLong(32));
    assertEquals(bytes.getLong(32), file.newestMillis());
    assertEquals(count == 0 ? 0 : FIRST_FRAME, bytes.getLong(40));
    assertEquals(bytes.getLong(40), file.firstFrame());
    assertEquals(count == 0 ? 0 : FIRST_FRAME + count - 1, bytes.getLong(48));
    assertEquals(bytes.getLong(48), file.lastFrame());
    assertEquals(crc(bytes, tail, bytes.limit() - tail), bytes.getInt(56));
    assertEquals(crc(bytes, 0, 60), bytes.getInt(60));
    for (int page = 0; page < pages; page++) {
      checkPage(bytes, PAGE * (page + 1), expected.get(page));
      assertEquals(hash(expected.get(page).getFirst()), bytes.getLong(tail + 8 * page));
    }
    checkFilter(file, bytes.slice(tail + 8 * pages, BLOCK * blocks), blocks);
  }

  /** Fills one page after another. */
  private static List<List<long[]>> pages(List<long[]> ordered) {
    List<List<long[]>> pages = new ArrayList<>();
    int bytes = PAGE; // as if the page before were full
    for (long[] each : ordered) {
      int size = PackedEntryTest.packed(each).length;
      bytes += size;
      if (bytes > PAGE) {
        pages.add(new ArrayList<>());
        bytes = 8 + size;
      }
      pages.getLast().add(each);
    }
    return pages;
  }

  private static void checkPage(ByteBuffer bytes, int at, List<long[]> expected) {
    assertEquals(crc(bytes, at + 4, PAGE - 4), bytes.getInt(at));
    assertEquals(expected.size(), bytes.getInt(at + 4));
    ByteBuffer whole = ByteBuffer.allocate(PAGE - 8); // zeros follow the last entry
    for (long[] each : expected) {
      whole.put(PackedEntryTest.packed(each));
    }
    assertEquals(whole.clear(), bytes.slice(at + 8, PAGE - 8));
  }

  /** Six bits of one block for each id: none is missing, and none is set without need. */
  private void checkFilter(IdFile file, ByteBuffer filter, int blocks) {
    byte[] expected = new byte[BLOCK * blocks];
    for (long[] each : added) {
      long spread = hash(each) * 0xD6E8FEB86659FD93L;
      int block = (int) ((hash(each) >>> 32) * blocks / (1L << 32));
      for (int probe = 0; probe < 6; probe++) {
        int bit = (int) (spread >>> (9 * probe)) & 511;
        expected[BLOCK * block + bit / 8] |= (byte) (1 << (bit % 8));
      }
    }
    assertEquals(ByteBuffer.wrap(expected), filter);
    ByteBuffer words = ByteBuffer.wrap(expected).order(ByteOrder.LITTLE_ENDIAN);
    for (long[] each : added) {
      int block = (int) ((hash(each) >>> 32) * blocks / (1L << 32));
      assertEquals(words.getLong(BLOCK * block), file.filter().touch(new long[] {hash(each)}, 1));
    }
  }

  /** A lookup that passes the filter reads a page, all of which are damaged here. */
  @Test
  void theFilterKeepsNearlyAllOtherIdsFromThePages() throws IOException {
    IdFile whole = write(5_000);
    byte[] bytes = Files.readAllBytes(path);
    for (int at = PAGE; at <= PAGE * whole.pages(); at += PAGE) {
      bytes[at] ^= 1;
    }
    Path damaged = directory.resolve("damaged");
    Files.write(damaged, bytes);
    IdFile file = IdFile.open(disk, damaged);
    Random random = new Random(5);
    int passed = 0;
    for (int i = 0; i < 10_000; i++) {
      long[] other = entry(random.nextLong(), random.nextLong(), i);
      try {
        assertFalse(isFound(file, other));
      } catch (DamageException e) {
        passed++;
      }
    }
    assertTrue(passed > 10 && passed < 250, "passed: " + passed);
    assertThrows(DamageException.class, () -> isFound(file, added.getFirst()));
    assertTrue(isFound(whole, added.getFirst()));
  }

  /** The first word of the key, as the high half of an id, makes the low half irrelevant. */
  private long unlucky() {
    long high = new SplittableRandom(IDENTITY).nextLong();
    assertEquals(secret.hash(high, 1, 3), secret.hash(high, 2, 3));
    return high;
  }

  @Test
  void idsOfOneHashAreFoundInWhicheverPageTheyLie() throws IOException {
    for (int i = 0; i < 3 * PAGE_ENTRIES; i++) {
      added.add(entry(unlucky(), i, 3));
    }
    IdFile file = write(2 * PAGE_ENTRIES);
    for (long[] each : added) {
      assertTrue(isFound(file, each));
      assertArrayEquals(each, entry);
    }
    assertFalse(isFound(file, entry(unlucky(), -1, 3)));
  }

  @Test
  void idsOfOneHashMayFillTheWholeFile() throws IOException {
    for (int i = 0; i < 3 * PAGE_ENTRIES; i++) {
      added.add(entry(unlucky(), i, 3));
    }
    IdFile file = write(0);
    for (long[] each : added) {
      assertTrue(isFound(file, each));
    }
    assertFalse(isFound(file, entry(unlucky(), -1, 3)));
  }

  @Test
  void everyDamagedByteIsDetected() throws IOException {
    IdFile file = write(250);
    byte[] whole = Files.readAllBytes(path);
    int tail = PAGE * 4;
    for (int at = 0; at < 64; at++) {
      assertEquals(0, damage(whole, at).offset());
    }
    for (int at = tail; at < whole.length; at++) {
      assertEquals(tail, damage(whole, at).offset());
    }
    for (int at = PAGE; at < tail; at += 17) {
      int page = at / PAGE;
      Files.write(directory.resolve("damaged"), flipped(whole, at));
      IdFile damaged = IdFile.open(disk, directory.resolve("damaged"));
      DamageException e = assertThrows(DamageException.class, damaged::verify);
      assertEquals(Damage.ID_FILE, e.damage());
      assertEquals((long) PAGE * page, e.offset());
      assertTrue(String.valueOf(e.getMessage()).contains("page " + (page - 1)), e.getMessage());
    }
    file.verify();
  }

  private static byte[] flipped(byte[] whole, int at) {
    byte[] damaged = whole.clone();
    damaged[at] ^= 0x10;
    return damaged;
  }

  private DamageException damage(byte[] whole, int at) throws IOException {
    return damage(flipped(whole, at), "byte " + at);
  }

  private DamageException damage(byte[] bytes, String what) throws IOException {
    Path damaged = directory.resolve("damaged");
    Files.write(damaged, bytes);
    DamageException e = assertThrows(DamageException.class, () -> IdFile.open(disk, damaged), what);
    assertEquals(Damage.ID_FILE, e.damage());
    assertEquals(damaged, e.file());
    return e;
  }

  @Test
  void aFileOfAnotherLengthIsDetected() throws IOException {
    assertThrows(DamageException.class, () -> IdFile.open(disk, path));
    write(250);
    byte[] whole = Files.readAllBytes(path);
    for (int length : new int[] {0, PAGE - 1, PAGE, PAGE + 1, whole.length - 1, whole.length + 1}) {
      DamageException e = damage(Arrays.copyOf(whole, length), "length " + length);
      assertEquals(length, e.offset());
      assertEquals(
          length < PAGE,
          String.valueOf(e.getMessage()).contains("the header is truncated"),
          e.getMessage());
    }
  }

  @Test
  void itIsSyncedBeforeItHasItsName() throws IOException {
    List<String> calls = Collections.synchronizedList(new ArrayList<>());
    Disk watched = new WatchedDisk(new FileDisk(), calls);
    write(1);
    calls.clear();
    IdFile.write(watched, path, table(added));
    calls.removeIf(call -> call.startsWith("write 0 "));
    assertEquals(
        List.of(
            "buffer 4096",
            "create 0000000000001000.ids.tmp",
            "write 4096 at 4096",
            "write 8 at 8192",
            "write 64 at 8200",
            "write 4096 at 0",
            "sync",
            "close",
            "rename 0000000000001000.ids"),
        calls);
    calls.clear();
    write(6_750); // 65 pages
    IdFile.write(watched, path, table(added));
    assertTrue(calls.contains("buffer 262144"), calls.toString());
    assertTrue(calls.contains("write 262144 at 4096"), calls.toString());
    assertTrue(calls.contains("write 4096 at 266240"), calls.toString());
    assertFalse(Files.exists(path.resolveSibling(path.getFileName() + ".tmp")));
  }
}
