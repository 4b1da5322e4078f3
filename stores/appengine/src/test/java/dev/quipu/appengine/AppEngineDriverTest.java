package dev.quipu.appengine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.WriteGroup;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.time.Randomness;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The profiles of the two forms of the driver, and lost replies. */
final class AppEngineDriverTest {
  private static final Key KEY = new Key("p", "s");
  private static final Write ADD =
      new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, 1)), Condition.always());

  @Test
  void theProfileStatesTheGroupAndItsRate() {
    assertEquals(
        Optional.of(new WriteGroup(Atomicity.ITEM, 1)),
        AppEngineDriver.withItemsAsGroups(Stubs.startAnew()).profile().writeGroup());
    assertEquals(
        Optional.of(new WriteGroup(Atomicity.PARTITION, 1)),
        AppEngineDriver.withPartitionsAsGroups(Stubs.startAnew()).profile().writeGroup());
  }

  @Test
  void aCommitWhoseReplyIsLostIsUnknownAndWasApplied() {
    OneAtATime calls = Stubs.startCalls();
    StoreDriver driver = AppEngineDriver.withItemsAsGroups(Stubs.datastore());
    calls.fail(1, 0, Randomness.seeded(1));
    QuipuException e = assertThrows(QuipuException.class, () -> driver.write(ADD));
    assertEquals(Outcome.UNKNOWN, e.outcome());
    assertTrue(e.reason().isTemporary(), e::toString);
    calls.fail(0, 0, Randomness.seeded(1));
    assertEquals(1, driver.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE));
  }

  @Test
  void whatHasExpiredIsRemoved() {
    Instant now = Instant.ofEpochMilli(1_800_000_000_000L);
    StoreDriver driver = AppEngineDriver.withItemsAsGroups(Stubs.startAnew());
    for (int i = 0; i < 3; i++) {
      Key key = new Key("p", "s" + i);
      driver.write(
          new Write.Put(key, Map.of(), Optional.of(now.plusMillis(i)), Condition.always()));
      driver.get(key, Consistency.STRONG); // queries include it from now on
    }
    assertEquals(2, driver.removeExpired(now.plusMillis(1), 10));
    assertTrue(driver.get(new Key("p", "s0"), Consistency.STRONG).isEmpty());
    assertTrue(driver.get(new Key("p", "s2"), Consistency.STRONG).isPresent());
  }
}
