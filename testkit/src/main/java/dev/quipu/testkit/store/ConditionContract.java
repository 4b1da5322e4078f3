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
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The contract of conditions. */
interface ConditionContract extends StoreFixture {
  @Test
  default void absentHoldsOnlyWhileThereIsNothing() {
    applied(put("a", 1, new Condition.Absent()));
    WriteResult.ConditionFailed failed = unmet(put("a", 2, new Condition.Absent()));
    assertEquals(key("a"), failed.key());
    assertEquals(1, failed.found().orElseThrow().number(N));
    assertEquals(1, item("a").number(N));
    unmet(add("a", 1, new Condition.Absent()));
    unmet(delete("a", new Condition.Absent()));
    applied(add("b", 1, new Condition.Absent()));
  }

  @Test
  default void hasHoldsOnlyIfTheItemHasTheField() {
    for (String field : List.of(N, "other")) {
      Condition has = new Condition.Has(field);
      String sort = "a" + field;
      assertEquals(Optional.empty(), unmet(plus(sort, field, 1, has)).found());
      assertEquals(Optional.empty(), get(key(sort)), "an update creates no item");
      applied(put(sort, Map.of("t", new Field.Text("x")), Condition.always()));
      WriteResult.ConditionFailed failed = unmet(plus(sort, field, 1, has));
      assertEquals(key(sort), failed.key());
      assertEquals(Set.of("t"), failed.found().orElseThrow().fields().keySet());
      unmet(delete(sort, has));
      applied(plus(sort, field, 7, new Condition.Has("t")));
      applied(plus(sort, field, -7, has));
      assertEquals(0, item(sort).number(field), "zero is a value");
      applied(plus(sort, field, 5, Condition.all(has, new Condition.Within(field, 0, 5))));
      unmet(plus(sort, field, 1, Condition.all(has, new Condition.Within(field, 0, 5))));
      applied(plus(sort, field, Long.MAX_VALUE - 5, has));
      unmet(plus(sort, field, 1, has));
      applied(put(sort, Map.of("s", new Field.Tokens(Set.of("x"))), has));
      unmet(put(sort, Map.of(), has));
      applied(delete(sort, new Condition.Has("s")));
      unmet(delete(sort, new Condition.Has("s")));
    }
  }

  @Test
  default void fieldIsComparesValueAndKind() {
    applied(put("a", 7, Condition.always()));
    unmet(add("a", 1, new Condition.FieldIs(N, number(8))));
    unmet(add("a", 1, new Condition.FieldIs(N, new Field.Text("7"))));
    unmet(add("a", 1, new Condition.FieldIs("other", number(7))));
    unmet(add("b", 1, new Condition.FieldIs(N, number(0))));
    assertEquals(Optional.empty(), get(key("b")));
    applied(add("a", 1, new Condition.FieldIs(N, number(7))));
  }

  @Test
  default void fieldIsComparesEveryKind() {
    Map<String, Field> fields =
        Map.of(
            "n",
            number(5),
            "t",
            new Field.Text("é\u0000"),
            "s",
            new Field.Tokens(Set.of("x", "y")));
    applied(put("a", fields, Condition.always()));
    unmet(add("a", 1, new Condition.FieldIs("n", number(6))));
    unmet(add("a", 1, new Condition.FieldIs("t", new Field.Text("é"))));
    unmet(add("a", 1, new Condition.FieldIs("s", new Field.Tokens(Set.of("x")))));
    unmet(add("a", 1, new Condition.FieldIs("s", new Field.Tokens(Set.of("x", "y", "z")))));
    fields.forEach((name, value) -> applied(add("a", 1, new Condition.FieldIs(name, value))));
    assertEquals(3, item("a").number(N));
  }

  @Test
  default void withinIsJudgedAfterTheChangeAtBothEdges() {
    for (String field : List.of(N, "other")) {
      String sort = "a" + field;
      Condition within = new Condition.Within(field, -2, 3);
      applied(plus(sort, field, 3, within));
      assertEquals(3, unmet(plus(sort, field, 1, within)).found().orElseThrow().number(field));
      applied(plus(sort, field, -5, within));
      unmet(plus(sort, field, -1, within));
      unmet(plus("b", field, 4, within));
      assertEquals(Optional.empty(), get(key("b")));
      assertEquals(-2, item(sort).number(field));
    }
  }

  private WriteResult plus(String sort, String field, long delta, Condition condition) {
    return update(sort, List.of(new Change.Add(field, delta)), condition);
  }

  @Test
  default void withinHoldsAtTheEndsOf64Bits() {
    Condition any = new Condition.Within(N, Long.MIN_VALUE, Long.MAX_VALUE);
    applied(add("a", Long.MAX_VALUE, any));
    unmet(add("a", 1, any));
    applied(add("a", Long.MIN_VALUE, any));
    assertEquals(-1, item("a").number(N));
    applied(add("a", Long.MIN_VALUE + 1, any));
    unmet(add("a", -1, any));
    applied(add("b", Long.MIN_VALUE, new Condition.Within(N, Long.MIN_VALUE, Long.MIN_VALUE)));
  }

  @Test
  default void withinOfAFieldThatDoesNotChangeIsJudgedAsItIs() {
    applied(put("a", 5, Condition.always()));
    List<Change> change = List.of(new Change.Put("t", new Field.Text("x")));
    unmet(update("a", change, new Condition.Within(N, 6, 9)));
    applied(update("a", change, new Condition.Within(N, 5, 5)));
    unmet(update("b", change, new Condition.Within(N, 1, 5)));
    applied(update("b", change, new Condition.Within(N, 0, 5)));
    unmet(put("c", 4, new Condition.Within(N, 5, 9)));
    applied(put("c", 5, new Condition.Within(N, 5, 9)));
  }

  @Test
  default void lacksAndFewerThanLookAtTheSetBeforeTheChange() {
    applied(update("a", List.of(new Change.AddToken("s", "x")), freeFor("x")));
    unmet(update("a", List.of(new Change.AddToken("s", "x")), freeFor("x")));
    applied(update("a", List.of(new Change.AddToken("s", "y")), freeFor("y")));
    unmet(update("a", List.of(new Change.AddToken("s", "z")), freeFor("z")));
    assertEquals(Set.of("x", "y"), item("a").tokens("s"));
    assertThrows(IllegalArgumentException.class, () -> new Condition.FewerThan("s", 0));
  }

  private static Condition freeFor(String token) {
    return Condition.all(new Condition.Lacks("s", token), new Condition.FewerThan("s", 2));
  }

  @Test
  default void allHoldsOnlyIfEachDoes() {
    applied(put("a", 1, Condition.always()));
    Condition both =
        Condition.all(new Condition.FieldIs(N, number(1)), new Condition.Within(N, 0, 5));
    unmet(add("a", 9, both));
    applied(add("a", 4, both));
    unmet(add("a", -1, both));
    applied(add("a", -1, Condition.all()));
  }

  @Test
  default void aConditionOnAFieldOfAnotherKindIsRejected() {
    applied(put("a", Map.of("t", new Field.Text("x"), N, number(1)), Condition.always()));
    List<Condition> wrong =
        List.of(
            new Condition.Within("t", 0, 9),
            new Condition.Lacks("t", "x"),
            new Condition.FewerThan("t", 5),
            new Condition.Lacks(N, "x"));
    for (Condition condition : wrong) {
      QuipuException e =
          assertThrows(QuipuException.class, () -> add("a", 1, condition), condition::toString);
      assertEquals(Outcome.NOT_APPLIED, e.outcome());
    }
    assertEquals(1, item("a").number(N));
  }
}
