package dev.quipu.testkit.store;

import static dev.quipu.testkit.store.StoreFixture.applied;
import static dev.quipu.testkit.store.StoreFixture.key;
import static dev.quipu.testkit.store.StoreFixture.unmet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Version;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The contract of versions. */
interface VersionContract extends StoreFixture {
  @Test
  default void versionIsHoldsOnlyForTheLatestState() {
    applied(put("a", 1, Condition.always()));
    Version first = item("a").version();
    Item second = applied(put("a", 2, new Condition.VersionIs(first))).after().orElseThrow();
    assertNotEquals(first, second.version());
    assertEquals(second.version(), item("a").version());
    unmet(put("a", 3, new Condition.VersionIs(first)));
    unmet(put("b", 3, new Condition.VersionIs(first)));
    applied(delete("a", new Condition.VersionIs(second.version())));
    assertEquals(Optional.empty(), get(key("a")));
  }

  @Test
  default void anAddMakesANewVersion() {
    applied(add("a", 1, Condition.always()));
    Version first = item("a").version();
    applied(add("a", 1, Condition.always()));
    assertNotEquals(first, item("a").version());
    unmet(put("a", 9, new Condition.VersionIs(first)));
    applied(put("a", 9, new Condition.VersionIs(item("a").version())));
    applied(add("a", 1, new Condition.VersionIs(item("a").version())));
    assertEquals(10, item("a").number(N));
  }

  @Test
  default void aVersionIsNeverReused() {
    Set<Version> seen = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      applied(put("a", 1, Condition.always()));
      assertTrue(seen.add(item("a").version()));
      if (i % 2 == 0) {
        applied(delete("a", Condition.always()));
      }
    }
  }

  @Test
  default void anInventedVersionMatchesNoItem() {
    applied(put("a", 1, Condition.always()));
    unmet(put("a", 2, new Condition.VersionIs(new Version(""))));
    unmet(put("a", 2, new Condition.VersionIs(new Version("no such version '\"{}"))));
    assertEquals(1, item("a").number(N));
  }
}
