package dev.quipu.server.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What failures do to techniques, against what each of them guarantees. */
final class DemoTest {
  private static final List<Mishap> ALL = Arrays.asList(Mishap.values());

  private static List<Long> errors(long seed, String technique, List<Mishap> actions) {
    return Demo.run(seed, List.of(technique), actions).stream()
        .map(each -> each.counts().getFirst().value() - each.truth())
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"marker-item", "token-set", "item-collection"})
  void techniquesThatRememberIdsAreExact(String technique) {
    for (long seed = 0; seed < 20; seed++) {
      assertEquals(Collections.nCopies(5, 0L), errors(seed, technique, ALL), "seed " + seed);
    }
  }

  @Test
  void aRepeatedAtomicAddCountsTwice() {
    assertEquals(List.of(0L, 1L, 2L), errors(1, "atomic-add", ALL.subList(0, 3)));
    for (long seed = 0; seed < 20; seed++) {
      assertTrue(errors(seed, "atomic-add", ALL).stream().allMatch(each -> each >= 0));
    }
  }

  @Test
  void anAtomicAddThatIsNotRepeatedIsLost() {
    List<Mishap> killed = Collections.nCopies(20, Mishap.KILLED_WRITER);
    long error = errors(1, "atomic-add:give-up", killed).getLast();
    assertTrue(error < 0 && error > -20, "error " + error);
    assertEquals(List.of(0L), errors(1, "atomic-add:give-up", List.of(Mishap.LOST_REPLY)));
  }

  @Test
  void theSeedDecides() {
    List<Mishap> actions = Collections.nCopies(10, Mishap.PARTITION);
    assertEquals(errors(3, "atomic-add", actions), errors(3, "atomic-add", actions));
    assertNotEquals(errors(3, "atomic-add", actions), errors(4, "atomic-add", actions));
  }

  @Test
  void limitsAreStated() {
    List<String> five = Collections.nCopies(5, "atomic-add");
    assertThrows(IllegalArgumentException.class, () -> Demo.run(1, five, ALL));
    assertThrows(IllegalArgumentException.class, () -> Demo.run(1, List.of(), ALL));
    List<Mishap> many = Collections.nCopies(21, Mishap.PARTITION);
    assertThrows(IllegalArgumentException.class, () -> Demo.run(1, Demo.TECHNIQUES, many));
    assertThrows(IllegalArgumentException.class, () -> Demo.run(1, List.of("no-technique"), ALL));
    assertThrows(IllegalArgumentException.class, () -> Mishap.named("drop"));
  }
}
