package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.FileDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which files of request ids are merged, and what a merged file has. */
final class IdMergeTest {
  private static final long IDENTITY = 3;
  private static final long START = 1_000_000;
  private static final long WINDOW = 8_000;

  @TempDir Path directory;
  private final FileDisk disk = new FileDisk();
  private final Secret secret = new Secret(IDENTITY);
  private final RequestIds ids = new RequestIds(secret, WINDOW, 100, 0);
  private final long[] entry = new long[IdTable.STRIDE];

  @BeforeEach
  void create() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
  }

  /** Writes a file with these ids, whose frames are their numbers. */
  private IdFile file(long from, long to, long atMillis, long value) throws IOException {
    IdTable table = new IdTable(secret, 1 << 16);
    for (long id = from; id <= to; id++) {
      table.add(id, id, IdTable.meta(1, IdTable.APPLIED, 0), id, value, atMillis, id);
    }
    return IdFiles.write(disk, directory, table);
  }

  private IdFile merge(List<IdFile> files) throws IOException {
    return Objects.requireNonNull(new IdMerge(disk, directory, IDENTITY).merge(files, () -> true));
  }

  private boolean isIn(IdFile file, long id) {
    return file.find(secret.hash(id, id, 1), id, id, 1, entry);
  }

  private List<IdFile> choose(List<IdFile> files) {
    return IdMerge.choose(files, Set.of(), 1_000, 10_000, 8);
  }

  @Test
  void aMergedFileHasAllIdsOfSeveralPages() throws IOException {
    List<IdFile> files = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      files.add(file(1 + 1_000 * i, 1_000 + 1_000 * i, START + i, 7));
    }
    IdFile merged = merge(files);
    merged.verify();
    assertEquals(4_000, merged.entries());
    assertEquals(1, merged.firstFrame());
    assertEquals(4_000, merged.lastFrame());
    assertEquals(START, merged.oldestMillis());
    assertEquals(START + 3, merged.newestMillis());
    assertEquals("0000000000000001-0000000000004000.ids", merged.path().getFileName().toString());
    for (long id = 1; id <= 4_000; id++) {
      assertTrue(isIn(merged, id), "id " + id);
      assertEquals(id, entry[3]);
    }
    for (long id = 4_001; id <= 8_000; id++) {
      assertFalse(isIn(merged, id), "id " + id);
    }
    assertEquals(5, IdFiles.all(disk, directory).size(), "the others remain");
  }

  @Test
  void theNewestOfTwoEqualIdsIsKept() throws IOException {
    IdTable later = new IdTable(secret, 1 << 16);
    later.add(2, 2, IdTable.meta(1, IdTable.APPLIED, 0), 2, 9, START, 5);
    IdFile merged = merge(List.of(file(1, 3, START, 7), IdFiles.write(disk, directory, later)));
    assertEquals(3, merged.entries());
    assertTrue(isIn(merged, 2));
    assertEquals(9, entry[4]);
    assertTrue(isIn(merged, 3));
    assertEquals(7, entry[4]);
  }

  @Test
  void aDamagedPageEndsAMergeAndLeavesNoFile() throws IOException {
    IdFile sound = file(1, 300, START, 7);
    Path path = file(301, 600, START, 7).path();
    byte[] bytes = Files.readAllBytes(path);
    bytes[2 * 4_096 + 100] ^= 1;
    Files.write(path, bytes);
    IdFile damaged = IdFile.open(disk, path);
    assertThrows(DamageException.class, () -> merge(List.of(sound, damaged)));
    assertEquals(List.of(sound.path(), path), disk.list(IdFiles.directory(directory)));
  }

  @Test
  void aMergeThatIsEndedLeavesNoFile() throws IOException {
    List<IdFile> files = List.of(file(1, 40_000, START, 7), file(40_001, 80_000, START, 7));
    assertNull(new IdMerge(disk, directory, IDENTITY).merge(files, () -> false));
    assertEquals(2, disk.list(IdFiles.directory(directory)).size());
  }

  @Test
  void eightFilesOfATierAreMergedWithSmallerOnesBetweenThem() throws IOException {
    List<IdFile> files = new ArrayList<>();
    long next = 1;
    for (int size : new int[] {20, 20, 1, 20, 30, 20, 20, 20}) {
      files.add(file(next, next + size - 1, START, 7));
      next += size;
    }
    assertEquals(List.of(), choose(files));
    files.add(file(next, next + 19, START, 7));
    assertEquals(files, choose(files));
    files.add(file(next + 20, next + 39, START, 7));
    assertEquals(files.subList(0, 9), choose(files));
    List<IdFile> large = new ArrayList<>(files);
    large.add(2, file(next + 40, next + 1_039, START, 7));
    assertEquals(List.of(), choose(large), "a larger one is between them");
  }

  @Test
  void smallTablesHaveSmallTiers() throws IOException {
    assertEquals(4, IdMerge.filesOfATier(100));
    assertEquals(8, IdMerge.filesOfATier(2 << 20));
    List<IdFile> files = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      files.add(file(i, i, START, 7));
    }
    assertEquals(files, IdMerge.choose(files, Set.of(), 1_000, 100, 4));
    assertEquals(List.of(), choose(files));
  }

  @Test
  void theSmallestAreMergedFirst() throws IOException {
    List<IdFile> files = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      files.add(file(1 + 20 * i, 20 + 20 * i, START, 7));
    }
    for (int i = 0; i < 8; i++) {
      files.add(file(200 + i, 200 + i, START, 7));
    }
    assertEquals(files.subList(8, 16), choose(files));
  }

  @Test
  void aMergedFileIsLimitedInTimeAndSize() throws IOException {
    List<IdFile> files = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      files.add(file(1 + 20 * i, 20 + 20 * i, START + 100L * i, 7));
    }
    assertEquals(files, IdMerge.choose(files, Set.of(), 700, 160, 8));
    assertEquals(List.of(), IdMerge.choose(files, Set.of(), 699, 160, 8));
    assertEquals(List.of(), IdMerge.choose(files, Set.of(), 700, 159, 8));
  }

  @Test
  void noFileIsMergedAcrossOneThatIsNot() throws IOException {
    List<IdFile> files = new ArrayList<>();
    for (int i = 1; i <= 11; i++) {
      files.add(file(i, i, START, 7));
    }
    Set<IdFile> except = Set.of(files.get(2));
    assertEquals(files.subList(3, 11), IdMerge.choose(files, except, 1_000, 100, 8));
    assertEquals(List.of(), IdMerge.choose(files.subList(0, 10), except, 1_000, 100, 8));
  }

  private void addFiles(long from) throws IOException {
    for (long id = from; id < from + 4; id++) {
      ids.add(id, id, IdTable.meta(1, IdTable.APPLIED, 0), id, 7, START, id);
      ids.rotate();
      IdTable table = Objects.requireNonNull(ids.nextWaiting());
      ids.sealed(table, IdFiles.write(disk, directory, table));
    }
  }

  @Test
  void aMergedFileReplacesOthersAndKeepsTheirGenerationsLive() throws IOException {
    ids.ready();
    addFiles(1); // of the epochs 255, 1, 2 and 3
    List<IdFile> old = ids.files();
    assertEquals(old, ids.mergeable(Set.of()));
    assertEquals(List.of(), ids.mergeable(Set.of(old.get(1))));
    IdFile merged = merge(old);
    assertTrue(ids.merged(old, merged));
    assertEquals(List.of(merged), ids.files());
    assertEquals(old, ids.replaced());
    for (long id = 1; id <= 4; id++) {
      assertTrue(ids.find(id, id, 1, START, entry));
    }
    assertTrue(old.stream().allMatch(ids::covers));
    ids.dropReplaced(old);
    assertEquals(List.of(), ids.replaced());
    for (int epoch : new int[] {RequestIds.EPOCH_BEFORE, 1, 2, 3}) {
      assertTrue(ids.isLive(epoch));
    }
    ids.drop(List.of(merged));
    for (int epoch : new int[] {RequestIds.EPOCH_BEFORE, 1, 2, 3}) {
      assertFalse(ids.isLive(epoch));
    }
  }

  @Test
  void filesThatWereForgottenMeanwhileAreNotReplaced() throws IOException {
    addFiles(1);
    List<IdFile> old = ids.files();
    IdFile merged = merge(old);
    ids.drop(old.subList(0, 1));
    assertFalse(ids.merged(old, merged));
    assertEquals(old.subList(1, 4), ids.files());
    assertEquals(List.of(), ids.replaced());
  }

  @Test
  void noFileIsMergedAcrossATableThatIsNotOnDisk() throws IOException {
    ids.add(3, 3, IdTable.meta(1, IdTable.APPLIED, 0), 3, 7, START, 3);
    for (long id : new long[] {1, 2, 4, 5, 6}) { // as a start finds them if a file is damaged
      ids.add(file(id, id, START, 7));
    }
    assertEquals(List.of(), ids.mergeable(Set.of()));
    ids.rotate();
    assertEquals(List.of(), ids.mergeable(Set.of()));
    IdTable table = Objects.requireNonNull(ids.nextWaiting());
    ids.sealed(table, IdFiles.write(disk, directory, table));
    assertEquals(4, ids.mergeable(Set.of()).size());
  }
}
