package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.environment.FileDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An index has all ids that were added, and hardly any other. */
final class IdIndexTest {
  private static final long SEED = 11;

  @TempDir Path directory;

  private static IdIndex filled(int count) {
    IdIndex index = new IdIndex();
    Random random = new Random(SEED);
    for (int i = 0; i < count; i++) {
      index.add(random.nextLong());
    }
    return index;
  }

  @Test
  void allIdsThatWereAddedArePresent() {
    int count = 2_000_000;
    IdIndex index = filled(count);
    Random random = new Random(SEED);
    for (int i = 0; i < count; i++) {
      long hash = random.nextLong();
      assertTrue(index.mayHold(hash));
      index.add(hash); // again: it takes no other slot
    }
    double bytes = index.bytes() / (double) count;
    assertTrue(bytes > 5 && bytes < 10, bytes + " bytes per id");
    long others = new Random(SEED + 1).longs(1_000_000).filter(index::mayHold).count();
    assertTrue(others < 20, others + " others");
  }

  /** All are in one part, and begin at the first or last slot: probing goes on at the start. */
  @Test
  void idsOfOnePlaceArePresent() {
    for (long place : new long[] {0, 0x000F_FFFF_0000_0000L}) {
      IdIndex index = new IdIndex();
      assertFalse(index.mayHold(place));
      for (long i = 0; i < 1_000; i++) {
        index.add(place + (i << 20));
      }
      for (long i = 0; i < 1_000; i++) {
        assertTrue(index.mayHold(place + (i << 20)), i + " from " + place);
      }
      assertFalse(index.mayHold(place ^ 0x0008_0000_0000_0000L));
    }
  }

  @Test
  void aHashWithoutStoredBitsIsPresent() {
    IdIndex index = new IdIndex();
    index.add(0);
    assertTrue(index.mayHold(0));
    assertFalse(new IdIndex().mayHold(0));
  }

  /** A thread looks up ids of which another one says that it has added them. */
  @Test
  void idsAreFoundWhileOthersAreAdded() throws InterruptedException {
    int count = 1_000_000;
    IdIndex index = new IdIndex();
    AtomicInteger added = new AtomicInteger();
    Thread adding =
        Thread.ofPlatform()
            .start(() -> {
              Random random = new Random(SEED);
              for (int i = 1; i <= count; i++) {
                index.add(random.nextLong());
                added.lazySet(i);
              }
            });
    int looked = 0;
    while (looked < count) {
      Random random = new Random(SEED);
      int until = added.get();
      for (looked = 0; looked < until; looked++) {
        assertTrue(index.mayHold(random.nextLong()), "id " + looked + " of " + until);
      }
    }
    adding.join();
  }

  @Test
  void readingAheadReadsTheSlot() {
    IdIndex index = new IdIndex();
    long hash = 0x1234_5678_9ABC_DEF0L;
    assertEquals(0, index.touch(hash));
    index.add(hash);
    assertEquals(0x4567_89AB, index.touch(hash));
  }

  @Test
  void idsOfFilesArePresent() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    Secret secret = new Secret(3);
    IdTable table = new IdTable(secret, 1 << 16);
    int count = 60_000; // more than a MiB
    for (long id = 1; id <= count; id++) {
      table.add(id, id, IdTable.meta(1, IdTable.APPLIED, 0), 1, id, 1, id);
    }
    IdFile file = IdFiles.write(new FileDisk(), directory, table);
    int[] pauses = {0};
    IdIndex index = IdIndex.of(List.of(file), secret, () -> ++pauses[0] > 0);
    assertNotNull(index);
    for (long id = 1; id <= count; id++) {
      assertTrue(Objects.requireNonNull(index).mayHold(secret.hash(id, id, 1)));
    }
    assertEquals(file.pages() / 256, pauses[0]);
    assertNull(IdIndex.of(List.of(file), secret, () -> false), "it was ended");
  }
}
