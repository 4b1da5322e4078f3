package dev.quipu.testkit.store;

import static dev.quipu.testkit.store.StoreFixture.applied;
import static dev.quipu.testkit.store.StoreFixture.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.store.Condition;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contract of scans. */
interface ScanContract extends StoreFixture {
  @Test
  @Needs(Capability.ORDERED_SCAN)
  default void aScanReturnsEachItemOnceInOrderWhateverThePage() {
    List<String> sorts = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      sorts.add("%03d".formatted(i));
      applied(store().write(number(new Key("p", sorts.get(i)), i)));
    }
    applied(store().write(number(new Key("o", "x"), 1)));
    applied(store().write(number(new Key("p ", "x"), 1)));
    for (int page : List.of(1, 7, 25, 26, Scan.ITEMS_MAX)) {
      assertEquals(sorts, sorts("", Optional.empty(), false, page));
      assertEquals(sorts.reversed(), sorts("", Optional.empty(), true, page));
      assertEquals(sorts.subList(5, 20), sorts("005", Optional.of("020"), false, page));
      assertEquals(sorts.subList(5, 20).reversed(), sorts("005", Optional.of("020"), true, page));
    }
    assertEquals(List.of(), sorts("020", Optional.of("005"), false, 10));
    assertEquals(List.of(), sorts("0045", Optional.of("0049"), false, 10));
    assertEquals(List.of(), sorts("025", Optional.empty(), false, 10));
  }

  @Test
  @Needs(Capability.ORDERED_SCAN)
  default void aScanIsInOrderOfCodePoints() {
    List<String> sorts =
        List.of(
            " ",
            "!",
            "0",
            "A",
            "Z",
            "a",
            "a ",
            "a!",
            "aa",
            "b",
            "{",
            "~",
            "é",
            "數",
            "\uD7FF",
            "\uE000",
            "\uFFFD",
            "\uD800\uDC00",
            "\uD83D\uDE00",
            "\uDBFF\uDFFF");
    for (String sort : sorts.reversed()) {
      applied(put(sort, 1, Condition.always()));
    }
    assertEquals(sorts, sorts("", Optional.empty(), false, 3));
    assertEquals(sorts.reversed(), sorts("", Optional.empty(), true, 3));
    for (int i = 0; i < sorts.size(); i++) {
      assertEquals(sorts.subList(i, sorts.size()), sorts(sorts.get(i), Optional.empty(), false, 9));
      assertEquals(sorts.subList(0, i), sorts("", Optional.of(sorts.get(i)), false, 9));
    }
  }

  @Test
  @Needs(Capability.ORDERED_SCAN)
  default void aScanSeesWholeItemsAndNotWhatWasDeleted() {
    applied(put("a", 1, Condition.always()));
    applied(put("b", 2, Condition.always()));
    applied(put("c", 3, Condition.always()));
    applied(delete("b", Condition.always()));
    Page page = store().scan(Scan.all("p"));
    assertEquals(List.of(item("a"), item("c")), page.items());
    assertEquals(Optional.empty(), page.resumeAt());
    assertEquals(List.of(), store().scan(Scan.all("nothing")).items());
  }

  @Test
  @Needs(Capability.ORDERED_SCAN)
  default void aCountIsOfAllThatAScanWouldFind() {
    for (int i = 0; i < 25; i++) {
      applied(store().write(number(new Key("p", "%03d".formatted(i)), i)));
    }
    applied(store().write(number(new Key("o", "007"), 1)));
    applied(delete("003", Condition.always()));
    assertEquals(24, store().count(Scan.all("p")));
    for (boolean descending : List.of(false, true)) {
      Scan some = new Scan("p", "002", Optional.of("020"), descending, 5, Consistency.STRONG);
      assertEquals(17, store().count(some));
    }
    assertEquals(0, store().count(Scan.all("q")));
  }

  @Test
  @Needs(Capability.EVENTUAL_SCAN)
  default void anEventualScanReturnsSomeItemsInOrder() {
    List<String> sorts = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      sorts.add("%03d".formatted(i));
      applied(store().write(number(new Key("p", sorts.get(i)), i)));
    }
    applied(store().write(number(new Key("o", "x"), 1)));
    for (boolean descending : List.of(false, true)) {
      Scan scan = new Scan("p", "005", Optional.of("020"), descending, 7, Consistency.EVENTUAL);
      List<String> found = new ArrayList<>();
      store().scanAll(scan, page -> page.forEach(item -> found.add(item.key().sort())));
      List<String> expected = new ArrayList<>(sorts.subList(5, 20));
      expected.retainAll(found);
      assertEquals(descending ? expected.reversed() : expected, found);
    }
  }

  private List<String> sorts(String from, Optional<String> until, boolean descending, int page) {
    List<String> found = new ArrayList<>();
    Scan scan = new Scan("p", from, until, descending, page, Consistency.STRONG);
    while (true) {
      Page next = store().scan(scan);
      assertTrue(next.items().size() <= page);
      next.items().forEach(item -> found.add(item.key().sort()));
      if (next.resumeAt().isEmpty()) {
        return found;
      }
      scan = scan.resumedAt(next.resumeAt().get());
    }
  }
}
