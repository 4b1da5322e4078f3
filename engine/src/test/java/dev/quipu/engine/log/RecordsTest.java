package dev.quipu.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Records are read back as written, and are no larger than announced. */
final class RecordsTest {
  private static final int LAST_ORDINAL = (1 << 30) - 1;
  private static final List<Long> NUMBERS =
      List.of(0L, 1L, -1L, 63L, 64L, -64L, -65L, 1L << 31, Long.MAX_VALUE, Long.MIN_VALUE);

  /** Writes records, and returns the calls that their reader receives. */
  private static List<String> readBack(Consumer<ByteBuffer> write) {
    List<String> calls = new ArrayList<>();
    read(write, (name, arguments) -> calls.add(name + Arrays.deepToString(arguments)));
    return calls;
  }

  private static void read(Consumer<ByteBuffer> write, BiConsumer<String, Object[]> calls) {
    ByteBuffer out = ByteBuffer.allocate(1 << 16);
    write.accept(out);
    Records.Reader reader =
        (Records.Reader)
            Proxy.newProxyInstance(
                Records.Reader.class.getClassLoader(),
                new Class<?>[] {Records.Reader.class},
                (proxy, method, arguments) -> {
                  calls.accept(method.getName(), arguments);
                  return null;
                });
    ByteBuffer in = out.flip();
    Records.read(in, reader);
    assertFalse(in.hasRemaining());
  }

  private static int length(Consumer<ByteBuffer> write) {
    ByteBuffer out = ByteBuffer.allocate(1 << 16);
    write.accept(out);
    return out.position();
  }

  @Test
  void counterRecordsAreReadBack() {
    List<String> calls =
        readBack(out -> {
          Records.name(out, 0, "é\uD83D\uDE00");
          Records.value(out, LAST_ORDINAL, 5);
          Records.once(out, 7, Long.MIN_VALUE, -1, 3, -4, 0);
          Records.once(out, 7, 1, 2, 3, 4, -5);
          Records.cancel(out, 8, 1, Long.MAX_VALUE);
          Records.expires(out, 9, 1_700_000_000_000L);
          Records.gone(out, 10);
          Records.free(out, 11);
          Records.hadIds(out, 12);
          Records.text(out, 13, new byte[] {1, -1});
          Records.noItem(out, new Key("p", "s"));
        });
    assertEquals(
        List.of(
            "name[0, é\uD83D\uDE00]",
            "value[1073741823, 5]",
            "once[7, -9223372036854775808, -1, 3, -4, 0]",
            "once[7, 1, 2, 3, 4, -5]",
            "cancel[8, 1, 9223372036854775807]",
            "expires[9, 1700000000000]",
            "gone[10]",
            "free[11]",
            "hadIds[12]",
            "text[13, [1, -1]]",
            "item[" + new Key("p", "s") + ", Optional.empty]"),
        calls);
  }

  @Test
  void numbersAreReadBack() {
    for (long number : NUMBERS) {
      assertEquals(
          List.of("value[1, " + number + "]"), readBack(out -> Records.value(out, 1, number)));
      assertEquals(
          List.of("once[1, 1, 2, " + number + ", " + number + ", 9]"),
          readBack(out -> Records.once(out, 1, 1, 2, number, number, 9)));
    }
    int longest =
        length(out -> Records.once(out, LAST_ORDINAL, 1, 2, Long.MIN_VALUE, Long.MIN_VALUE, -1));
    assertTrue(longest <= Records.COUNTER_RECORD_BYTES_MAX, longest + " bytes");
    ByteBuffer tooLong = ByteBuffer.wrap(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1});
    assertThrows(IllegalStateException.class, () -> Records.unsigned(tooLong));
  }

  @Test
  void itemRecordsAreReadBackAndWithinTheirBound() {
    String wide = "\uFFFD".repeat(100); // three bytes each: the maximum per char
    Map<String, Field> fields = new HashMap<>();
    check(new Item(new Key("p", "s"), fields, Records.version(1), Optional.empty()), 0);
    fields.put("number", new Field.Number(Long.MIN_VALUE));
    check(new Item(new Key(wide, wide), fields, Records.version(1), Optional.empty()), 1);
    fields.put(wide, new Field.Text(wide));
    fields.put(wide + 1, new Field.Text("a"));
    check(
        new Item(
            new Key("p", wide),
            fields,
            Records.version(Long.MAX_VALUE),
            Optional.of(Instant.ofEpochSecond(-1L << 40, 999_999_999))),
        3);
    fields.put("tokens", new Field.Tokens(Set.of(wide, wide + 1, wide + 2)));
    check(new Item(new Key(wide, "s"), fields, Records.version(77), Optional.of(Instant.EPOCH)), 7);
  }

  private static void check(Item item, int parts) {
    List<Object> found = new ArrayList<>();
    read(out -> Records.item(out, item), (name, arguments) -> found.addAll(List.of(arguments)));
    assertEquals(List.of(item.key(), Optional.of(item)), found);
    int length = length(out -> Records.item(out, item));
    int max = Records.itemBytesMax(item);
    int ascii = 2 * 20; // chars that take one byte, not three
    assertTrue(length <= max && max <= length + 80 + 20 * parts + ascii, length + " of " + max);
    int gone = length(out -> Records.noItem(out, item.key()));
    int goneMax = Records.keyBytesMax(item.key());
    assertTrue(gone <= goneMax && goneMax <= gone + 20, gone + " of " + goneMax);
  }

  @Test
  void transactionsAndHoldsAreReadBackAndNoLargerThanAnnounced() {
    String name = "名".repeat(170);
    for (int parts : new int[] {1, 64}) {
      for (int policies : new int[] {0, HoldRecord.LATE_APPLY, HoldRecord.EXCESS_ALLOW}) {
        HoldRecord hold =
            new HoldRecord(
                -1,
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                Long.MAX_VALUE,
                policies,
                Collections.nCopies(
                    parts,
                    new HoldRecord.Part(
                        name, LAST_ORDINAL, Long.MIN_VALUE, 1, Long.MAX_VALUE, 18, true)));
        assertEquals(List.of("hold[" + hold + "]"), readBack(out -> Records.hold(out, hold)));
        assertTrue(
            length(out -> Records.hold(out, hold))
                <= HoldRecord.bytesMax(parts, parts * name.length()));
        long bound = policies == HoldRecord.LATE_APPLY ? Long.MIN_VALUE : 0;
        int scale = policies == 0 ? 0 : 18;
        for (TransactionRecord.Kind kind : TransactionRecord.Kind.values()) {
          TransactionRecord transaction =
              new TransactionRecord(
                  1,
                  2,
                  kind,
                  policies,
                  Long.MIN_VALUE,
                  Long.MIN_VALUE,
                  Collections.nCopies(
                      parts,
                      new TransactionRecord.Part(
                          LAST_ORDINAL, Long.MIN_VALUE, Long.MAX_VALUE, bound, bound, scale)));
          assertEquals(
              List.of("transaction[" + transaction + "]"),
              readBack(out -> Records.transaction(out, transaction)));
          assertTrue(
              length(out -> Records.transaction(out, transaction))
                  <= TransactionRecord.bytesMax(parts));
        }
      }
    }
  }
}
