package dev.quipu.server.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.Reading;
import dev.quipu.backend.CounterFeed.Change;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Of several changes of a counter the last one counts, in one tick and over several. */
final class ChangesTest {
  private static Change change(String name, long value) {
    return new Change(name, Optional.of(Reading.exact(value)));
  }

  @Test
  void theLastChangeOfATickCounts() {
    Changes changes = new Changes();
    changes.add(List.of(change("b", 1), change("a", 1), change("b", 2), change("a", 5)));
    changes.add(
        List.of(change("b", 3), new Change("b", Optional.empty()), change("b", 7), change("c", 1)));
    assertEquals(
        Map.of("a", Optional.of(5L), "b", Optional.of(7L), "c", Optional.of(1L)),
        since(changes, 0, ""));
    assertEquals(Map.of("b", Optional.of(7L), "c", Optional.of(1L)), since(changes, 1, ""));
  }

  @Test
  void equalsAModel() {
    Random random = new Random(8);
    Changes changes = new Changes();
    List<List<Change>> all = new ArrayList<>();
    for (int tick = 0; tick < 200; tick++) {
      List<Change> some = new ArrayList<>();
      for (int i = random.nextInt(60); i > 0; i--) {
        String name = "p" + random.nextInt(3) + "/" + random.nextInt(9);
        some.add(
            random.nextInt(5) == 0
                ? new Change(name, Optional.empty())
                : change(name, random.nextInt(100)));
      }
      changes.add(some);
      all.add(some);
    }
    for (int tick = 0; tick <= 200; tick += 25) {
      Map<String, Optional<Long>> expected = new HashMap<>();
      all.subList(tick, 200).stream()
          .flatMap(List::stream)
          .filter(each -> each.name().startsWith("p1"))
          .forEach(each -> expected.put(each.name(), each.reading().map(Reading::value)));
      assertEquals(expected, since(changes, tick, "p1"));
    }
  }

  private static Map<String, Optional<Long>> since(Changes changes, long tick, String prefix) {
    Map<String, Optional<Long>> found = new HashMap<>();
    changes
        .since(tick, prefix)
        .orElseThrow()
        .forEach(each -> found.put(each.name(), each.reading().map(Reading::value)));
    return found;
  }
}
