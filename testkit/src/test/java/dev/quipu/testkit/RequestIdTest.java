package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.quipu.Limits;
import dev.quipu.RequestId;
import dev.quipu.time.Randomness;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Request ids of texts, of bytes, and of 128 bits. */
final class RequestIdTest {
  private static final String HEX = "0123456789abcdeffedcba9876543210";

  private static @Nullable RequestId ofAscii(String text) {
    byte[] bytes = ("##" + text + "##").getBytes(StandardCharsets.ISO_8859_1);
    return RequestId.ofAscii(bytes, 2, text.length());
  }

  @Test
  void bytesAreTheIdOfTheirText() {
    for (String text :
        List.of(
            " ",
            "~",
            "order-981",
            HEX,
            HEX.toUpperCase(Locale.ROOT),
            HEX.substring(1),
            HEX + "0",
            HEX.replace('9', ':'), // after the last digit
            HEX.replace('0', '/'), // before the first
            HEX.replace('a', '`'),
            HEX.replace('f', 'g'),
            "0".repeat(32),
            "9".repeat(32),
            "a".repeat(32),
            "f".repeat(32),
            "x".repeat(Limits.REQUEST_ID_BYTES_MAX))) {
      RequestId id = Objects.requireNonNull(ofAscii(text), text);
      assertEquals(RequestId.of(text), id, text);
      assertEquals(id.bits(), id.text(), "the text is not kept");
    }
    RequestId hex = RequestId.of(0x0123456789abcdefL, 0xfedcba9876543210L);
    assertEquals(hex, RequestId.of(HEX));
    for (String other : List.of(HEX.replace('9', ':'), HEX.replace('0', '/'))) {
      assertEquals(other, RequestId.of(other).text());
      assertNotEquals(other, RequestId.of(other).bits());
    }
  }

  @Test
  void bytesThatAreNoTextInAsciiAreNoId() {
    for (String text :
        List.of("", "\u001f", "a\n", "\u007f", "\u0080", "\u00ff", "x".repeat(256))) {
      assertNull(ofAscii(text), text);
    }
  }

  @Test
  void equalIdsHaveOneHashAndOthersRarelyShareIt() {
    assertEquals(RequestId.of(1, 2).hashCode(), RequestId.of(1, 2).hashCode());
    Set<Integer> hashes = new HashSet<>();
    Set<RequestId> ids = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      RequestId id = RequestId.random(Randomness.seeded(i));
      ids.add(id);
      hashes.add(id.hashCode());
    }
    assertEquals(1_000, ids.size());
    assertEquals(1_000, hashes.size(), 3);
    hashes.clear();
    for (int i = 0; i < 1_000; i++) {
      hashes.add(RequestId.of(0, i).hashCode());
    }
    assertEquals(1_000, hashes.size(), "of ids that are counted");
    assertNotEquals(RequestId.of(1, 2), RequestId.of(1, 3));
    assertNotEquals(RequestId.of(1, 2), RequestId.of(3, 2));
    assertNotEquals(RequestId.random(), RequestId.random());
  }
}
