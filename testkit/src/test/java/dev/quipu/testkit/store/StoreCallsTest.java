package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.layer.Sweeper;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.testkit.ProfiledDriver;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The calls that a store makes to its driver, and those that it rejects before. */
final class StoreCallsTest {
  private static final Key KEY = new Key("p", "s");

  private final ManualClock clock = new ManualClock(1_000_000);
  private final MemoryDriver memory = new MemoryDriver();
  private final List<String> calls = new ArrayList<>();

  /** Returns an in-memory store with these capabilities, whose calls to the driver are recorded. */
  private Store store(Capability... capabilities) {
    EnumSet<Capability> own = EnumSet.noneOf(Capability.class);
    own.addAll(Arrays.asList(capabilities));
    StoreProfile full = memory.profile();
    StoreProfile profile =
        new StoreProfile("noted", own, full.atomicity(), full.batchItemsMax(), 100);
    StoreDriver driver =
        (StoreDriver)
            Proxy.newProxyInstance(
                StoreDriver.class.getClassLoader(),
                new Class<?>[] {BatchDriver.class, ScanDriver.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("profile")) {
                    return profile;
                  }
                  calls.add(method.getName());
                  if (method.getName().endsWith("Tokens")) {
                    return null; // the memory driver has no native call
                  }
                  try {
                    return method.invoke(memory, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    return new Store(driver, clock);
  }

  private static Write put(Key key, String text) {
    return new Write.Put(
        key, Map.of("t", new Field.Text(text)), Optional.empty(), Condition.always());
  }

  private static Set<String> tokens(int count) {
    return IntStream.range(0, count).mapToObj(i -> "t" + i).collect(Collectors.toSet());
  }

  @Test
  void tokensAreChangedInOneCallWhereTheStoreCan() {
    Store store = store(Capability.NATIVE_TOKENS);
    store.addTokens(KEY, "f", tokens(2));
    store.dropTokens(KEY, "f", tokens(1));
    assertEquals(List.of("addTokens", "dropTokens"), calls);
  }

  @Test
  void tokensAreChangedByOneWriteEachWhereItCannot() {
    Store store = store(Capability.NATIVE_UPDATE);
    store.addTokens(KEY, "f", tokens(3));
    store.dropTokens(KEY, "f", Set.of("t1", "t9"));
    assertEquals(Set.of("t0", "t2"), memory.get(KEY, Consistency.STRONG).get().tokens("f"));
    assertEquals(5, calls.stream().filter("write"::equals).count());
  }

  @Test
  void theNumberOfTokensHasLimits() {
    Store store = store(Capability.NATIVE_TOKENS);
    store.addTokens(KEY, "f", tokens(Store.TOKENS_MAX));
    Set<String> tooMany = tokens(Store.TOKENS_MAX + 1);
    assertThrows(IllegalArgumentException.class, () -> store.addTokens(KEY, "f", tooMany));
    assertThrows(IllegalArgumentException.class, () -> store.dropTokens(KEY, "f", Set.of()));
    assertEquals(List.of("addTokens"), calls);
  }

  @Test
  void anUpdateIsOneCallWhereTheStoreCanAndElseAReadAndAWrite() {
    Write add = new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, 1)), Condition.always());
    Write bounded = add.when(new Condition.Within(Item.VALUE, 0, 9));
    assertEquals(1, writesOf(add, Capability.NATIVE_UPDATE));
    assertEquals(1, writesOf(bounded, Capability.NATIVE_UPDATE));
    assertEquals(1, writesOf(add, Capability.NATIVE_ADD));
    assertEquals(2, writesOf(bounded, Capability.NATIVE_ADD));
    assertEquals(2, writesOf(add));
    assertEquals(1, writesOf(put(KEY, "x")));
    assertEquals(1, writesOf(new Write.Delete(KEY, Condition.always())));
  }

  private int writesOf(Write write, Capability... capabilities) {
    Store store = store(capabilities);
    calls.clear();
    assertInstanceOf(WriteResult.Applied.class, store.write(write));
    return calls.size();
  }

  @Test
  void aScanNeedsOrderOrMayBeEventual() {
    for (Consistency consistency : Consistency.values()) {
      Scan scan = new Scan("p", "", Optional.empty(), false, 9, consistency);
      assertEquals(List.of(), store(Capability.ORDERED_SCAN).scan(scan).items());
      Store eventual = store(Capability.EVENTUAL_SCAN);
      if (consistency == Consistency.EVENTUAL) {
        assertEquals(List.of(), eventual.scan(scan).items());
      } else {
        assertThrows(UnsupportedOperationException.class, () -> eventual.scan(scan));
      }
      Store neither = store(Capability.STRONG_READ);
      assertThrows(UnsupportedOperationException.class, () -> neither.scan(scan));
    }
  }

  @Test
  void aBatchNeedsTheCapabilityAndEachKeyOnce() {
    List<Write> one = List.of(put(KEY, "x"));
    Store without = store(Capability.STRONG_READ);
    assertThrows(UnsupportedOperationException.class, () -> without.writeAll(one, null));
    assertThrows(UnsupportedOperationException.class, () -> without.getAll(List.of(KEY)));
    Store batches = store(Capability.ATOMIC_BATCH);
    RequestToken token = new RequestToken("token");
    assertThrows(UnsupportedOperationException.class, () -> batches.writeAll(one, token));
    List<Write> twice = List.of(put(KEY, "x"), put(KEY, "y"));
    assertThrows(IllegalArgumentException.class, () -> batches.writeAll(twice, null));
    assertThrows(IllegalArgumentException.class, () -> batches.writeAll(List.of(), null));
    List<Key> full = IntStream.range(0, 100).mapToObj(i -> new Key("p", "s" + i)).toList();
    assertEquals(100, batches.getAll(full).size());
    List<Key> over = IntStream.range(0, 101).mapToObj(i -> new Key("p", "s" + i)).toList();
    assertThrows(IllegalArgumentException.class, () -> batches.getAll(over));
  }

  @Test
  void aBatchLiesInOnePartitionWhereTheStoreNeedsThat() {
    Store store = new Store(ProfiledDriver.divided(memory), clock);
    List<Write> within = List.of(put(KEY, "x"), put(new Key("p", "t"), "y"));
    assertInstanceOf(WriteResult.Applied.class, store.writeAll(within, null));
    List<Write> across = List.of(put(KEY, "z"), put(new Key("q", "s"), "z"));
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> store.writeAll(across, null));
    assertEquals("store divided allows batches within one partition only", e.getMessage());
    assertEquals(Optional.of("x"), memory.get(KEY, Consistency.STRONG).get().text("t"));
  }

  @Test
  void theBytesOfAWriteAreItsNamesTextsTokensAndNumbers() {
    Store store = store(Capability.NATIVE_UPDATE, Capability.ATOMIC_BATCH);
    store.write(put(KEY, "x".repeat(99)));
    List<Write> tooLong =
        List.of(
            put(KEY, "x".repeat(100)),
            put(KEY, "é".repeat(50)),
            new Write.Update(
                KEY,
                List.of(new Change.Put("t", new Field.Text("x".repeat(100)))),
                Condition.always()),
            new Write.Update(
                KEY, List.of(new Change.AddToken("f", "x".repeat(100))), Condition.always()),
            new Write.Update(KEY, List.of(new Change.Add("x".repeat(93), 1)), Condition.always()),
            new Write.Put(
                KEY,
                Map.of("x".repeat(93), new Field.Number(1)),
                Optional.empty(),
                Condition.always()),
            new Write.Put(
                KEY,
                Map.of("f", new Field.Tokens(Set.of("x".repeat(50), "y".repeat(50)))),
                Optional.empty(),
                Condition.always()),
            new Write.Put(
                KEY,
                Map.of("a", new Field.Text("x".repeat(49)), "b", new Field.Text("x".repeat(50))),
                Optional.empty(),
                Condition.always()));
    for (Write write : tooLong) {
      assertThrows(IllegalArgumentException.class, () -> store.write(write), write::toString);
      assertThrows(IllegalArgumentException.class, () -> store.writeAll(List.of(write), null));
    }
    assertEquals(List.of("write"), calls);
    store.write(
        new Write.Update(KEY, List.of(new Change.Add("x".repeat(92), 1)), Condition.always()));
    store.write(
        new Write.Update(
            KEY, List.of(new Change.DropToken("x".repeat(100), "t")), Condition.always()));
  }

  @Test
  void inABatchExpiredItemsAreReplacedOneAfterTheOther() {
    Store store = store(Capability.ATOMIC_BATCH);
    List<Key> keys = List.of(new Key("p", "a"), new Key("p", "b"), new Key("p", "c"));
    Instant expiry = store.now().plusSeconds(1);
    for (Key key : keys) {
      store.write(new Write.Put(key, Map.of(), Optional.of(expiry), Condition.always()));
    }
    clock.advance(Duration.ofSeconds(1));
    List<Write> fresh =
        keys.stream().map(key -> put(key, "new").when(new Condition.Absent())).toList();
    assertInstanceOf(WriteResult.Applied.class, store.writeAll(fresh, null));
    assertEquals(3, store.getAll(keys).stream().flatMap(Optional::stream).count());
    assertInstanceOf(WriteResult.ConditionFailed.class, store.writeAll(fresh, null));
  }

  @Test
  void aConditionOnAnExpiredItemFailsInABatchAsIfThereWereNone() {
    Store store = store(Capability.ATOMIC_BATCH, Capability.NATIVE_UPDATE);
    Instant expiry = store.now().plusSeconds(1);
    store.write(
        new Write.Put(
            KEY, Map.of("n", new Field.Number(1)), Optional.of(expiry), Condition.always()));
    clock.advance(Duration.ofSeconds(1));
    Write write = put(KEY, "x").when(new Condition.FieldIs("n", new Field.Number(2)));
    WriteResult expected = new WriteResult.ConditionFailed(KEY, Optional.empty());
    assertEquals(expected, store.writeAll(List.of(write), null));
    assertEquals(expected, store.write(write));
  }

  @Test
  void sweepsGoOnUntilLittleIsLeft() {
    Store store = store(Capability.STRONG_READ);
    for (int i = 0; i < 2_500; i++) {
      Key key = new Key("p", "s" + i);
      store.write(new Write.Put(key, Map.of(), Optional.of(store.now()), Condition.always()));
    }
    clock.advance(Sweeper.KEPT);
    calls.clear();
    assertEquals(2_500, Sweeper.sweep(store));
    assertEquals(List.of("removeExpired", "removeExpired", "removeExpired"), calls);
  }

  @Test
  void whatIsNotDurableIsNotKnownToBeIntact() {
    StoreDriver durable = new LimitedDriver(memory, Set.of(Capability.DURABLE));
    assertEquals(Instant.MIN, durable.intactSince());
    StoreDriver other = new LimitedDriver(memory, Set.of(Capability.STRONG_READ));
    assertEquals(Instant.MAX, other.intactSince());
  }

  @Test
  void aFieldOfTheWrongTypeIsDamageNotABadRequest() {
    Store store = store(Capability.STRONG_READ);
    store.write(put(KEY, "x"));
    Item item = store.get(KEY, Consistency.STRONG).orElseThrow();
    Write add = new Write.Update(KEY, List.of(new Change.Add("t", 1)), Condition.always());
    for (Executable call :
        List.<Executable>of(
            () -> item.number("t"), () -> item.tokens("t"), () -> store.write(add))) {
      assertEquals(Reason.CORRUPT, assertThrows(QuipuException.class, call).reason());
    }
    assertTrue(item.tokens("none").isEmpty());
  }
}
