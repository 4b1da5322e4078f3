package dev.quipu.verify.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.store.Capability;
import dev.quipu.store.Change;
import dev.quipu.store.Condition;
import dev.quipu.store.Consistency;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Outcome;
import dev.quipu.store.Page;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreException;
import dev.quipu.store.StoreOptions;
import dev.quipu.store.Version;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.ManualClock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What every {@link StoreDriver} must do, seen through {@link Store}. A driver's test extends it
 * and opens an empty store. What a driver does not claim to be able to do is skipped by name, and
 * must be refused.
 */
public abstract class StoreContract {
  private static final String N = "n";
  private static final long NOW = 1_700_000_000_000L;

  private ManualClock clock;
  private StoreDriver driver;
  private Store store;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openStore before each test
  protected StoreContract() {}

  /** Opens an empty store. */
  protected abstract StoreDriver open() throws Exception;

  @BeforeEach
  final void openStore() throws Exception {
    clock = new ManualClock(NOW);
    driver = open();
    StoreOptions patient =
        new StoreOptions(100, Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofDays(1));
    store = new Store(driver, clock, Randomness.secure(), patient);
  }

  @AfterEach
  final void closeStore() throws Exception {
    driver.close();
  }

  // ---- reads

  @Test
  final void whatIsNotThereIsNotFound() {
    assertEquals(Optional.empty(), get(key("a")));
  }

  @Test
  final void everyKindOfFieldComesBackAsItWas() {
    Map<String, Field> fields =
        Map.of(
            "smallest",
            new Field.Number(Long.MIN_VALUE),
            "largest",
            new Field.Number(Long.MAX_VALUE),
            "empty",
            new Field.Text(""),
            "text",
            new Field.Text("naïve \u0000 \n \" ' % 数 \uD83D\uDE00"),
            "tokens",
            new Field.Tokens(Set.of("a", "b c", "数")));
    applied(put("a", fields, Condition.always()));
    assertEquals(fields, get(key("a")).orElseThrow().fields());
  }

  @Test
  final void keysOfAnyCharactersAreToldApart() {
    List<String> names =
        List.of(
            "a",
            "A",
            "a ",
            " a",
            "a/b",
            "a%2Fb",
            "a#b",
            "a:b",
            "../x",
            "数",
            "\uD83D\uDE00",
            "é",
            "e\u0301",
            "\u202Ea",
            "{a}",
            "a\"b",
            "a'b",
            "$x",
            "a\\b",
            "\uFFFD",
            "<b>",
            "=1+1",
            "_");
    for (String partition : names) {
      for (String sort : names) {
        Key key = new Key(partition, sort);
        applied(store.write(number(key, (partition + "|" + sort).hashCode())));
      }
    }
    for (String partition : names) {
      for (String sort : names) {
        Item item = get(new Key(partition, sort)).orElseThrow();
        assertEquals((partition + "|" + sort).hashCode(), item.number(N), partition + "|" + sort);
      }
    }
  }

  @Test
  final void theLongestKeyIsTakenAndOneByteMoreIsRefused() {
    Key longest = new Key("p".repeat(Key.PARTITION_BYTES_MAX), "s".repeat(Key.SORT_BYTES_MAX));
    applied(store.write(number(longest, 1)));
    assertEquals(1, get(longest).orElseThrow().number(N));
    assertThrows(
        IllegalArgumentException.class,
        () -> new Key("p".repeat(Key.PARTITION_BYTES_MAX + 1), "s"));
    assertThrows(
        IllegalArgumentException.class, () -> new Key("p", "s".repeat(Key.SORT_BYTES_MAX + 1)));
  }

  // ---- conditions

  @Test
  final void absentHoldsOnlyWhileThereIsNothing() {
    applied(put("a", 1, new Condition.Absent()));
    WriteResult.ConditionFailed failed = unmet(put("a", 2, new Condition.Absent()));
    assertEquals(key("a"), failed.key());
    assertEquals(1, failed.found().orElseThrow().number(N));
    assertEquals(1, get(key("a")).orElseThrow().number(N));
  }

  @Test
  final void versionIsHoldsOnlyForTheLatestState() {
    applied(put("a", 1, Condition.always()));
    Version first = get(key("a")).orElseThrow().version();
    Item second = applied(put("a", 2, new Condition.VersionIs(first))).after().orElseThrow();
    assertNotEquals(first, second.version());
    assertEquals(second.version(), get(key("a")).orElseThrow().version());
    unmet(put("a", 3, new Condition.VersionIs(first)));
    unmet(put("b", 3, new Condition.VersionIs(first)));
    applied(store.write(new Write.Delete(key("a"), new Condition.VersionIs(second.version()))));
    assertEquals(Optional.empty(), get(key("a")));
  }

  @Test
  final void aVersionNeverReturns() {
    Set<Version> seen = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      applied(put("a", 1, Condition.always()));
      assertTrue(seen.add(get(key("a")).orElseThrow().version()));
      if (i % 2 == 0) {
        applied(store.write(new Write.Delete(key("a"), Condition.always())));
      }
    }
  }

  @Test
  final void fieldIsComparesValueAndKind() {
    applied(put("a", 7, Condition.always()));
    unmet(add("a", 1, new Condition.FieldIs(N, new Field.Number(8))));
    unmet(add("a", 1, new Condition.FieldIs(N, new Field.Text("7"))));
    unmet(add("a", 1, new Condition.FieldIs("other", new Field.Number(7))));
    unmet(add("b", 1, new Condition.FieldIs(N, new Field.Number(0))));
    applied(add("a", 1, new Condition.FieldIs(N, new Field.Number(7))));
  }

  @Test
  final void withinIsJudgedAfterTheChangeAtBothEdges() {
    Condition within = new Condition.Within(N, -2, 3);
    applied(add("a", 3, within));
    assertEquals(3, unmet(add("a", 1, within)).found().orElseThrow().number(N));
    applied(add("a", -5, within));
    unmet(add("a", -1, within));
    unmet(add("b", 4, within));
    assertEquals(Optional.empty(), get(key("b")));
    assertEquals(-2, get(key("a")).orElseThrow().number(N));
  }

  @Test
  final void lacksAndFewerThanLookAtTheSetBeforeTheChange() {
    applied(update("a", List.of(new Change.AddToken("s", "x")), freeFor("x")));
    unmet(update("a", List.of(new Change.AddToken("s", "x")), freeFor("x")));
    applied(update("a", List.of(new Change.AddToken("s", "y")), freeFor("y")));
    unmet(update("a", List.of(new Change.AddToken("s", "z")), freeFor("z")));
    assertEquals(Set.of("x", "y"), get(key("a")).orElseThrow().tokens("s"));
  }

  private static Condition freeFor(String token) {
    return Condition.all(new Condition.Lacks("s", token), new Condition.FewerThan("s", 2));
  }

  @Test
  final void allHoldsOnlyIfEachDoes() {
    applied(put("a", 1, Condition.always()));
    Condition both =
        Condition.all(new Condition.FieldIs(N, new Field.Number(1)), new Condition.Within(N, 0, 5));
    unmet(add("a", 9, both));
    applied(add("a", 4, both));
    unmet(add("a", -1, both));
    applied(add("a", -1, Condition.all()));
  }

  // ---- updates

  @Test
  final void addStartsAtZeroAndReturnsTheItem() {
    assertEquals(5, applied(add("a", 5, Condition.always())).after().orElseThrow().number(N));
    assertEquals(2, applied(add("a", -3, Condition.always())).after().orElseThrow().number(N));
  }

  @Test
  final void aSumOutside64BitsIsRefusedAndNothingChanges() {
    applied(put("a", Long.MAX_VALUE, Condition.always()));
    unmet(add("a", 1, Condition.always()));
    assertEquals(Long.MAX_VALUE, get(key("a")).orElseThrow().number(N));
    applied(put("a", Long.MIN_VALUE, Condition.always()));
    unmet(add("a", -1, Condition.always()));
    unmet(add("a", Long.MIN_VALUE, Condition.always()));
    assertEquals(Long.MIN_VALUE, get(key("a")).orElseThrow().number(N));
  }

  @Test
  final void anUpdateLeavesOtherFieldsAndItsChangesApplyInOrder() {
    applied(put("a", Map.of("x", new Field.Text("old"), N, number(1)), Condition.always()));
    applied(
        update(
            "a",
            List.of(
                new Change.Add(N, 2),
                new Change.Put("y", new Field.Text("new")),
                new Change.AddToken("s", "t"),
                new Change.DropToken("s", "t"),
                new Change.AddToken("s", "u")),
            Condition.always()));
    assertEquals(
        Map.of(
            "x",
            new Field.Text("old"),
            N,
            number(3),
            "y",
            new Field.Text("new"),
            "s",
            new Field.Tokens(Set.of("u"))),
        get(key("a")).orElseThrow().fields());
  }

  @Test
  final void aFieldOfAnotherKindIsRefusedAndNothingChanges() {
    applied(put("a", Map.of(N, new Field.Text("x")), Condition.always()));
    StoreException e = assertThrows(StoreException.class, () -> add("a", 1, Condition.always()));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(Optional.of("x"), get(key("a")).orElseThrow().text(N));
  }

  @Test
  final void deleteIsIdempotent() {
    applied(put("a", 1, Condition.always()));
    applied(store.write(new Write.Delete(key("a"), Condition.always())));
    applied(store.write(new Write.Delete(key("a"), Condition.always())));
    assertEquals(Optional.empty(), get(key("a")));
  }

  // ---- batches

  @Test
  final void aBatchIsAllOrNothingAndNamesTheFirstUnmetKey() {
    needs(Capability.ATOMIC_BATCH);
    applied(put("b", 1, Condition.always()));
    WriteResult.ConditionFailed failed =
        unmet(
            store.writeAll(
                List.of(
                    number(key("a"), 1),
                    number(key("b"), 2).when(new Condition.Absent()),
                    number(key("c"), 3)),
                null));
    assertEquals(key("b"), failed.key());
    assertEquals(1, failed.found().orElseThrow().number(N));
    assertEquals(Optional.empty(), get(key("a")));
    assertEquals(Optional.empty(), get(key("c")));
    applied(store.writeAll(List.of(number(key("a"), 1), number(key("c"), 3)), null));
    assertEquals(3, get(key("c")).orElseThrow().number(N));
  }

  @Test
  final void aBatchOfTheLargestSizeIsTakenAndOneMoreIsRefused() {
    needs(Capability.ATOMIC_BATCH);
    List<Write> batch = new ArrayList<>();
    for (int i = 0; i < store.profile().batchItemsMax(); i++) {
      batch.add(number(key("k" + i), i));
    }
    applied(store.writeAll(batch, null));
    assertEquals(batch.size() - 1, get(key("k" + (batch.size() - 1))).orElseThrow().number(N));
    batch.add(number(key("more"), 1));
    assertThrows(IllegalArgumentException.class, () -> store.writeAll(batch, null));
    assertThrows(IllegalArgumentException.class, () -> store.writeAll(List.of(), null));
    assertThrows(
        IllegalArgumentException.class,
        () -> store.writeAll(List.of(number(key("x"), 1), number(key("x"), 2)), null));
    assertEquals(Optional.empty(), get(key("x")));
  }

  @Test
  final void aBatchUnderATokenAppliesOnce() {
    needs(Capability.TOKEN_BATCH);
    List<Write> batch =
        List.of(new Write.Update(key("a"), List.of(new Change.Add(N, 1)), Condition.always()));
    RequestToken token = new RequestToken("token-1");
    applied(store.writeAll(batch, token));
    applied(store.writeAll(batch, token));
    assertEquals(1, get(key("a")).orElseThrow().number(N));
    assertThrows(StoreException.class, () -> store.writeAll(List.of(number(key("a"), 9)), token));
  }

  @Test
  final void whatIsNotClaimedIsRefused() {
    List<Write> batch = List.of(number(key("a"), 1));
    if (!store.profile().has(Capability.ATOMIC_BATCH)) {
      assertThrows(UnsupportedOperationException.class, () -> store.writeAll(batch, null));
      assertThrows(UnsupportedOperationException.class, () -> driver.writeAll(batch, null));
    }
    if (!store.profile().has(Capability.TOKEN_BATCH)) {
      RequestToken token = new RequestToken("t");
      assertThrows(UnsupportedOperationException.class, () -> store.writeAll(batch, token));
      assertThrows(UnsupportedOperationException.class, () -> driver.writeAll(batch, token));
    }
    if (!store.profile().has(Capability.ORDERED_SCAN)) {
      assertThrows(UnsupportedOperationException.class, () -> store.scan(Scan.all("p")));
      assertThrows(UnsupportedOperationException.class, () -> driver.scan(Scan.all("p")));
    }
    assertEquals(Optional.empty(), get(key("a")));
  }

  // ---- scans

  @Test
  final void aScanReturnsEachItemOnceInOrderWhateverThePage() {
    needs(Capability.ORDERED_SCAN);
    List<String> sorts = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      sorts.add("%03d".formatted(i));
      applied(store.write(number(new Key("p", sorts.get(i)), i)));
    }
    applied(store.write(number(new Key("o", "x"), 1)));
    applied(store.write(number(new Key("p ", "x"), 1)));
    for (int page : List.of(1, 7, 25, 26, Scan.ITEMS_MAX)) {
      assertEquals(sorts, scan("", Optional.empty(), false, page));
      assertEquals(sorts.reversed(), scan("", Optional.empty(), true, page));
      assertEquals(sorts.subList(5, 20), scan("005", Optional.of("020"), false, page));
      assertEquals(sorts.subList(5, 20).reversed(), scan("005", Optional.of("020"), true, page));
    }
    assertEquals(List.of(), scan("020", Optional.of("005"), false, 10));
    assertEquals(List.of(), scan("0045", Optional.of("0049"), false, 10));
    assertEquals(List.of(), scan("025", Optional.empty(), false, 10));
  }

  private List<String> scan(String from, Optional<String> until, boolean descending, int page) {
    List<String> found = new ArrayList<>();
    Scan scan = new Scan("p", from, until, descending, page, Consistency.STRONG);
    while (true) {
      Page next = store.scan(scan);
      assertTrue(next.items().size() <= page);
      next.items().forEach(item -> found.add(item.key().sort()));
      if (next.resumeAt().isEmpty()) {
        return found;
      }
      scan = scan.resumedAt(next.resumeAt().get());
    }
  }

  // ---- expiry

  @Test
  final void whatHasExpiredIsNotSeenAndMakesPlace() {
    applied(store.write(expiring("a", 1)));
    assertEquals(1, get(key("a")).orElseThrow().number(N));
    unmet(put("a", 2, new Condition.Absent()));
    clock.advance(Duration.ofSeconds(60));
    assertEquals(Optional.empty(), get(key("a")));
    applied(put("a", 3, new Condition.Absent()));
    assertEquals(3, get(key("a")).orElseThrow().number(N));
  }

  @Test
  final void whatHasExpiredMakesPlaceInABatch() {
    needs(Capability.ATOMIC_BATCH);
    applied(store.write(expiring("a", 1)));
    applied(store.write(expiring("b", 1)));
    clock.advance(Duration.ofSeconds(60));
    applied(
        store.writeAll(
            List.of(
                number(key("a"), 2).when(new Condition.Absent()),
                number(key("b"), 3).when(new Condition.Absent()),
                number(key("c"), 4).when(new Condition.Absent())),
            null));
    assertEquals(3, get(key("b")).orElseThrow().number(N));
  }

  // ---- many at once

  @Test
  final void noAddIsLostAmongManyWriters() throws Exception {
    Clients.together(
        8,
        client -> {
          for (int i = 0; i < 50; i++) {
            applied(add("hot", 1, Condition.always()));
          }
          return 0;
        });
    assertEquals(400, get(key("hot")).orElseThrow().number(N));
  }

  @Test
  final void batchesOfManyWritersKeepTheirSum() throws Exception {
    needs(Capability.ATOMIC_BATCH);
    List<Integer> moved =
        Clients.together(
            8,
            client -> {
              int done = 0;
              for (int i = 0; i < 40; i++) {
                List<Write> batch =
                    List.of(
                        new Write.Update(
                            key("account" + (client + i) % 4),
                            List.of(new Change.Add(N, -1)),
                            new Condition.Within(N, -20, 20)),
                        new Write.Update(
                            key("account" + (client + i + 1) % 4),
                            List.of(new Change.Add(N, 1)),
                            new Condition.Within(N, -20, 20)));
                done += store.writeAll(batch, null) instanceof WriteResult.Applied ? 1 : 0;
              }
              return done;
            });
    long sum = 0;
    for (int i = 0; i < 4; i++) {
      sum += get(key("account" + i)).map(item -> item.number(N)).orElse(0L);
    }
    assertEquals(0, sum);
    assertTrue(moved.stream().mapToInt(Integer::intValue).sum() > 0);
  }

  // ---- the words above

  private void needs(Capability capability) {
    assumeTrue(
        store.profile().has(capability), () -> store.profile().lacks(capability).getMessage());
  }

  private Optional<Item> get(Key key) {
    return store.get(key, Consistency.STRONG);
  }

  private WriteResult put(String sort, long value, Condition condition) {
    return store.write(number(key(sort), value).when(condition));
  }

  private WriteResult put(String sort, Map<String, Field> fields, Condition condition) {
    return store.write(new Write.Put(key(sort), fields, Optional.empty(), condition));
  }

  private WriteResult add(String sort, long delta, Condition condition) {
    return update(sort, List.of(new Change.Add(N, delta)), condition);
  }

  private WriteResult update(String sort, List<Change> changes, Condition condition) {
    return store.write(new Write.Update(key(sort), changes, condition));
  }

  private static Write expiring(String sort, long value) {
    Instant soon = Instant.ofEpochMilli(NOW).plusSeconds(60);
    return new Write.Put(
        key(sort), Map.of(N, number(value)), Optional.of(soon), Condition.always());
  }

  private static Write number(Key key, long value) {
    return new Write.Put(key, Map.of(N, number(value)), Optional.empty(), Condition.always());
  }

  private static Field number(long value) {
    return new Field.Number(value);
  }

  private static Key key(String sort) {
    return new Key("p", sort);
  }

  private static WriteResult.Applied applied(WriteResult result) {
    return assertInstanceOf(WriteResult.Applied.class, result);
  }

  private static WriteResult.ConditionFailed unmet(WriteResult result) {
    return assertInstanceOf(WriteResult.ConditionFailed.class, result);
  }
}
