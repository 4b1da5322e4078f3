package dev.quipu.testkit.store;

import static dev.quipu.testkit.store.StoreFixture.applied;
import static dev.quipu.testkit.store.StoreFixture.key;
import static dev.quipu.testkit.store.StoreFixture.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Limits;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contract of limits. */
interface LimitContract extends StoreFixture {
  @Test
  default void theLongestKeyIsAcceptedAndOneByteMoreIsRejected() {
    for (String letter : new String[] {"p", "\uD83D\uDE00"}) {
      int bytes = Limits.utf8Length(letter);
      String partition = letter.repeat(Key.PARTITION_BYTES_MAX / bytes);
      String sort = letter.repeat(Key.SORT_BYTES_MAX / bytes);
      Key longest = new Key(partition, sort);
      Key beside = new Key(partition.replaceFirst(".$", "x"), sort);
      applied(store().write(number(longest, 1)));
      assertEquals(1, get(longest).orElseThrow().number(N));
      assertEquals(longest, get(longest).orElseThrow().key());
      assertEquals(Optional.empty(), get(beside));
      assertThrows(IllegalArgumentException.class, () -> new Key(partition + "p", "s"));
      assertThrows(IllegalArgumentException.class, () -> new Key("p", sort + "s"));
    }
  }

  @Test
  default void anItemAtItsLimitIsAcceptedAndOneByteMoreIsRejected() {
    int room = store().profile().itemBytesMax() - 1; // the name of the field takes one
    for (String letter : new String[] {"x", "é"}) {
      int bytes = Limits.utf8Length(letter);
      String text = letter.repeat(room / bytes) + "x".repeat(room % bytes);
      Key key = new Key("p".repeat(Key.PARTITION_BYTES_MAX), "s".repeat(Key.SORT_BYTES_MAX));
      Map<String, Field> fields = Map.of("t", new Field.Text(text));
      applied(store().write(new Write.Put(key, fields, Optional.empty(), Condition.always())));
      assertEquals(fields, get(key).orElseThrow().fields());
      assertThrows(
          IllegalArgumentException.class,
          () -> put("a", Map.of("t", new Field.Text(text + "x")), Condition.always()));
    }
    assertEquals(Optional.empty(), get(key("a")));
  }
}
