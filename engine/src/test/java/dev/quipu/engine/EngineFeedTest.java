package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.CounterPage;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.backend.CounterFeed;
import dev.quipu.backend.CounterFeed.Change;
import dev.quipu.backend.CounterFeed.Changes;
import dev.quipu.simulation.time.ManualClock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a feed returns is what changed, compared to listings. */
@SuppressWarnings("NullAway.Init") // JUnit calls open before each test
final class EngineFeedTest {
  private static final long SEED = 8;

  @TempDir Path directory;
  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private Engine engine;

  @BeforeEach
  void open() {
    engine =
        Engine.open(
            directory, EngineOptions.defaults().withDurability(Durability.NONE).withClock(clock));
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void add(String name, long delta) {
    var unused = engine.add(new Add(name, delta, null));
  }

  private void run(Consumer<CounterAccess> work) {
    engine.run(
        List.of(
            new Operation() {
              @Override
              public int bytesMax(CounterAccess access) {
                return 4_096;
              }

              @Override
              public void on(CounterAccess access) {
                work.accept(access);
              }

              @Override
              public void failed(RuntimeException why) {
                throw why;
              }
            }));
  }

  /** Replaces a number with a text, a text with nothing, and nothing with a number. */
  private static void textOrNothing(CounterAccess access, String name) {
    if (access.text(name) != null) {
      access.remove(name);
    } else if (access.exists(name)) {
      access.setText(name, "text".getBytes(StandardCharsets.UTF_8));
    } else {
      access.set(name, 5);
    }
  }

  private Map<String, String> listed() {
    Map<String, String> all = new TreeMap<>();
    CounterPage page = engine.list("", "", 1_000);
    page.counters()
        .forEach(each -> all.put(each.name(), each.reading().text(each.reading().value())));
    return all;
  }

  private static void apply(Changes changes, Map<String, String> known) {
    for (Change each : changes.changes()) {
      if (each.reading().isPresent()) {
        known.put(each.name(), each.reading().get().text(each.reading().get().value()));
      } else {
        known.remove(each.name());
      }
    }
  }

  private static void readAll(CounterFeed feed, Map<String, String> known) {
    Changes changes;
    do {
      changes = feed.next(1_000);
      assertTrue(changes.isComplete());
      apply(changes, known);
    } while (!changes.isLast());
  }

  /** Two readers that read at different times, a few changes at a time. */
  @Test
  void readersKnowWhatIsListed() {
    Random random = new Random(SEED);
    add("before", 1);
    CounterFeed often = engine.follow();
    CounterFeed seldom = engine.follow();
    Map<String, String> knownOften = new TreeMap<>(listed());
    Map<String, String> knownSeldom = new TreeMap<>(listed());
    for (int i = 0; i < 30_000; i++) {
      String name = "c" + random.nextInt(200);
      switch (random.nextInt(12)) {
        case 0 -> engine.delete(name);
        case 1 -> {
          var unused = engine.set(name, random.nextLong(), OptionalLong.empty());
        }
        case 2 -> {
          var unused = engine.add(new Add(name, 1, RequestId.of("id-" + i)));
        }
        case 3 -> run(access -> textOrNothing(access, "t" + random.nextInt(5)));
        case 4 -> apply(often.next(1 + random.nextInt(5)), knownOften);
        case 5 -> clock.advance(Duration.ofMinutes(random.nextInt(3)));
        default -> {
          engine.delete(name + "x");
          add(name + "x", 1);
        }
      }
      if (i % 10_000 == 9_999) {
        readAll(often, knownOften);
        readAll(seldom, knownSeldom);
        assertEquals(listed(), knownOften);
        assertEquals(listed(), knownSeldom);
      }
    }
    often.close();
    seldom.close();
  }

  @Test
  void severalChangesAreReturnedOnce() {
    try (CounterFeed feed = engine.follow()) {
      assertEquals(0, feed.next(10).changes().size());
      for (int i = 0; i < 100; i++) {
        add("a", 1);
      }
      add("b", 1);
      Changes changes = feed.next(10);
      assertTrue(changes.isLast());
      assertEquals(2, changes.changes().size());
      assertEquals(0, feed.next(10).changes().size());
    }
  }

  @Test
  void membersOfFamiliesAreNotReturned() {
    try (CounterFeed feed = engine.follow()) {
      run(access -> access.set("family\u001fmember", 1));
      run(access -> access.set("ranked\u001emember", 1));
      assertEquals(0, feed.next(10).changes().size());
    }
  }

  @Test
  void droppedNamesAreReported() {
    int names = 65_536 + 100;
    try (CounterFeed feed = engine.follow()) {
      for (int i = 0; i < names; i++) {
        add("n" + i, 1);
        engine.delete("n" + i);
      }
      engine.sweep(); // frees them
      assertFalse(feed.next(1).isComplete());
      assertTrue(feed.next(1).isComplete());
      Set<String> removed = new HashSet<>();
      Changes changes;
      do {
        changes = feed.next(1_000);
        changes.changes().forEach(each -> removed.add(each.name()));
      } while (!changes.isLast());
      assertTrue(removed.size() >= 65_536 - 2, removed.size() + " names");
    }
  }

  @Test
  void limitsAreChecked() {
    try (CounterFeed feed = engine.follow()) {
      assertThrows(IllegalArgumentException.class, () -> feed.next(0));
      assertThrows(IllegalArgumentException.class, () -> feed.next(1_001));
      engine.close();
      assertThrows(QuipuException.class, () -> feed.next(1));
      open();
    } catch (QuipuException e) {
      // the engine of the feed is closed
    }
  }
}
