package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.state.OpenHold.HoldId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares the order with a list that is sorted by expiry: a stable sort keeps insertion order. */
final class ExpiryOrderTest {
  private static final int SEEDS = 200;
  private static final int STEPS = 120;

  private final ExpiryOrder order = new ExpiryOrder();
  private final List<OpenHold> expected = new ArrayList<>();

  @Test
  void pagesAreInOrderWhileHoldsComeAndGo() {
    for (int seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      for (int step = 0; step < STEPS; step++) {
        change(random, step);
        assertEquals(sorted(), order.next(null, Integer.MAX_VALUE), "seed " + seed);
        assertEquals(
            sorted().isEmpty() ? null : sorted().getFirst(), order.first(), "seed " + seed);
        assertEquals(sorted(), pages(random), "seed " + seed);
      }
      resume(random, seed);
      while (!expected.isEmpty()) {
        order.remove(expected.removeLast());
      }
    }
  }

  private void change(Random random, int number) {
    if (expected.isEmpty() || random.nextInt(3) > 0) {
      HoldRecord placed = new HoldRecord(0, number, 0, random.nextInt(5), 0, List.of());
      OpenHold hold = new OpenHold(new HoldId(0, number), placed, List.of());
      expected.add(hold);
      order.add(hold);
    } else {
      order.remove(expected.remove(random.nextInt(expected.size())));
    }
  }

  private List<OpenHold> sorted() {
    return expected.stream().sorted(Comparator.comparingLong(OpenHold::expiresMillis)).toList();
  }

  private List<OpenHold> pages(Random random) {
    List<OpenHold> all = new ArrayList<>();
    int limit = 1 + random.nextInt(4);
    OpenHold last = null;
    while (true) {
      List<OpenHold> page = order.next(last, limit);
      all.addAll(page);
      if (page.size() < limit) {
        return all;
      }
      last = page.getLast();
    }
  }

  /** The last hold of a page may end before the next one is read. */
  private void resume(Random random, int seed) {
    List<OpenHold> before = sorted();
    int at = random.nextInt(before.size());
    OpenHold last = before.get(at);
    order.remove(last);
    expected.remove(last);
    List<OpenHold> rest = before.subList(at + 1, before.size());
    assertEquals(rest, order.next(last, Integer.MAX_VALUE), "seed " + seed);
  }
}
