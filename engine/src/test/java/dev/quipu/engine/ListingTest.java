package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.CounterPage;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.state.Followers;
import dev.quipu.engine.state.State;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Listings of counters among many unlisted entries. */
final class ListingTest {
  private static final EngineOptions OPTIONS =
      EngineOptions.defaults().withLog(1 << 20, 4 << 20).withDurability(Durability.NONE);

  @TempDir Path directory;
  private Engine engine;
  private final TreeSet<String> counters = new TreeSet<>();

  @BeforeEach
  void open() {
    engine = Engine.open(directory, OPTIONS);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void add(String name) {
    engine.add(new Add(name, 1, null));
    counters.add(name);
  }

  private void family(String key, char separator, int members) {
    for (int i = 0; i < members; i++) {
      String member = key + separator + i;
      TestOperation.run(engine, access -> access.set(member, 1));
    }
  }

  private List<String> listed(String prefix, int limit) {
    List<String> names = new ArrayList<>();
    Optional<String> after = Optional.of("");
    while (after.isPresent()) {
      CounterPage page = engine.list(prefix, after.get(), limit);
      assertTrue(page.counters().size() <= limit);
      page.counters().forEach(each -> names.add(each.name()));
      after = page.resumeAfter();
    }
    return names;
  }

  @Test
  void familiesAreSkipped() {
    for (int i = 0; i < 20; i++) {
      add("key-" + i);
      family("key-" + i, i % 2 == 0 ? CounterAccess.MEMBER : CounterAccess.RANKED_MEMBER, 10);
    }
    family("key-1", CounterAccess.MEMBER, 3); // both kinds under one key
    add("key-1 ");
    add("key-1!");
    for (int limit : new int[] {1, 3, 21, 22, 23}) {
      assertEquals(List.copyOf(counters), listed("", limit));
    }
    assertEquals(List.of("key-19"), listed("key-19", 5));
    assertEquals(List.of(), listed("key-19" + CounterAccess.RANKED_MEMBER, 5));
  }

  @Test
  void aListingContinuesAfterTheGivenName() {
    add("a");
    add("b");
    add("ba");
    add("bb");
    add("c");
    family("", CounterAccess.MEMBER, 2); // of a family without a name
    assertEquals(List.copyOf(counters), listed("", 10));
    assertEquals(List.of("b", "ba", "bb"), listed("b", "a"));
    assertEquals(List.of("ba", "bb"), listed("b", "b"));
    assertEquals(List.of("bb"), listed("b", "ba"));
    assertEquals(List.of(), listed("b", "bb"));
  }

  private List<String> listed(String prefix, String after) {
    CounterPage page = engine.list(prefix, after, 10);
    return page.counters().stream().map(CounterPage.Entry::name).toList();
  }

  /** A listing that visits many names yields to other calls, and misses nothing. */
  @Test
  void theVisitsOfOneTurnAreLimited() {
    State state = new State(1, 60_000, 1_024, 0);
    state.wallMillis = 2_000;
    for (int i = 0; i < ListTask.VISITS_MAX + 2; i++) {
      int ordinal = state.counters.add("%06d".formatted(i));
      state.counters.set(ordinal, 1);
      if (i > 0 && i <= ListTask.VISITS_MAX) {
        state.counters.expire(ordinal, 1_000);
      }
    }
    ListTask task = new ListTask("", "", 10);
    Group group = new Group(ByteBuffer.allocate(1 << 16), new Followers());
    assertFalse(task.run(state, group));
    assertTrue(task.run(state, group));
    List<String> names = task.page().counters().stream().map(CounterPage.Entry::name).toList();
    assertEquals(List.of("000000", "%06d".formatted(ListTask.VISITS_MAX + 1)), names);
    assertEquals(Optional.empty(), task.page().resumeAfter());
  }
}
