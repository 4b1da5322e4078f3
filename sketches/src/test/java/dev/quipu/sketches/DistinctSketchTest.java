package dev.quipu.sketches;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Estimates of distinct values. */
final class DistinctSketchTest {
  /** Four standard errors, exceeded by one run in 16,000; these runs are deterministic. */
  private static final double ERROR_MAX = 4 * DistinctSketch.STANDARD_ERROR;

  private static byte[] thing(int number) {
    return ("thing-" + number).getBytes(StandardCharsets.UTF_8);
  }

  private static DistinctSketch of(int from, int to) {
    DistinctSketch sketch = DistinctSketch.empty();
    for (int i = from; i < to; i++) {
      sketch.add(thing(i));
    }
    return sketch;
  }

  @Test
  void fewAreCountedExactly() {
    DistinctSketch sketch = DistinctSketch.empty();
    for (int i = 0; i < 512; i++) {
      assertEquals(i, sketch.estimate());
      assertTrue(sketch.add(thing(i)));
      assertFalse(sketch.add(thing(i)), "a repeat changes nothing");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {513, 1_000, 10_000, 100_000, 1_000_000})
  void manyAreCountedAbout(int count) {
    DistinctSketch sketch = of(0, count);
    assertEquals(count, (double) sketch.estimate(), count * ERROR_MAX);
    byte[] before = sketch.bytes();
    assertTrue(before.length <= DistinctSketch.BYTES_MAX);
    for (int i = 0; i < count; i += 7) {
      assertFalse(sketch.add(thing(i)), "a repeat changes nothing");
    }
    assertArrayEquals(before, sketch.bytes());
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 400, 600, 20_000})
  void aUnionEqualsOneSketchOfAllValues(int count) {
    byte[] together = of(0, 2 * count).bytes();
    DistinctSketch one = of(0, count + count / 2);
    one.merge(of(count, 2 * count));
    assertArrayEquals(together, one.bytes());
    DistinctSketch other = of(count, 2 * count);
    other.merge(of(0, count + count / 2));
    assertArrayEquals(together, other.bytes());
  }

  @Test
  void bytesRoundTrip() {
    for (int count : new int[] {0, 1, 512, 513, 5_000}) {
      DistinctSketch sketch = of(0, count);
      DistinctSketch read = DistinctSketch.of(sketch.bytes());
      assertEquals(sketch.estimate(), read.estimate());
      assertArrayEquals(sketch.bytes(), read.bytes());
    }
    assertThrows(IllegalArgumentException.class, () -> DistinctSketch.of(new byte[0]));
    assertThrows(IllegalArgumentException.class, () -> DistinctSketch.of(new byte[] {9}));
    assertThrows(IllegalArgumentException.class, () -> DistinctSketch.of(new byte[3]));
  }
}
