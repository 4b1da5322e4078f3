package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Limits;
import dev.quipu.Quipu;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreUri;
import dev.quipu.technique.MarkerItem;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.net.URI;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Edge cases of the values of the API. */
final class CoreValuesTest {
  @Test
  void rejectionsAtTheEdgesOf64Bits() {
    assertNull(Rejection.of(Long.MAX_VALUE - 1, 1, Bounds.none()));
    assertEquals(Rejection.OVERFLOW, Rejection.of(Long.MAX_VALUE, 1, Bounds.none()));
    assertEquals(Rejection.OVERFLOW, Rejection.of(-1, Long.MIN_VALUE, Bounds.none()));
    assertNull(Rejection.of(0, Long.MIN_VALUE, Bounds.none()));
    assertEquals(Rejection.OVERFLOW, Rejection.of(Long.MIN_VALUE, -1, Bounds.atLeast(0)));
    assertNull(Rejection.of(5, -1, Bounds.atMost(0)), "moves back in");
    assertEquals(Rejection.CEILING, Rejection.of(5, 1, Bounds.atMost(5)));
    assertEquals(Rejection.FLOOR, Rejection.of(0, -1, Bounds.atLeast(0)));
    assertThrows(IllegalArgumentException.class, () -> Bounds.between(1, 0));
  }

  @Test
  void requestIdsHaveOneFormWhateverTheirText() {
    RequestId hex = RequestId.of("0123456789abcdeffedcba9876543210");
    assertEquals(RequestId.of(0x0123456789abcdefL, 0xfedcba9876543210L), hex);
    assertEquals("0123456789abcdeffedcba9876543210", RequestId.of(hex.high(), hex.low()).text());
    assertNotEquals(hex, RequestId.of("0123456789ABCDEFFEDCBA9876543210"));
    assertEquals(RequestId.of("order-981"), RequestId.of("order-981"));
    assertNotEquals(RequestId.of("order-981"), RequestId.of("order-982"));
    assertEquals("order-981", RequestId.of("order-981").toString());
    for (String wrong : new String[] {"", "x".repeat(256), "é".repeat(128), "a\nb", "\uDC00"}) {
      assertThrows(IllegalArgumentException.class, () -> RequestId.of(wrong));
    }
    assertEquals("x".repeat(255), RequestId.of("x".repeat(255)).text());
  }

  @Test
  void boundsMarksTellBoundsApart() {
    Set<Integer> marks = new HashSet<>();
    assertEquals(0, new Add("a", 1, null).boundsMark());
    for (long floor = -20; floor <= 20; floor++) {
      for (long ceiling = floor; ceiling <= 20; ceiling++) {
        assertTrue(
            marks.add(new Add("a", 1, Bounds.between(floor, ceiling), null).boundsMark()),
            "twice: " + floor + ".." + ceiling);
      }
    }
  }

  @Test
  void textsAreMeasuredInBytesAndNamedWhenWrong() {
    assertEquals("é", Limits.checkText("name", "é", 2));
    for (String text : new String[] {"", "é", "\uD83D", "\u0000", "\u007f", "\u0085", "a\r\nb"}) {
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> Limits.checkText("the name", text, 1));
      assertTrue(String.valueOf(e.getMessage()).startsWith("the name "), e.getMessage());
    }
    assertEquals("\uD83D\uDE00", Limits.checkText("name", "\uD83D\uDE00", 4));
    assertEquals(4, Limits.utf8Length("\uD83D\uDE00"));
  }

  @Test
  void aTechniqueRejectsAStoreThatWillNotDoAndNamesThoseThatWould() {
    Store store =
        new Store(
            new LimitedDriver(new MemoryDriver(), Set.of(Capability.STRONG_READ)),
            new ManualClock(0));
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> new MarkerItem(store));
    String said = String.valueOf(e.getMessage());
    assertTrue(said.contains("which lacks native update and atomic batch;"), said);
    assertTrue(
        said.endsWith("these do: atomic-add, optimistic, optimistic-with-history, token-set"),
        said);
  }

  /** If any character of a password is not encoded, no part of it appears in a message. */
  @Test
  void aPasswordThatIsNotEncodedIsInNoMessage() {
    for (String password :
        List.of("se/cret", "se?cret", "se#cret", "se:c@r/et", "/secret@@", "1/2")) {
      URI uri = StoreUri.parse("redis://user:" + password + "@localhost:6379/0");
      Exception why =
          assertThrows(
              IllegalArgumentException.class, () -> new StoreUri(uri, 6_379, Set.of("prefix")));
      assertEquals(
          "the store's URI has '@' or '#' after its hosts; in a password, encode @ as %40, / as %2F,"
              + " ? as %3F and # as %23",
          why.getMessage());
    }
    StoreUri whole = new StoreUri(StoreUri.parse("redis://u:a%40b%2Fc@h:1/0"), 6_379, Set.of());
    assertEquals(Optional.of("a@b/c"), whole.password());
  }

  @Test
  void viewsAreCountedByEventAndByTime() {
    try (Quipu quipu = Backends.on(new MemoryDriver())) {
      ViewEvent event = new ViewEvent("/a", Instant.parse("2022-03-28T13:17:23.5Z"), "me");
      assertTrue(quipu.part(ViewCounter.class).add(event));
      assertTrue(!quipu.part(ViewCounter.class).add(event));
      assertTrue(
          quipu
              .part(ViewCounter.class)
              .add(new ViewEvent("/a", Instant.parse("2022-03-28T13:17:23Z"), "me")));
      assertTrue(quipu.part(ViewCounter.class).add(new ViewEvent("/a", event.time(), "you")));
      assertTrue(quipu.part(ViewCounter.class).add(new ViewEvent("/b", event.time(), "me")));
      assertEquals(OptionalLong.of(3), quipu.part(ViewCounter.class).count("/a"));
      assertEquals(OptionalLong.empty(), quipu.part(ViewCounter.class).count("/c"));
      Optional<Instant> half = Optional.of(event.time());
      assertEquals(2, quipu.part(ViewCounter.class).count("/a", half, Optional.empty()));
      assertEquals(1, quipu.part(ViewCounter.class).count("/a", Optional.empty(), half));
      assertEquals(
          3, quipu.part(ViewCounter.class).count("/a", Optional.empty(), Optional.empty()));
      assertThrows(IllegalArgumentException.class, () -> new ViewEvent("/a", Instant.MAX, "me"));
    }
  }
}
