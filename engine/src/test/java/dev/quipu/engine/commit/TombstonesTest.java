package dev.quipu.engine.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.state.Followers;
import dev.quipu.engine.state.State;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever happens between two parts of a sweep, no two counters get the same ordinal. */
final class TombstonesTest {
  private static final int AT_ONCE = 4;

  private final State state = new State(7, 1_000, 1_000, 0);
  private final Group group = new Group(ByteBuffer.allocate(1 << 20), new Followers());
  private final CounterAccess access = TestOperation.access(state, group);

  TombstonesTest() {
    state.wallMillis = 1;
    group.begin(null);
  }

  private void sweepPart() {
    group.begin(null);
    new ExpirySweeper.SweepTask(new int[AT_ONCE]).run(state, group);
  }

  /** Regression: a tombstone that was written again was freed when it expired, and once more. */
  @Test
  void aTombstoneThatWasRewrittenAndExpiredIsFreedOnce() {
    access.set("back", 1);
    List<String> others = new ArrayList<>();
    for (int i = 0; i < AT_ONCE; i++) {
      others.add("other-" + i);
      access.set(others.getLast(), 1);
    }
    access.remove("back");
    access.set("back", 2);
    access.expire("back", 2);
    others.forEach(access::remove);
    state.wallMillis = 3;
    sweepPart(); // takes the others, which came last, and removes the expired ones
    others.forEach(name -> access.set(name, 1));
    access.set("last", 1); // at its previous place
    access.remove("last");
    sweepPart();
    others.forEach(access::remove);
    access.set("one", 1);
    access.set("two", 2);
    assertEquals(OptionalLong.of(1), access.get("one"));
    assertEquals(OptionalLong.of(2), access.get("two"));
    assertEquals(2, access.size());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void countersAreAsInAPlainMap(long seed) {
    Random random = new Random(seed);
    Map<String, Long> expected = new HashMap<>();
    Map<String, Long> expiries = new HashMap<>();
    String name = "c";
    for (int step = 0; step < 50_000; step++) {
      if (random.nextInt(3) == 0) { // otherwise the same again
        name = "c" + random.nextInt(200);
      }
      switch (random.nextInt(10)) {
        case 0 -> {
          access.remove(name);
          expected.remove(name);
          expiries.remove(name);
        }
        case 1, 2 -> {
          if (expected.containsKey(name)) {
            long at = state.wallMillis + 1 + random.nextInt(10);
            access.expire(name, at);
            expiries.put(name, at);
          }
        }
        case 3 -> {
          if (random.nextInt(4) == 0) {
            sweepPart();
          }
        }
        case 4 -> {
          state.wallMillis++;
          state.timeMillis += 5;
          state.ids.advance(state.timeMillis);
          state.ids.drop(state.ids.forgotten(state.timeMillis));
          long now = state.wallMillis;
          expected.keySet().removeIf(each -> expiries.getOrDefault(each, now + 1) <= now);
          expiries.values().removeIf(at -> at <= now);
        }
        case 6 -> {
          for (int i = random.nextInt(30); i >= 0; i--) { // as transactions do
            String each = "c" + random.nextInt(200);
            access.remove(each);
            expected.remove(each);
            expiries.remove(each);
          }
        }
        case 5 -> {
          if (random.nextInt(20) == 0) {
            access.cancel(name, RequestId.of(1, step));
          }
        }
        default -> {
          long value = random.nextLong();
          access.set(name, value);
          expected.put(name, value);
        }
      }
      group.begin(null);
      Long is = expected.get(name);
      assertEquals(is == null ? OptionalLong.empty() : OptionalLong.of(is), access.get(name));
    }
    expected.forEach((each, value) -> assertEquals(OptionalLong.of(value), access.get(each)));
    assertEquals(expected.size(), access.size());
  }

  @Test
  void aFreeOrdinalIsNotFreedAgain() {
    access.set("a", 1);
    state.counters.free(0);
    assertThrows(IllegalStateException.class, () -> state.counters.free(0));
    assertEquals(0, state.counters.add("b"));
    assertEquals(1, state.counters.add("c"));
  }

  /** Ends the window of all ids so far. */
  private void forgetIds(Path directory) throws IOException {
    Disk disk = new FileDisk();
    state.ids.rotate();
    IdTable table = Objects.requireNonNull(state.ids.nextWaiting());
    Path path = directory.resolve("ids");
    IdFile.write(disk, path, table);
    state.ids.sealed(table, IdFile.open(disk, path));
    state.timeMillis += 10_000;
    state.ids.drop(state.ids.forgotten(state.timeMillis));
  }

  @Test
  void aTombstoneThatGetsAnIdWaitsForThatToo(@TempDir Path directory) throws IOException {
    state.ids.ready();
    access.set("a", 1);
    access.remove("a");
    access.cancel("a", RequestId.of("one"));
    int[] free = {-1};
    assertEquals(0, state.tombstones.take(state.ids, free, 1));
    assertFalse(state.tombstones.mayFree(state.ids));
    forgetIds(directory);
    assertTrue(state.tombstones.mayFree(state.ids));
    assertEquals(1, state.tombstones.take(state.ids, free, 1));
    assertEquals(0, free[0]);
  }

  @Test
  void aTombstoneWithIdsWaitsUntilTheyAreForgotten() {
    access.begin("a", 1, RequestId.of("one"));
    access.remove("a");
    assertFalse(state.tombstones.mayFree(state.ids));
    assertEquals(0, state.tombstones.take(state.ids, new int[1], 1));
    access.set("b", 1);
    access.remove("b");
    assertTrue(state.tombstones.mayFree(state.ids));
    int[] free = new int[2];
    assertEquals(1, state.tombstones.take(state.ids, free, 2));
    assertEquals(1, free[0]);
    assertFalse(state.tombstones.mayFree(state.ids));
  }

  @Test
  void aRewrittenCounterThatIsRemovedAgainWaitsAgain() {
    access.set("a", 1);
    access.remove("a");
    access.set("a", 2);
    assertEquals(0, state.tombstones.take(state.ids, new int[1], 1));
    access.remove("a");
    assertEquals(1, state.tombstones.take(state.ids, new int[1], 1));
  }
}
