package dev.quipu.engine.threshold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Decimal;
import dev.quipu.backend.CounterThresholds.Direction;
import dev.quipu.backend.CounterThresholds.Threshold;
import dev.quipu.engine.log.Records;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Thresholds without an engine: limits, scales, and what a replay restores. */
final class ThresholdsTest {
  private static final int WAITING_MAX = 3;

  private final Thresholds thresholds = new Thresholds(WAITING_MAX);

  private static Threshold at(Decimal at, Direction direction) {
    URI webhook = URI.create("http://localhost/");
    return new Threshold("t", true, "", at, direction, webhook);
  }

  private void change(long before, long after) {
    Matching matching = thresholds.find(0, "c");
    if (matching.isCrossed(0, before, after)) {
      thresholds.cross(matching, "c", 0, before, after);
    }
  }

  /** Returns what another engine would have after it read the log. */
  private static Thresholds replayed(Thresholds from) {
    ByteBuffer log = ByteBuffer.allocate(from.unloggedBytes() + 16);
    from.log(log);
    Thresholds read = new Thresholds(WAITING_MAX);
    replay(read, log.flip());
    return read;
  }

  private static void replay(Thresholds thresholds, ByteBuffer records) {
    if (records.hasRemaining()) {
      records.get(); // the kind
      ByteBuffer changes = records.slice();
      long length = Records.unsigned(changes);
      thresholds.replay(changes.slice(changes.position(), (int) length));
    }
  }

  @Test
  void crossingsBeyondTheLimitAreCounted() {
    thresholds.begin(1);
    assertTrue(thresholds.put(at(new Decimal(1, 0), Direction.UP)));
    Threshold other =
        new Threshold(
            "u", false, "other", new Decimal(1, 0), Direction.UP, URI.create("http://localhost/"));
    assertTrue(thresholds.put(other));
    for (int i = 0; i < 5; i++) {
      change(0, 1);
    }
    assertEquals(2, thresholds.get("t").orElseThrow().waiting()); // half of all
    assertEquals(3, thresholds.get("t").orElseThrow().missed());
    thresholds.cross(thresholds.find(1, "other"), "other", 0, 0, 1);
    assertEquals(1, thresholds.get("u").orElseThrow().waiting());
    Thresholds read = replayed(thresholds);
    assertEquals(thresholds.list(), read.list());
    assertEquals(thresholds.waiting("t", 0, 9), read.waiting("t", 0, 9));
    List<Long> first = List.of(thresholds.waiting("t", 0, 1).getFirst().sequence());
    assertTrue(thresholds.delivered("t", first));
    assertFalse(thresholds.delivered("t", first));
    change(0, 1);
    assertEquals(2, thresholds.get("t").orElseThrow().waiting());
    assertEquals(4, thresholds.get("t").orElseThrow().missed());
    List<Long> otherFirst = List.of(thresholds.waiting("u", 0, 1).getFirst().sequence());
    assertTrue(thresholds.delivered("u", otherFirst));
    change(0, 1);
    assertEquals(2, thresholds.get("t").orElseThrow().waiting());
    assertEquals(5, thresholds.get("t").orElseThrow().missed());
  }

  @Test
  void crossingsBeyondTheMemoryOrTheFrameAreCounted() {
    Thresholds many = new Thresholds();
    many.begin(1);
    assertTrue(many.put(at(new Decimal(1, 0), Direction.UP)));
    Matching matching = many.find(0, "c");
    many.limitMemory(1_000);
    for (int i = 0; i < 20; i++) {
      many.cross(matching, "c", 0, 0, 1);
    }
    assertEquals(3, many.get("t").orElseThrow().waiting());
    assertEquals(17, many.get("t").orElseThrow().missed());
    many.limitMemory(1 << 20);
    many.limitFrame(many.unloggedBytes() + 100);
    for (int i = 0; i < 20; i++) {
      many.cross(matching, "c", 0, 0, 1);
    }
    long waiting = many.get("t").orElseThrow().waiting();
    assertTrue(waiting > 3 && waiting < 12, "waiting " + waiting);
    many.log(ByteBuffer.allocate(1 << 16));
    many.cross(matching, "c", 0, 0, 1);
    assertEquals(waiting + 1, many.get("t").orElseThrow().waiting());
  }

  /** A snapshot in pieces, on top of which the log since its start is read again. */
  @Test
  void aReplayOnASnapshotChangesNothing() {
    thresholds.begin(1);
    assertTrue(thresholds.put(at(new Decimal(1, 0), Direction.UP)));
    change(0, 1);
    change(0, 2);
    ByteBuffer log = ByteBuffer.allocate(1 << 16);
    thresholds.log(log);
    Thresholds read = new Thresholds(WAITING_MAX);
    replay(read, thresholds.image());
    assertTrue(thresholds.delivered("t", List.of(2L))); // between the pieces
    change(0, 3); // also
    ByteBuffer later = ByteBuffer.allocate(1 << 16);
    thresholds.log(later);
    Thresholds.Place place = Thresholds.Place.START;
    int pieces = 0;
    while (place != null) {
      Thresholds.Part part = thresholds.waitingAfter(place, 1);
      replay(read, part.image());
      place = part.next();
      pieces++;
    }
    assertEquals(2, pieces);
    replay(read, log.flip());
    replay(read, later.flip());
    assertEquals(thresholds.list(), read.list());
    assertEquals(thresholds.waiting("t", 0, 9), read.waiting("t", 0, 9));
  }

  @Test
  void aThresholdWithMoreDigitsIsBeyondTheNextValue() {
    Matching up = new Matching(List.of(new Defined(1, 1, at(new Decimal(25, 1), Direction.UP))));
    assertFalse(up.isCrossed(0, 0, 2));
    assertTrue(up.isCrossed(0, 2, 3));
    assertTrue(up.isCrossed(1, 24, 25));
    assertTrue(up.isCrossed(2, 249, 250));
    Matching down =
        new Matching(List.of(new Defined(1, 1, at(new Decimal(-25, 1), Direction.DOWN))));
    assertFalse(down.isCrossed(0, 0, -2));
    assertTrue(down.isCrossed(0, -2, -3));
    assertFalse(down.isCrossed(0, -3, 5));
  }

  @Test
  void aThresholdBeyondAllValuesOfAScaleIsNotCrossed() {
    Decimal most = new Decimal(Long.MAX_VALUE, 0);
    Matching up = new Matching(List.of(new Defined(1, 1, at(most, Direction.UP))));
    assertTrue(up.isCrossed(0, 0, Long.MAX_VALUE));
    assertFalse(up.isCrossed(2, 0, Long.MAX_VALUE));
    Decimal least = new Decimal(Long.MIN_VALUE, 0);
    Matching down = new Matching(List.of(new Defined(1, 1, at(least, Direction.DOWN))));
    assertTrue(down.isCrossed(0, 0, Long.MIN_VALUE));
    assertFalse(down.isCrossed(1, 0, Long.MIN_VALUE));
  }

  @Test
  void anOrdinalIsLookedUpAgainWhenItIsForgotten() {
    thresholds.begin(1);
    assertTrue(thresholds.put(at(new Decimal(1, 0), Direction.UP)));
    assertNull(thresholds.known(100_000));
    Matching found = thresholds.find(100_000, "c");
    assertEquals(found, thresholds.known(100_000));
    thresholds.forgotten(100_000);
    assertNull(thresholds.known(100_000));
    assertFalse(thresholds.find(100_000, null).isCrossed(0, 0, 5));
    long bytes = thresholds.memoryBytes();
    assertTrue(thresholds.remove("t"));
    assertTrue(thresholds.memoryBytes() <= bytes - 4_096);
    assertFalse(thresholds.isOn());
  }
}
