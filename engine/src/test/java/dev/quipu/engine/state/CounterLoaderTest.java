package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a loader makes of pages that do not fit together. */
final class CounterLoaderTest {
  private static final int PAGE = CounterTablePage.SIZE;

  private final State state = new State(7, 1_000, 1_000, 0);
  private final CounterLoader loader = state.counters.loader();

  private ByteBuffer image(String... names) {
    CounterTablePage page = new CounterTablePage();
    for (int i = 0; i < names.length; i++) {
      page.name(i, names[i]);
      page.value(i, i + 1);
      page.mark(i, CounterTablePage.WRITTEN);
    }
    return PageImage.of(page, state.ids);
  }

  private List<Integer> listed() {
    List<Integer> ordinals = new ArrayList<>();
    state.counters.from("", true).forEachRemaining((int ordinal) -> ordinals.add(ordinal));
    return ordinals;
  }

  @Test
  void ofTwoCountersWithOneNameTheLaterWasReadLater() {
    loader.add(0, image("b", "a"));
    loader.add(1, image("c", "b"));
    loader.finish();
    state.ready();
    assertEquals(PAGE + 1, state.counters.find("b"));
    assertEquals(List.of(1, PAGE + 1, PAGE), listed());
    assertEquals(3, state.counters.named());
    assertEquals(3, state.counters.writtenSize());
    assertEquals(0, state.counters.add("new"), "its ordinal is free");
  }

  @Test
  void aPageWithoutNamesGetsNames() {
    loader.add(0, image());
    loader.finish();
    state.name(0, "a");
    state.value(0, 7);
    state.ready();
    assertEquals(0, state.counters.find("a"));
    assertEquals(List.of(0), listed());
  }

  @Test
  void anOrderOfOtherCountersIsNotUsed() {
    loader.add(0, image("b", "a"));
    loader.order(IntBuffer.wrap(new int[] {1}));
    loader.finish();
    loader.ordered();
    state.ready();
    assertEquals(List.of(1, 0), listed());
  }

  @Test
  void anOrderThatWasNotReadCompletelyIsNotUsed() {
    loader.add(0, image("b", "a"));
    loader.order(IntBuffer.wrap(new int[] {0, 1}));
    loader.finish();
    state.ready();
    assertEquals(List.of(1, 0), listed());
  }

  @Test
  void aPageThatIsPresentIsRejected() {
    loader.add(0, image("b"));
    loader.add(0, image("a"));
    assertThrows(IllegalStateException.class, loader::finish);
  }
}
