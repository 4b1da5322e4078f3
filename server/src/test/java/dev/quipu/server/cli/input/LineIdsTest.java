package dev.quipu.server.cli.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

final class LineIdsTest {
  @Test
  void equalLinesOfASourceHaveDifferentIds() {
    LineIds ids = new LineIds("a");
    String first = ids.next("x");
    assertNotEquals(first, ids.next("x"));
    assertNotEquals(first, ids.next("y"));
    assertEquals(first, new LineIds("a").next("x"));
    assertNotEquals(first, new LineIds("b").next("x"));
    assertNotEquals(first, new LineIds("").next("x"));
  }

  @Test
  void theNumberOfDifferentLinesIsLimited() {
    LineIds ids = new LineIds("", 2);
    String first = ids.next("x");
    assertNotEquals(first, ids.next("y"));
    assertNotEquals(first, ids.next("x"));
    assertThrows(IllegalArgumentException.class, () -> ids.next("z"));
  }
}
