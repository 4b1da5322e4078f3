package dev.quipu.testkit.store;

import static dev.quipu.testkit.store.StoreFixture.applied;
import static dev.quipu.testkit.store.StoreFixture.key;
import static dev.quipu.testkit.store.StoreFixture.number;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The contract of reads. */
interface ReadContract extends StoreFixture {
  @Test
  default void aMissingItemIsNotFound() {
    assertEquals(Optional.empty(), get(key("a")));
    assertEquals(Optional.empty(), store().get(key("a"), Consistency.EVENTUAL));
  }

  @Test
  default void everyKindOfFieldIsReadBackAsWritten() {
    Map<String, Field> fields =
        Map.of(
            "smallest",
            number(Long.MIN_VALUE),
            "largest",
            number(Long.MAX_VALUE),
            "empty",
            new Field.Text(""),
            "text",
            new Field.Text("naïve \u0000 \n \" ' % \\0 \\u0000 数 \uD83D\uDE00"),
            "a name: with {marks} 数 \\",
            new Field.Text("x"),
            N,
            new Field.Text("a text under the name of the number"),
            "tokens",
            new Field.Tokens(Set.of("a", "b c", "", "数\u0000")));
    applied(put("a", fields, Condition.always()));
    assertEquals(fields, item("a").fields());
    applied(put("a", Map.of(), Condition.always()));
    assertEquals(Map.of(), item("a").fields());
  }

  @Test
  default void theEndsOf64BitsAreReadBackAsWritten() {
    for (long value :
        new long[] {0, 1, -1, 1L << 53, (1L << 53) + 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
      applied(put("a", value, Condition.always()));
      assertEquals(value, item("a").number(N));
      assertEquals(value, applied(add("a", 0, Condition.always())).after().orElseThrow().number(N));
    }
  }

  @Test
  default void keysOfAnyCharactersAreDistinguished() {
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
            "}{",
            "{}",
            "a\"b",
            "a'b",
            "$x",
            "a\\b",
            "\uFFFD",
            "<b>",
            "=1+1",
            "_",
            "*",
            "?",
            "[a]");
    for (String partition : names) {
      for (String sort : names) {
        applied(
            store().write(number(new Key(partition, sort), (partition + "|" + sort).hashCode())));
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
  default void keysMayBeOfEveryPlaneOfUnicode() {
    for (int plane = 0; plane <= 16; plane++) {
      String letter = Character.toString(plane * 0x10000 + 0x0F0F);
      Key key = new Key("p" + letter, letter);
      applied(store().write(number(key, plane)));
      Item found = get(key).orElseThrow();
      assertEquals(key, found.key());
      assertEquals(plane, found.number(N));
    }
  }
}
