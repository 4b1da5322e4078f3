package dev.quipu.testkit.store;

import static dev.quipu.testkit.store.StoreFixture.applied;
import static dev.quipu.testkit.store.StoreFixture.key;
import static dev.quipu.testkit.store.StoreFixture.number;
import static dev.quipu.testkit.store.StoreFixture.unmet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The contract of updates, puts and deletes. */
interface UpdateContract extends StoreFixture {
  @Test
  default void addStartsAtZeroAndReturnsTheItem() {
    assertEquals(5, applied(add("a", 5, Condition.always())).after().orElseThrow().number(N));
    assertEquals(2, applied(add("a", -3, Condition.always())).after().orElseThrow().number(N));
    assertEquals(Map.of(N, number(2)), item("a").fields());
  }

  @Test
  default void aSumOutside64BitsIsRejectedAndNothingChanges() {
    for (String field : List.of(N, "other")) {
      applied(put("a", Map.of(field, number(Long.MAX_VALUE)), Condition.always()));
      unmet(update("a", List.of(new Change.Add(field, 1)), Condition.always()));
      assertEquals(Long.MAX_VALUE, item("a").number(field));
      applied(put("a", Map.of(field, number(Long.MIN_VALUE)), Condition.always()));
      unmet(update("a", List.of(new Change.Add(field, -1)), Condition.always()));
      unmet(update("a", List.of(new Change.Add(field, Long.MIN_VALUE)), Condition.always()));
      assertEquals(Long.MIN_VALUE, item("a").number(field));
    }
  }

  @Test
  default void addsReachBothEndsOf64Bits() {
    applied(add("a", Long.MAX_VALUE, Condition.always()));
    applied(add("a", Long.MIN_VALUE, Condition.always()));
    applied(add("a", Long.MIN_VALUE + 1, Condition.always()));
    assertEquals(Long.MIN_VALUE, item("a").number(N));
    unmet(add("a", -1, Condition.always()));
    applied(add("b", Long.MIN_VALUE, Condition.always()));
    assertEquals(Long.MIN_VALUE, item("b").number(N));
  }

  @Test
  default void anUpdateChangesItsFieldsAndLeavesTheOthers() {
    Map<String, Field> before =
        Map.of(
            "x",
            new Field.Text("old"),
            N,
            number(1),
            "m",
            number(5),
            "kept",
            new Field.Tokens(Set.of("t", "u")),
            "s",
            new Field.Tokens(Set.of("t", "u")));
    applied(put("a", before, Condition.always()));
    Map<String, Field> after =
        Map.of(
            "x",
            new Field.Text("old"),
            N,
            number(3),
            "m",
            number(-1),
            "kept",
            new Field.Tokens(Set.of("t", "u")),
            "s",
            new Field.Tokens(Set.of("u")),
            "y",
            new Field.Text("new"),
            "z",
            new Field.Tokens(Set.of("v")));
    List<Change> changes =
        List.of(
            new Change.Add(N, 2),
            new Change.Add("m", -6),
            new Change.Put("y", new Field.Text("new")),
            new Change.DropToken("s", "t"),
            new Change.AddToken("z", "v"));
    assertEquals(
        after, applied(update("a", changes, Condition.always())).after().orElseThrow().fields());
    assertEquals(after, item("a").fields());
  }

  @Test
  default void anUpdateCreatesAMissingItem() {
    List<Change> changes =
        List.of(
            new Change.Add("m", -6),
            new Change.Put("t", new Field.Text("new")),
            new Change.DropToken("none", "t"),
            new Change.AddToken("s", "v"));
    applied(update("a", changes, Condition.always()));
    assertEquals(
        Map.of("m", number(-6), "t", new Field.Text("new"), "s", new Field.Tokens(Set.of("v"))),
        item("a").fields());
    applied(update("b", List.of(new Change.DropToken("s", "t")), Condition.always()));
    assertEquals(Map.of(), item("b").fields());
  }

  @Test
  default void aFieldMayChangeItsKindByPut() {
    applied(put("a", 1, Condition.always()));
    for (Field field : List.of(new Field.Text("t"), new Field.Tokens(Set.of("x")), number(7))) {
      for (String name : List.of(N, "other")) {
        applied(update("a", List.of(new Change.Put(name, field)), Condition.always()));
        assertEquals(field, item("a").fields().get(name));
      }
    }
    applied(add("a", 1, Condition.always()));
    assertEquals(8, item("a").number(N));
    Field none = new Field.Tokens(Set.of());
    applied(update("a", List.of(new Change.Put(N, none)), Condition.always()));
    assertEquals(Map.of("other", number(7)), item("a").fields());
  }

  @Test
  default void anEmptySetIsAMissingField() {
    applied(put("a", Map.of("s", new Field.Tokens(Set.of())), Condition.always()));
    assertEquals(Map.of(), item("a").fields());
    applied(update("a", List.of(new Change.AddToken("s", "t")), Condition.always()));
    applied(update("a", List.of(new Change.AddToken("s", "t")), Condition.always()));
    applied(update("a", List.of(new Change.DropToken("s", "t")), Condition.always()));
    assertEquals(Map.of(), item("a").fields());
  }

  @Test
  default void tokensComeAndGoWhateverElseIsThere() {
    store().addTokens(key("a"), "s", Set.of("x", "y"));
    store().addTokens(key("a"), "s", Set.of("y", "z"));
    store().addTokens(key("a"), "other", Set.of("x"));
    store().dropTokens(key("a"), "s", Set.of("x", "never"));
    store().dropTokens(key("a"), "s", Set.of("x"));
    assertEquals(Set.of("y", "z"), item("a").tokens("s"));
    assertEquals(Set.of("x"), item("a").tokens("other"));
    applied(delete("a", Condition.always()));
    store().addTokens(key("a"), "s", Set.of("w"));
    assertEquals(Set.of("w"), item("a").tokens("s"));
    assertThrows(IllegalArgumentException.class, () -> store().addTokens(key("a"), "s", Set.of()));
  }

  @Test
  default void aFieldChangesOnceInAnUpdate() {
    List<Change> twice = List.of(new Change.Add(N, 1), new Change.Add(N, 1));
    assertThrows(
        IllegalArgumentException.class,
        () -> new Write.Update(key("a"), twice, Condition.always()));
    assertThrows(
        IllegalArgumentException.class,
        () -> new Write.Update(key("a"), List.of(), Condition.always()));
  }

  @Test
  default void aFieldOfAnotherKindIsRejectedAndNothingChanges() {
    Map<String, Field> fields =
        Map.of(N, new Field.Text("x"), "n", number(1), "s", new Field.Tokens(Set.of("t")));
    applied(put("a", fields, Condition.always()));
    List<Change> wrong =
        List.of(
            new Change.Add(N, 1),
            new Change.Add("s", 1),
            new Change.AddToken("n", "t"),
            new Change.AddToken(N, "t"),
            new Change.DropToken("n", "t"));
    for (Change change : wrong) {
      QuipuException e =
          assertThrows(
              QuipuException.class, () -> update("a", List.of(change), Condition.always()));
      assertEquals(Outcome.NOT_APPLIED, e.outcome());
      assertEquals(fields, item("a").fields());
    }
  }

  @Test
  default void anUpdateKeepsTheExpiryAndAPutSetsIt() {
    applied(store().write(expiring("a", 1)));
    Optional<Instant> soon = item("a").expiresAt();
    applied(add("a", 1, Condition.always()));
    assertEquals(soon, item("a").expiresAt());
    applied(put("a", 1, Condition.always()));
    assertEquals(Optional.empty(), item("a").expiresAt());
  }

  @Test
  default void deleteIsIdempotent() {
    applied(put("a", 1, Condition.always()));
    applied(delete("a", Condition.always()));
    applied(delete("a", Condition.always()));
    assertEquals(Optional.empty(), get(key("a")));
    applied(put("a", 1, new Condition.Absent()));
    unmet(delete("a", new Condition.FieldIs(N, number(2))));
    assertEquals(1, item("a").number(N));
  }
}
