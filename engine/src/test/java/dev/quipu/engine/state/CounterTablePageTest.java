package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.ids.Secret;
import dev.quipu.store.Key;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The names of a page as bytes, and the expiry of its counters. */
final class CounterTablePageTest {
  private static final int EXPIRING = CounterTablePage.WRITTEN | CounterTablePage.EXPIRES;

  private final CounterTablePage page = new CounterTablePage();

  private boolean isName(int index, String name) {
    byte[] bytes = ("<" + name + ">").getBytes(StandardCharsets.UTF_8);
    return page.isName(index, bytes, 1, bytes.length - 2);
  }

  @Test
  void aNameIsFoundByItsBytesAndNoOther() {
    page.name(0, "first");
    page.name(1, "second");
    assertTrue(isName(0, "first") && isName(1, "second"));
    assertFalse(isName(0, "second") || isName(0, "firs") || isName(0, "first2"));
    assertFalse(isName(1, "secund") || isName(2, "first"));
  }

  @Test
  void namesOfAnyLengthAreFound() {
    List<String> names =
        List.of(
            " ~",
            "x".repeat(7),
            "x".repeat(8),
            "x".repeat(9),
            "x".repeat(15),
            "x".repeat(16),
            "x".repeat(17),
            "x".repeat(8) + "\0",
            "x".repeat(15) + "\0",
            "x".repeat(16) + "\0",
            "x".repeat(7) + "é",
            "x".repeat(15) + "é",
            "x".repeat(20) + "a" + "x".repeat(8),
            "x".repeat(20) + "b",
            "x".repeat(127),
            "x".repeat(128),
            "y".repeat(513),
            "a\u001fb",
            "é",
            "\ud83d\ude00");
    for (int i = 0; i < names.size(); i++) {
      page.name(i, names.get(i));
    }
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      assertTrue(isName(i, name) && page.isName(i, name), name);
      assertEquals(name, page.name(i));
      for (int other = 0; other < names.size(); other++) {
        String another = names.get(other);
        assertEquals(i == other, isName(i, another), another);
        assertEquals(i == other, page.isName(i, another), another);
        byte[] bytes = another.getBytes(StandardCharsets.UTF_8);
        assertEquals(
            Integer.signum(Key.ORDER.compare(name, another)),
            Integer.signum(page.compareName(i, bytes)));
        assertEquals(
            Integer.signum(Key.ORDER.compare(name, another)),
            Integer.signum(page.compareName(i, page, other)));
        byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
        int common = Arrays.mismatch(utf8, bytes);
        assertEquals(common < 0 ? utf8.length : common, page.commonBytes(i, page, other));
        assertEquals(
            Integer.signum(Key.ORDER.compare(name, another)),
            Integer.signum(page.compareName(i, page, other)));
      }
    }
    assertFalse(page.isName(0, " ") || page.isName(0, " ~x") || page.isName(5, "e"));
    assertFalse(page.isName(names.size(), "") || page.hasName(names.size()));
    assertFalse(isName(names.size(), ""));
  }

  @Test
  void theBytesOfANameAreComparedInGroups() {
    page.name(0, "counter/12");
    page.name(1, "counter/\u00ff");
    page.name(2, "count");
    assertEquals(0x636f756e, page.nameBytes(0, 0));
    assertEquals(0x31320000, page.nameBytes(0, 8));
    assertEquals(0xc3bf0000, page.nameBytes(1, 8));
    assertEquals(0, page.nameBytes(2, 5));
    assertEquals(0, page.nameBytes(2, 100));
    assertEquals(8, page.commonBytes(0, page, 1));
    assertEquals(5, page.commonBytes(0, page, 2));
    assertEquals(10, page.commonBytes(0, page, 0));
  }

  @Test
  void fourBytesOfANameAreReadFromAnyPlace() {
    String name = "0123456é9abcde\u00fff0123456";
    byte[] utf8 = Arrays.copyOf(name.getBytes(StandardCharsets.UTF_8), 40);
    page.name(1, name);
    for (int at = 0; at < 36; at++) {
      assertEquals(ByteBuffer.wrap(utf8).getInt(at), page.nameBytes(1, at), "at " + at);
    }
  }

  /** The start of a name is in its slot. */
  @Test
  void aPageGrowsWhenANameDoesNotFitAndNotBefore() {
    for (int i = 0; i < 10; i++) {
      page.name(i, "n".repeat(115) + i); // 100 bytes are not in the slot
    }
    page.name(10, "n".repeat(40));
    assertEquals(1_024, page.bytesEnd);
    assertEquals(1_024, page.bytes.length);
    page.name(11, "n".repeat(16));
    assertEquals(1_024, page.bytes.length);
    page.name(12, "n".repeat(17));
    assertEquals(2_048, page.bytes.length);
    assertTrue(isName(9, "n".repeat(115) + 9) && isName(10, "n".repeat(40)));
    assertTrue(isName(11, "n".repeat(16)) && isName(12, "n".repeat(17)));
  }

  @Test
  void removedNamesAreCompactedWhenTheyAreHalfOfAll() {
    for (int i = 0; i < 9; i++) {
      page.name(i, "n".repeat(143) + i); // 128 bytes are not in the slot
      if (i == 6) {
        page.forgetName(0);
        page.forgetName(2);
        page.forgetName(4);
        assertEquals(384, page.bytesDead);
      }
    }
    assertEquals(2_048, page.bytes.length, "three of eight are less than half: it grew");
    for (int i = 9; i <= 16; i++) { // the last one does not fit
      page.name(i, "n".repeat(142) + i);
      page.forgetName(i);
    }
    assertEquals(2_048, page.bytes.length, "it was compacted");
    assertEquals(128, page.bytesDead, "the last one is gone since");
    for (int i : new int[] {1, 3, 5, 6, 7, 8}) {
      assertTrue(isName(i, "n".repeat(143) + i), "name " + i);
    }
    for (int i : new int[] {0, 2, 4, 9, 16}) {
      assertNull(page.name(i));
    }
  }

  /** The numbers of epochs are used again. */
  @Test
  void anEpochThatIsOverWhenAPageIsCopiedIsForgotten() {
    RequestIds ids = new RequestIds(new Secret(1), 1_000, 16, 0);
    page.name(0, "a");
    page.epoch(0, 5);
    page.name(1, "b");
    page.epoch(1, ids.epoch());
    page.copied(ids);
    assertEquals(0, page.changed());
    assertEquals(0, page.epoch(0));
    assertEquals(ids.epoch(), page.epoch(1));
    page.epoch(1, ids.epoch());
    assertEquals(0, page.changed());
    page.epoch(0, 5);
    assertTrue(page.is(0, CounterTablePage.CHANGED));
  }

  @Test
  void compactionKeepsWhatElseIsKnownOfACounter() {
    for (int i = 0; i < 7; i++) {
      page.name(i, "n".repeat(143) + i);
      page.value(i, -i);
      page.mark(i, EXPIRING);
      page.epoch(i, 255 - i);
    }
    for (int i = 0; i < 5; i++) {
      page.forgetName(i);
    }
    page.name(8, "n".repeat(513));
    assertEquals(2 * 128 + 497, page.bytesEnd);
    for (int i = 0; i < 7; i++) {
      assertEquals(-i, page.value(i));
      assertEquals(EXPIRING | CounterTablePage.CHANGED, page.flags(i, 0xff));
      assertEquals(255 - i, page.epoch(i));
      assertEquals(i >= 5, page.hasName(i));
    }
    page.epoch(6, 0);
    page.unmark(6, CounterTablePage.EXPIRES);
    assertTrue(isName(6, "n".repeat(143) + 6));
    assertTrue(page.is(6, CounterTablePage.WRITTEN) && !page.is(6, CounterTablePage.EXPIRES));
  }

  @Test
  void forgettingWhatHasNoNameLeavesNothingDead() {
    page.forgetName(1);
    assertEquals(0, page.bytesDead);
    page.name(0, "é");
    page.forgetName(0);
    assertEquals(0, page.bytesDead);
    page.name(0, "n".repeat(17));
    page.name(1, "n".repeat(18));
    page.forgetName(0);
    assertEquals(1, page.bytesDead);
    page.forgetName(0);
    assertEquals(1, page.bytesDead);
    assertNull(page.name(0));
  }

  private void expire(int index, int flags, long atMillis) {
    long[] expiries = page.expiries == null ? new long[CounterTablePage.SIZE] : page.expiries;
    page.expiries = expiries;
    page.mark(index, flags);
    expiries[index] = atMillis;
    page.nextExpiryMillis = Math.min(page.nextExpiryMillis, atMillis);
  }

  @Test
  void expiredCountersAreFoundAndTheNextExpiryIsNoted() {
    expire(0, EXPIRING, 100);
    expire(1, EXPIRING, 101);
    expire(2, CounterTablePage.WRITTEN, 50); // does not expire
    expire(3, CounterTablePage.EXPIRES, 50); // was never written
    expire(CounterTablePage.SIZE - 1, EXPIRING, 99);
    int[] found = new int[5];
    assertEquals(3, page.findExpired(8_192, 100, found, 1, 5));
    assertArrayEquals(new int[] {0, 8_192, 12_287, 0, 0}, found);
    assertEquals(101, page.nextExpiryMillis);
  }

  @Test
  void expiredCountersBeyondTheLimitKeepTheMarkOfThePage() {
    expire(4, EXPIRING, 10);
    expire(5, EXPIRING, 20);
    expire(6, EXPIRING, 30);
    int[] found = new int[3];
    assertEquals(2, page.findExpired(0, 100, found, 0, 2));
    assertArrayEquals(new int[] {4, 5, 0}, found);
    assertEquals(10, page.nextExpiryMillis);
    for (int i = 0; i < CounterTablePage.SIZE; i++) {
      page.unmark(i, EXPIRING);
    }
    assertEquals(0, page.findExpired(0, 100, found, 0, 2));
    assertEquals(Long.MAX_VALUE, page.nextExpiryMillis, "nothing is left to expire");
  }

  /** Regression: names without a rest never asked for the space, and the heap was exhausted. */
  @Test
  void removedNamesLeaveLittleBehind() {
    for (int i = 0; i < 200; i++) {
      page.name(i, "n".repeat(509) + (100 + i));
    }
    assertTrue(page.bytes.length >= 200 * 496);
    int kept = 10;
    for (int i = kept; i < 200; i++) {
      page.forgetName(i);
    }
    assertTrue(page.bytes.length <= kept * 496 + 2 * (1 << 14), "bytes: " + page.bytes.length);
    for (int i = 0; i < kept; i++) {
      assertTrue(isName(i, "n".repeat(509) + (100 + i)));
      page.name(kept + i, "m".repeat(20) + i);
    }
    for (int i = 0; i < 2 * kept; i++) {
      page.forgetName(i);
    }
    assertEquals(0, page.bytes.length);
    page.name(1, "m".repeat(17));
    assertTrue(isName(1, "m".repeat(17)));
  }

  @Test
  void aLongNameFitsThoughCompactionFreesTooLittle() {
    CounterTablePage page = new CounterTablePage();
    page.name(0, "a".repeat(528));
    page.name(1, "b".repeat(528));
    assertEquals(page.bytes.length, page.bytesEnd);
    page.forgetName(0);
    page.name(2, "c".repeat(529));
    assertEquals("b".repeat(528), page.name(1));
    assertEquals("c".repeat(529), page.name(2));
  }
}
