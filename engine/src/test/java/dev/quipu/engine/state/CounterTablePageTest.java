package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The names of a page as bytes, and the expiry of its counters. */
final class CounterTablePageTest {
  private static final short EXPIRING = CounterTablePage.WRITTEN | CounterTablePage.EXPIRES;

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
  void namesOfAllPrintableLettersUpTo127BytesAreFound() {
    String longest = "x".repeat(127);
    page.name(0, " ~");
    page.name(1, longest);
    assertTrue(isName(0, " ~") && isName(1, longest));
  }

  @Test
  void otherNamesTakeNoRoomInBytes() {
    int before = page.bytesEnd;
    page.name(0, "x".repeat(128));
    page.name(1, "a\u007f");
    page.name(2, "a\u001f");
    page.name(3, "é");
    assertEquals(before, page.bytesEnd);
    assertEquals("é", page.names[3], "the name itself is kept");
    for (int i = 0; i < 4; i++) {
      assertEquals(0, page.places[i]);
    }
  }

  /** The byte at 0 means no name: 1,023 bytes remain for names. */
  @Test
  void aPageGrowsWhenANameDoesNotFitAndNotBefore() {
    for (int i = 0; i < 10; i++) {
      page.name(i, "n".repeat(99) + i); // 1,010 bytes with their lengths
    }
    page.name(10, "exactly 12 b");
    assertEquals(1_024, page.bytesEnd);
    assertEquals(1_024, page.bytes.length);
    page.name(11, "a");
    assertEquals(2_048, page.bytes.length);
    assertTrue(isName(9, "n".repeat(99) + 9) && isName(10, "exactly 12 b") && isName(11, "a"));
  }

  @Test
  void removedNamesAreCompactedWhenTheyAreHalfOfAll() {
    for (int i = 0; i < 8; i++) {
      page.name(i, "n".repeat(126) + i); // 128 bytes with their lengths
      if (i == 6) {
        page.forget(0);
        page.forget(2);
        page.forget(4);
        assertEquals(384, page.bytesDead);
      }
    }
    assertEquals(2_048, page.bytes.length, "three of seven are less than half: it grew");
    for (int i = 8; i <= 16; i++) { // the last one does not fit
      page.name(i, "n".repeat(125) + i);
      page.forget(i);
    }
    assertEquals(2_048, page.bytes.length, "it was compacted");
    assertEquals(128, page.bytesDead, "the last one is gone since");
    assertEquals(1 + 5 * 128 + 128, page.bytesEnd);
    for (int i : new int[] {1, 3, 5, 6, 7}) {
      assertTrue(isName(i, "n".repeat(126) + i), "name " + i);
    }
    for (int i : new int[] {0, 2, 4, 8, 16}) {
      assertNull(page.names[i]);
      assertEquals(0, page.places[i]);
    }
  }

  @Test
  void exactlyHalfIsEnoughToCompact() {
    for (int i = 0; i < 8; i++) {
      page.name(i, "n".repeat(i == 7 ? 125 : 127)); // 7 of 128 bytes, one of 126
    }
    for (int i = 0; i < 4; i++) {
      page.forget(i);
    }
    assertEquals(512, page.bytesDead);
    page.name(8, "a");
    assertEquals(1_024, page.bytes.length);
    assertEquals(0, page.bytesDead);
    assertEquals(1 + 3 * 128 + 126 + 2, page.bytesEnd);
  }

  @Test
  void forgettingANameWithoutBytesLeavesNothingDead() {
    page.name(0, "é");
    page.forget(0);
    page.forget(1);
    assertEquals(0, page.bytesDead);
    assertNull(page.names[0]);
  }

  private void expire(int index, short state, long atMillis) {
    long[] expiries = page.expiries == null ? new long[CounterTablePage.SIZE] : page.expiries;
    page.expiries = expiries;
    page.states[index] = state;
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
    Arrays.fill(page.states, (short) 0);
    assertEquals(0, page.findExpired(0, 100, found, 0, 2));
    assertEquals(Long.MAX_VALUE, page.nextExpiryMillis, "nothing is left to expire");
  }
}
