package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Reason;
import dev.quipu.memory.ItemTable;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Condition;
import dev.quipu.store.FreshTokens;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Edge cases of keys, scans, writes and tables. */
final class StoreValuesTest {
  private static Item item(String partition, String sort) {
    return new Item(new Key(partition, sort), Map.of(), new Version("1"), Optional.empty());
  }

  @Test
  void aPlaceHoldsTheWholeKey() {
    List<String> partitions =
        List.of("a", "a/b", "1/a", "x".repeat(400), "x".repeat(401), "é".repeat(201));
    List<String> places = new ArrayList<>();
    for (String partition : partitions) {
      for (String sort : List.of("s", "s/t", "/")) {
        String place = new Key(partition, sort).place();
        assertEquals(new Key(partition, sort), Key.at(partition, place));
        assertTrue(place.startsWith(Key.group(partition) + "/"), place);
        places.add(place);
      }
    }
    assertEquals(places.size(), Set.copyOf(places).size());
    assertEquals("1/a/s", new Key("a", "s").place());
    assertEquals("x".repeat(400), Key.shortened("x".repeat(400), 400));
    assertEquals(65, Key.shortened("x".repeat(401), 400).length());
    assertNotEquals(Key.shortened("x".repeat(401), 400), Key.shortened("x".repeat(402), 400));
  }

  @Test
  void theEndsOfAScanAreTheseOfItsPlaces() {
    Scan some = new Scan("a", "f", Optional.of("u"), false, 1, Consistency.STRONG);
    assertEquals("1/a/f", some.fromPlace());
    assertEquals("1/a/u", some.untilPlace());
    Scan all = Scan.all("a");
    assertEquals("1/a/", all.fromPlace());
    for (String sort : List.of("!", "\uD83D\uDE00")) {
      String place = new Key("a", sort).place();
      assertTrue(Key.ORDER.compare(all.fromPlace(), place) < 0);
      assertTrue(Key.ORDER.compare(place, all.untilPlace()) < 0);
    }
    assertTrue(Key.ORDER.compare(all.untilPlace(), new Key("ab", "!").place()) < 0);
  }

  @Test
  void aScanHasOneItemAPageAtLeastAndAThousandAtMost() {
    for (int itemsMax : new int[] {0, Scan.ITEMS_MAX + 1}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> new Scan("a", "", Optional.empty(), false, itemsMax, Consistency.STRONG));
    }
  }

  @Test
  void onlyAnUnconditionalAddToTheValueIsALoneAdd() {
    Key key = new Key("p", "s");
    Change add = new Change.Add(Item.VALUE, 1);
    assertTrue(new Write.Update(key, List.of(add), Condition.always()).isLoneAdd());
    assertFalse(new Write.Update(key, List.of(add), new Condition.Absent()).isLoneAdd());
    Change other = new Change.Add("other", 1);
    assertFalse(new Write.Update(key, List.of(other), Condition.always()).isLoneAdd());
    assertFalse(new Write.Update(key, List.of(add, other), Condition.always()).isLoneAdd());
    Change put = new Change.Put(Item.VALUE, new Field.Number(1));
    assertFalse(new Write.Update(key, List.of(put), Condition.always()).isLoneAdd());
  }

  @Test
  void aWriteTakesAnotherCondition() {
    Key key = new Key("p", "s");
    Condition absent = new Condition.Absent();
    for (Write write :
        List.of(
            new Write.Put(key, Map.of(), Optional.empty(), Condition.always()),
            new Write.Update(key, List.of(new Change.Add("n", 1)), Condition.always()),
            new Write.Delete(key, Condition.always()))) {
      Write when = write.when(absent);
      assertEquals(absent, when.condition());
      assertEquals(write, when.when(Condition.always()));
    }
  }

  @Test
  void noSetIsSmallerThanEmpty() {
    assertEquals(1, new Condition.FewerThan("set", 1).count());
    assertThrows(IllegalArgumentException.class, () -> new Condition.FewerThan("set", 0));
  }

  @Test
  void onlyWhatMayPassByItselfIsTemporary() {
    EnumSet<Reason> temporary = EnumSet.of(Reason.UNAVAILABLE, Reason.THROTTLED, Reason.TIMEOUT);
    for (Reason reason : Reason.values()) {
      assertEquals(temporary.contains(reason), reason.isTemporary(), reason.name());
    }
  }

  @Test
  void freshTokensAreNew() {
    FreshTokens one = new FreshTokens();
    FreshTokens other = new FreshTokens();
    List<String> made = Stream.of(one.next(), one.next(), other.next(), other.next()).toList();
    assertEquals(4, Set.copyOf(made).size());
    made.forEach(each -> assertTrue(each.matches("[0-9a-z.-]{3,20}"), each));
  }

  @Test
  void aTableCountsItsItemsOnce() {
    ItemTable table = new ItemTable();
    table.set(new Key("p", "a"), Optional.empty());
    table.set(new Key("p", "a"), Optional.of(item("p", "a")));
    table.set(new Key("p", "a"), Optional.of(item("p", "a")));
    table.set(new Key("p", "b"), Optional.of(item("p", "b")));
    assertEquals(2, table.size());
    table.set(new Key("p", "c"), Optional.empty());
    table.set(new Key("p", "a"), Optional.empty());
    assertEquals(1, table.size());
    assertEquals(Optional.of(item("p", "b")), table.get(new Key("p", "b")));
    table.set(new Key("p", "b"), Optional.empty());
    assertEquals(0, table.size());
    assertEquals(List.of(), table.next(null, 9));
  }

  @Test
  void aWalkOverATableSeesEachItemOnceInPagesOfAnySize() {
    ItemTable table = new ItemTable();
    List<Item> all = new ArrayList<>();
    for (String partition : List.of("a", "b", "c")) {
      for (String sort : List.of("1", "2", "3")) {
        all.add(item(partition, sort));
        table.set(new Key(partition, sort), Optional.of(item(partition, sort)));
      }
    }
    for (int itemsMax = 1; itemsMax <= 10; itemsMax++) {
      List<Item> seen = new ArrayList<>();
      for (List<Item> page = table.next(null, itemsMax);
          !page.isEmpty();
          page = table.next(page.getLast().key(), itemsMax)) {
        assertTrue(page.size() <= itemsMax);
        seen.addAll(page);
      }
      assertEquals(all, seen, "in pages of " + itemsMax);
    }
    List<Item> rest = table.next(new Key("b", "2"), 2);
    table.set(new Key("b", "2"), Optional.empty()); // between two pages
    assertEquals(rest, table.next(new Key("b", "2"), 2));
    assertEquals(all.subList(6, 8), table.next(new Key("bb", "1"), 2));
  }

  @Test
  void aRangeWithoutItemsIsEmpty() {
    ItemTable table = new ItemTable();
    table.set(new Key("p", "a"), Optional.of(item("p", "a")));
    for (String until : List.of("a", "A")) {
      Scan none = new Scan("p", "a", Optional.of(until), false, 9, Consistency.STRONG);
      assertEquals(List.of(), table.page(none).items());
    }
    Scan one = new Scan("p", "a", Optional.of("b"), false, 9, Consistency.STRONG);
    assertEquals(List.of(item("p", "a")), table.page(one).items());
  }

  @Test
  void namesAndValuesOfAtomicOperationsHaveLimits() {
    String longest = "k".repeat(AtomicOperations.KEY_BYTES_MAX);
    assertEquals(longest, AtomicOperations.checkKey(longest));
    for (String key : List.of("", " a", "a b", "a ", longest + "k")) {
      assertThrows(IllegalArgumentException.class, () -> AtomicOperations.checkKey(key), key);
    }
    String largest = "v".repeat(AtomicOperations.VALUE_BYTES_MAX);
    assertEquals(largest, AtomicOperations.checkValue(largest));
    assertEquals("", AtomicOperations.checkValue(""));
    for (String value : List.of("\u0000", "a\u0000", "\uD800", largest + "v")) {
      assertThrows(IllegalArgumentException.class, () -> AtomicOperations.checkValue(value));
    }
    for (long delta : new long[] {0, 1, Long.MAX_VALUE}) {
      assertEquals(delta, AtomicOperations.checkDelta(delta));
    }
    assertThrows(IllegalArgumentException.class, () -> AtomicOperations.checkDelta(-1));
    Optional<Duration> year = Optional.of(AtomicOperations.EXPIRY_MAX);
    assertEquals(year, AtomicOperations.checkExpiry(year));
    assertEquals(Optional.empty(), AtomicOperations.checkExpiry(Optional.empty()));
    for (Duration expiry : List.of(Duration.ZERO, AtomicOperations.EXPIRY_MAX.plusNanos(1))) {
      assertThrows(
          IllegalArgumentException.class, () -> AtomicOperations.checkExpiry(Optional.of(expiry)));
    }
  }

  @Test
  void aSweepRemovesNoMoreThanItMay() {
    MemoryDriver memory = new MemoryDriver();
    Instant expiry = Instant.ofEpochMilli(1_000);
    for (String sort : List.of("a", "b", "c")) {
      memory.write(
          new Write.Put(new Key("p", sort), Map.of(), Optional.of(expiry), Condition.always()));
    }
    assertEquals(0, memory.removeExpired(expiry.minusMillis(1), 9));
    assertEquals(2, memory.removeExpired(expiry, 2));
    assertEquals(1, memory.removeExpired(expiry, 2));
    assertEquals(List.of(), memory.scan(Scan.all("p")).items());
  }

  @Test
  void keysAreInOrderOfPartitionAndThenOfSort() {
    List<Key> keys =
        List.of(
            new Key("a", "a"), new Key("a", "b"), new Key("b", "a"), new Key("\uD83D\uDE00", "a"));
    for (int i = 0; i < keys.size(); i++) {
      for (int j = 0; j < keys.size(); j++) {
        assertEquals(Integer.compare(i, j), Integer.signum(keys.get(i).compareTo(keys.get(j))));
      }
    }
  }
}
