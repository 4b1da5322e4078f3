package dev.quipu.testkit.store;

import static dev.quipu.testkit.store.StoreFixture.applied;
import static dev.quipu.testkit.store.StoreFixture.key;
import static dev.quipu.testkit.store.StoreFixture.number;
import static dev.quipu.testkit.store.StoreFixture.unmet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contract of batches. */
interface BatchContract extends StoreFixture {
  @Test
  @Needs(Capability.ATOMIC_BATCH)
  default void aBatchIsAllOrNothingAndNamesTheFirstUnmetKey() {
    applied(put("b", 1, Condition.always()));
    WriteResult.ConditionFailed failed =
        unmet(
            store()
                .writeAll(
                    List.of(
                        number(key("c"), 1),
                        number(key("b"), 2).when(new Condition.Absent()),
                        number(key("a"), 3).when(new Condition.Within(N, 0, 1))),
                    null));
    assertEquals(key("b"), failed.key());
    assertEquals(1, failed.found().orElseThrow().number(N));
    assertEquals(Optional.empty(), get(key("a")));
    assertEquals(Optional.empty(), get(key("c")));
    applied(store().writeAll(List.of(number(key("c"), 1), number(key("a"), 3)), null));
    assertEquals(3, item("a").number(N));
  }

  @Test
  @Needs(Capability.ATOMIC_BATCH)
  default void aBatchAddsToAFieldOnlyIfTheItemHasIt() {
    Write add = new Write.Update(key("b"), List.of(new Change.Add("n", 1)), new Condition.Has("n"));
    applied(put("b", 1, Condition.always()));
    WriteResult.ConditionFailed failed =
        unmet(store().writeAll(List.of(number(key("a"), 1), add), null));
    assertEquals(key("b"), failed.key());
    assertEquals(1, failed.found().orElseThrow().number(N));
    assertEquals(Optional.empty(), get(key("a")));
    applied(put("b", Map.of("n", number(4)), Condition.always()));
    applied(store().writeAll(List.of(number(key("a"), 1), add), null));
    assertEquals(5, item("b").number("n"));
  }

  @Test
  @Needs(Capability.ATOMIC_BATCH)
  default void aBatchMayMixPutsUpdatesAndDeletes() {
    applied(put("gone", 1, Condition.always()));
    List<Write> batch =
        List.of(
            number(key("new"), 1).when(new Condition.Absent()),
            new Write.Update(
                key("counter"), List.of(new Change.Add(N, 4)), new Condition.Within(N, 0, 9)),
            new Write.Delete(key("gone"), new Condition.FieldIs(N, number(1))));
    applied(store().writeAll(batch, null));
    assertEquals(1, item("new").number(N));
    assertEquals(4, item("counter").number(N));
    assertEquals(Optional.empty(), get(key("gone")));
    assertEquals(key("new"), unmet(store().writeAll(batch, null)).key());
    assertEquals(4, item("counter").number(N));
  }

  @Test
  @Needs(Capability.BATCH_RETURNS)
  default void aBatchReturnsWhatItsLastWriteLeft() {
    for (int i = 1; i <= 3; i++) { // a new item before an add: stores may have a short way for it
      List<Write> batch =
          List.of(
              number(key("a-marker-" + i), 1).when(new Condition.Absent()),
              new Write.Update(
                  key("counter"), List.of(new Change.Add(N, 4)), new Condition.Within(N, 0, 12)));
      WriteResult.Applied applied = applied(store().writeAll(batch, null));
      assertEquals(4L * i, applied.after().orElseThrow().number(N));
    }
    List<Write> puts = List.of(number(key("z"), 1), number(key("y"), 2), number(key("x"), 3));
    assertEquals(get(key("x")), Optional.empty());
    WriteResult.Applied applied = applied(store().writeAll(puts, null));
    assertEquals(get(key("x")), applied.after());
    List<Write> deletes =
        List.of(number(key("z"), 4), new Write.Delete(key("y"), Condition.always()));
    assertEquals(Optional.empty(), applied(store().writeAll(deletes, null)).after());
  }

  @Test
  @Needs(Capability.ATOMIC_BATCH)
  default void aFieldOfAnotherKindRejectsTheWholeBatch() {
    applied(put("b", Map.of(N, new Field.Text("x")), Condition.always()));
    List<Write> batch =
        List.of(
            number(key("a"), 1),
            new Write.Update(key("b"), List.of(new Change.Add(N, 1)), Condition.always()));
    QuipuException e = assertThrows(QuipuException.class, () -> store().writeAll(batch, null));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(Optional.empty(), get(key("a")));
  }

  @Test
  @Needs(Capability.ATOMIC_BATCH)
  default void aBatchOfTheLargestSizeIsAcceptedAndOneMoreIsRejected() {
    List<Write> batch = new ArrayList<>();
    for (int i = 0; i < store().profile().batchItemsMax(); i++) {
      batch.add(number(key("k" + i), i));
    }
    applied(store().writeAll(batch, null));
    assertEquals(batch.size() - 1, item("k" + (batch.size() - 1)).number(N));
    batch.add(number(key("more"), 1));
    assertThrows(IllegalArgumentException.class, () -> store().writeAll(batch, null));
    assertThrows(IllegalArgumentException.class, () -> store().writeAll(List.of(), null));
    assertThrows(
        IllegalArgumentException.class,
        () -> store().writeAll(List.of(number(key("x"), 1), number(key("x"), 2)), null));
    assertEquals(Optional.empty(), get(key("x")));
  }

  @Test
  @Needs(Capability.ATOMIC_BATCH)
  default void aBatchReachesAsFarAsTheStoreSays() {
    List<Write> batch = List.of(number(new Key("p", "a"), 1), number(new Key("q", "a"), 2));
    if (store().profile().atomicity() == Atomicity.STORE) {
      applied(store().writeAll(batch, null));
      assertEquals(2, get(new Key("q", "a")).orElseThrow().number(N));
    } else {
      assertThrows(IllegalArgumentException.class, () -> store().writeAll(batch, null));
      assertEquals(Optional.empty(), get(new Key("p", "a")));
    }
  }

  @Test
  @Needs(Capability.ATOMIC_BATCH)
  default void severalItemsAreReadInTheRequestedOrder() {
    applied(put("a", 1, Condition.always()));
    applied(put("c", 3, Condition.always()));
    applied(store().write(expiring("old", 4)));
    clock().advance(Duration.ofMinutes(2));
    List<Optional<Item>> found =
        store().getAll(List.of(key("c"), key("none"), key("old"), key("a")));
    assertEquals(
        List.of(Optional.of(item("c")), Optional.empty(), Optional.empty(), Optional.of(item("a"))),
        found);
    assertEquals(found, store().getEach(List.of(key("c"), key("none"), key("old"), key("a"))));
    assertThrows(IllegalArgumentException.class, () -> store().getAll(List.of()));
    assertThrows(IllegalArgumentException.class, () -> store().getAll(List.of(key("a"), key("a"))));
    Key elsewhere = new Key("q", "a");
    if (store().profile().atomicity() == Atomicity.STORE) {
      assertEquals(Optional.empty(), store().getAll(List.of(key("a"), elsewhere)).get(1));
    } else {
      assertThrows(
          IllegalArgumentException.class, () -> store().getAll(List.of(key("a"), elsewhere)));
    }
  }

  @Test
  @Needs(Capability.TOKEN_BATCH)
  default void aBatchUnderATokenAppliesOnce() {
    List<Write> batch =
        List.of(new Write.Update(key("a"), List.of(new Change.Add(N, 1)), Condition.always()));
    RequestToken token = new RequestToken("token-1");
    applied(store().writeAll(batch, token));
    applied(store().writeAll(batch, token));
    assertEquals(1, item("a").number(N));
    assertThrows(QuipuException.class, () -> store().writeAll(List.of(number(key("a"), 9)), token));
  }

  @Test
  default void unclaimedCapabilitiesAreRejected() {
    List<Write> batch = List.of(number(key("a"), 1));
    if (!store().profile().has(Capability.ATOMIC_BATCH)) {
      assertThrows(UnsupportedOperationException.class, () -> store().writeAll(batch, null));
      assertThrows(
          UnsupportedOperationException.class,
          () -> BatchDriver.of(driver()).writeAll(batch, null));
      assertThrows(
          UnsupportedOperationException.class,
          () -> BatchDriver.of(driver()).getAll(List.of(key("a"))));
    }
    if (!store().profile().has(Capability.TOKEN_BATCH)) {
      RequestToken token = new RequestToken("t");
      assertThrows(UnsupportedOperationException.class, () -> store().writeAll(batch, token));
      assertThrows(
          UnsupportedOperationException.class,
          () -> BatchDriver.of(driver()).writeAll(batch, token));
    }
    if (!store().profile().has(Capability.ORDERED_SCAN)) {
      assertThrows(UnsupportedOperationException.class, () -> store().scan(Scan.all("p")));
      assertThrows(
          UnsupportedOperationException.class, () -> ScanDriver.of(driver()).scan(Scan.all("p")));
    }
    if (!store().profile().has(Capability.NATIVE_UPDATE)) {
      Write update =
          new Write.Update(key("a"), List.of(new Change.Add(N, 1)), new Condition.Within(N, 0, 9));
      assertThrows(UnsupportedOperationException.class, () -> driver().write(update));
    }
    assertEquals(Optional.empty(), get(key("a")));
  }
}
