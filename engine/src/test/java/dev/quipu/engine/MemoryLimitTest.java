package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.engine.ids.Secret;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory that clients can claim is limited, and existing counters keep working. */
final class MemoryLimitTest {
  private static final long LIMIT = 4 << 20;

  @TempDir Path directory;

  private final EngineOptions options =
      EngineOptions.defaults().withLog(1 << 20, 4 << 20).withMemoryBytesMax(LIMIT);

  @Test
  void newNamesAreRejectedAndExistingCountersKeepWorking() {
    int named;
    try (Engine engine = Engine.open(directory, options)) {
      named = fill(engine, "name-");
      QuipuException one =
          assertThrows(QuipuException.class, () -> engine.add(new Add("one more", 1, null)));
      assertEquals(Outcome.NOT_APPLIED, one.outcome());
      assertTrue(one.getMessage().contains("of 4,194,304 bytes"), one.getMessage());
      assertThrows(
          QuipuException.class,
          () -> TestOperation.run(engine, access -> access.setText("name-1", new byte[1_000])));
      for (int i = 0; i < 1_000; i++) {
        engine.add(new Add("name-1", 1, RequestId.of("id-" + i)));
      }
      assertEquals(1_001, engine.read("name-1").orElseThrow().value());
      TestOperation.run(engine, access -> access.remove("name-2"));
      engine.sweep();
      engine.add(new Add("one more", 1, null));
    }
    try (Engine engine = Engine.open(directory, options)) { // it opens, although it is full
      assertEquals(1_001, engine.read("name-1").orElseThrow().value());
      assertTrue(named > 5_000, "named: " + named);
    }
  }

  /** Regression: what removed counters leave was free for texts, and took the same heap again. */
  @Test
  void removedCountersLeaveTheirPlaceToOtherCountersOnly() {
    EngineOptions unsynced = options.withDurability(Durability.NONE); // thousands of removals
    try (Engine engine = Engine.open(directory, unsynced)) {
      int filled = fill(engine, "first-");
      long full = engine.statistics().memoryBytes();
      for (int i = 0; i < filled; i++) {
        String name = "first-" + i;
        TestOperation.run(engine, access -> access.remove(name));
      }
      engine.sweep();
      assertEquals(0, engine.statistics().counters());
      long left = engine.statistics().memoryBytes();
      assertTrue(left > full * 3 / 4, left + " of " + full);
      assertEquals(filled, fill(engine, "again-"));
      assertEquals(full, engine.statistics().memoryBytes());
    }
  }

  /** Adds counters until one is rejected; returns their number. */
  private static int fill(Engine engine, String prefix) {
    int named = 0;
    while (true) {
      List<Add> adds = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        adds.add(new Add(prefix + (named + i), 1, null));
      }
      for (ItemResult result : engine.addAll(adds)) {
        if (result instanceof ItemResult.Failed failed) {
          QuipuException why = assertInstanceOf(QuipuException.class, failed.cause());
          assertEquals(Reason.FULL, why.reason());
          return named;
        }
        named++;
      }
    }
  }

  /**
   * Regression: an applied add of an earlier frame was reported as not applied, because another add
   * was rejected.
   */
  @Test
  void aRejectedAddDoesNotChangeTheResultsOfOthers() {
    EngineOptions options = EngineOptions.defaults().withMemoryBytesMax(64 << 10);
    Add once = new Add("a", 1, RequestId.of("b1"));
    try (Engine engine = Engine.open(directory, options)) {
      engine.add(once);
      assertThrows(
          QuipuException.class,
          () -> {
            for (int i = 0; i < 10_000; i++) {
              engine.add(new Add("filler-" + i, 1, null));
            }
          });
      Add rejected = new Add("new", 1, RequestId.of("b2"));
      List<ItemResult> results = engine.addAll(List.of(once, rejected));
      assertInstanceOf(AddResult.Replayed.class, results.getFirst());
      assertNotApplied(results.getLast());
      results = engine.addAll(List.of(rejected, once));
      assertNotApplied(results.getFirst());
      assertInstanceOf(AddResult.Replayed.class, results.getLast());
      engine.addAll(List.of(rejected, rejected)).forEach(MemoryLimitTest::assertNotApplied);
    }
  }

  private static void assertNotApplied(ItemResult result) {
    ItemResult.Failed failed = assertInstanceOf(ItemResult.Failed.class, result);
    QuipuException why = assertInstanceOf(QuipuException.class, failed.cause());
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
  }

  /** Names that collide in String.hashCode, and ids that collided before hashes were keyed. */
  @Test
  void withoutTheKeyHashesCannotBeMadeToCollide() {
    List<String> names = new ArrayList<>(List.of(""));
    for (int i = 0; i < 14; i++) {
      List<String> longer = new ArrayList<>();
      names.forEach(name -> {
        longer.add(name + "Aa");
        longer.add(name + "BB");
      });
      names = longer;
    }
    Secret one = new Secret(0x1234_5678_9abc_def0L);
    Set<Integer> slots = new TreeSet<>();
    for (String name : names) {
      byte[] bytes = name.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
      assertEquals(one.hash(name), one.hash(bytes, 0, bytes.length));
      slots.add((int) (one.hash(name) >>> 32));
    }
    assertTrue(slots.size() > names.size() - 20, "distinct: " + slots.size());
    Set<Integer> wide = new TreeSet<>(); // the same if chars were folded into 8 bits each
    for (char each = 0; each < 1_000; each++) {
      wide.add((int) (one.hash("\u0100" + (char) (each << 8) + each) >>> 32));
    }
    assertEquals(1_000, wide.size());
    Set<Long> parts = new TreeSet<>();
    for (long i = 0; i < 70_000; i++) { // all equal under high ^ rotateLeft(low, 29)
      parts.add(one.hash(i, Long.rotateRight(i, 29), 0) >>> 40);
    }
    assertTrue(parts.size() > 69_000, "distinct: " + parts.size());
  }
}
