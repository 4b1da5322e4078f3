package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.ids.Secret;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that are looked up at once have the ordinals that each has alone. */
final class LookaheadTest {
  private final Secret secret = new Secret(3);
  private final CounterTable table = new CounterTable(secret);
  private final Lookahead lookahead = table.lookahead();

  private void check(List<String> names) {
    lookahead.begin();
    for (String name : names) {
      if (name.length() % 2 == 0) {
        lookahead.expect(name);
      } else {
        byte[] within = ("<" + name + ">").getBytes(StandardCharsets.UTF_8);
        lookahead.expect(within, 1, within.length - 2);
      }
    }
    lookahead.find();
    for (int i = 0; i < names.size(); i++) {
      assertEquals(table.find(names.get(i)), lookahead.ordinal(i), names.get(i));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void namesAreFoundOrMissing(long seed) {
    Random random = new Random(seed);
    for (int step = 0; step < 3_000; step++) {
      List<String> names = new ArrayList<>();
      for (int i = random.nextInt(Lookahead.NAMES_MAX + 1); i > 0; i--) {
        names.add((random.nextInt(5) == 0 ? "é" : "c") + random.nextInt(4_000));
      }
      check(names);
      for (String name : names) {
        int ordinal = table.find(name);
        if (ordinal < 0) {
          var unused = table.add(name);
        } else if (random.nextInt(4) == 0) {
          table.free(ordinal);
        }
      }
    }
  }

  @Test
  void namesWithOneHashAreApart() {
    Map<Integer, String> byHash = new HashMap<>();
    List<String> same = new ArrayList<>();
    for (int i = 0; same.isEmpty(); i++) {
      String name = "n" + i;
      String other = byHash.put((int) (secret.hash(name) >>> 32), name);
      if (other != null) {
        same.addAll(List.of(name, other));
      }
    }
    check(same);
    assertEquals(0, table.add(same.get(0)));
    check(same);
    assertEquals(1, table.add(same.get(1)));
    check(same);
    table.free(0);
    check(same);
  }

  @Test
  void itIsOfUseInALargeTable() {
    assertFalse(lookahead.isUseful());
    table.reach(CounterTablePage.SIZE - 1);
    assertFalse(lookahead.isUseful());
    table.reach(CounterTablePage.SIZE);
    assertTrue(lookahead.isUseful());
  }
}
