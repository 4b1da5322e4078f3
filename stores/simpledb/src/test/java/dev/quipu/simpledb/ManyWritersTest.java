package dev.quipu.simpledb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTreeOptions;
import dev.quipu.hits.VersionTrees;
import dev.quipu.layer.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Clock;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Capacity of a version tree in concurrent processes. The article states about 100. */
final class ManyWritersTest {
  private static final String PAGE = "page";

  private final StoreDriver driver = Servers.openAlone(1);
  private final Store store = new Store(driver, Clock.system());

  @AfterEach
  void close() {
    driver.close();
  }

  @Test
  void oneItemHoldsMoreThanTheArticleStates() {
    VersionTreeOptions one = VersionTreeOptions.DEFAULT.over(1).trailing(0);
    int writers = 0;
    Map<Integer, VersionTrees> trees = Map.of();
    while (trees.size() < 2) {
      VersionTree process = new VersionTree(store, one);
      process.add(new Add(PAGE, 1, null));
      process.add(new Add(PAGE, 1, null)); // its leftovers are removed
      writers++;
      if (writers > 200) {
        trees = process.trees(PAGE);
      }
    }
    assertEquals(254, writers, "254 values have room, and the last of each but one leaves one");
    assertEquals(Reading.exact(2L * writers), new VersionTree(store).read(PAGE).orElseThrow());
  }

  @Test
  void severalItemsHoldMultiplesOfThat() {
    VersionTreeOptions four = VersionTreeOptions.DEFAULT.over(4);
    int writers = 1_000;
    for (int i = 0; i < writers; i++) {
      new VersionTree(store, four).add(new Add(PAGE, 3, null));
    }
    VersionTree reader = new VersionTree(store);
    assertEquals(Reading.exact(3L * writers), reader.read(PAGE).orElseThrow());
    int items = reader.trees(PAGE).size();
    assertTrue(4 <= items && items <= 5, "they are in " + items + " items");
  }
}
