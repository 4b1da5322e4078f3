package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import dev.quipu.engine.ids.Secret;
import dev.quipu.engine.log.HoldRecord;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Compares the table with a map of records, of which it has only what is not removed. */
final class HoldTableTest {
  private static final int SEEDS = 300;
  private static final int STEPS = 200;
  private static final int IDS = 60;
  private static final int COUNTERS = 4;
  private static final int EXPIRIES = 1_000;

  private final HoldTable table = new HoldTable(new Secret(7));
  private final Map<Long, HoldRecord> expected = new LinkedHashMap<>();

  @Test
  void holdsAreFoundByIdExpiryAndCounter() {
    for (int seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      for (int step = 0; step < STEPS; step++) {
        change(random);
        check("seed " + seed + ", step " + step);
      }
      long expired = 0;
      for (OpenHold first = table.first(); first != null; first = table.first()) {
        assertTrue(first.expiresMillis() >= expired, "seed " + seed);
        expired = first.expiresMillis();
        remove(first.low());
      }
      assertEquals(0, table.size() + table.memoryBytes(), "seed " + seed);
    }
  }

  private void change(Random random) {
    long id = random.nextInt(IDS);
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> remove(id);
      case 3 -> {
        if (random.nextInt(4) == 0) {
          counterRemoved(random.nextInt(COUNTERS));
        }
      }
      default -> put(id, random);
    }
  }

  private void put(long id, Random random) {
    List<HoldRecord.Part> parts = new ArrayList<>();
    int first = random.nextInt(COUNTERS);
    for (int i = 0; i <= random.nextInt(COUNTERS); i++) {
      int ordinal = (first + i) % COUNTERS;
      long delta = random.nextInt(-9, 10);
      long floor = random.nextBoolean() ? Long.MIN_VALUE : random.nextInt(5);
      long ceiling = random.nextBoolean() ? Long.MAX_VALUE : random.nextInt(5);
      parts.add(new HoldRecord.Part(name(ordinal), ordinal, delta, floor, ceiling, i, false));
    }
    long expires = random.nextInt(EXPIRIES);
    HoldRecord hold = new HoldRecord(high(id), id, 5, expires, 3, List.copyOf(parts));
    expected.remove(id);
    expected.put(id, hold);
    table.put(hold);
  }

  private static String name(int ordinal) {
    return "counter-" + ordinal;
  }

  private static long high(long id) {
    return id % 2 - 1; // negative for half of them
  }

  private void remove(long id) {
    expected.remove(id);
    table.remove(high(id), id);
  }

  private void counterRemoved(int ordinal) {
    table.counterRemoved(ordinal);
    expected.replaceAll((id, hold) -> {
      List<HoldRecord.Part> parts =
          hold.parts().stream()
              .map(part -> part.ordinal() == ordinal ? part.voided() : part)
              .toList();
      return new HoldRecord(
          hold.high(), hold.low(), hold.contents(), hold.expiresMillis(), hold.policies(), parts);
    });
  }

  private void check(String when) {
    assertEquals(expected.size(), table.size(), when);
    for (long id = 0; id < IDS; id++) {
      OpenHold found = table.find(high(id), id);
      assertEquals(expected.get(id), found == null ? null : found.current(), when);
    }
    OpenHold first = table.first();
    long earliest =
        expected.values().stream().mapToLong(HoldRecord::expiresMillis).min().orElse(-1);
    assertEquals(earliest, first == null ? -1 : first.expiresMillis(), when);
    assertEquals(
        List.copyOf(expected.values()), table.all().stream().map(OpenHold::current).toList(), when);
    table.beginList();
    assertEquals(table.all(), table.nextOfList(IDS), when);
    for (int ordinal = 0; ordinal < COUNTERS; ordinal++) {
      checkCounter(ordinal, when);
    }
  }

  private void checkCounter(int ordinal, String when) {
    List<HoldRecord> holds = new ArrayList<>();
    long held = 0;
    long floor = Long.MIN_VALUE;
    long ceiling = Long.MAX_VALUE;
    for (HoldRecord hold : expected.values()) {
      for (HoldRecord.Part part : hold.parts()) {
        if (part.ordinal() == ordinal && !part.isVoid()) {
          holds.add(hold);
          held += part.delta();
          floor = Math.max(floor, part.floor());
          ceiling = Math.min(ceiling, part.ceiling());
        }
      }
    }
    assertEquals(held, table.held(ordinal), when);
    assertEquals(floor, table.floor(ordinal), when);
    assertEquals(ceiling, table.ceiling(ordinal), when);
    List<HoldRecord> sorted =
        holds.stream()
            .sorted((one, other) -> {
              int order = Long.compareUnsigned(one.high(), other.high());
              return order == 0 ? Long.compareUnsigned(one.low(), other.low()) : order;
            })
            .toList();
    List<HoldRecord> listed = new ArrayList<>();
    RequestId after = null;
    for (List<OpenHold> page = table.on(ordinal, null, 3);
        !page.isEmpty();
        page = table.on(ordinal, after, 3)) {
      page.forEach(each -> listed.add(each.current()));
      after = RequestId.of(listed.getLast().high(), listed.getLast().low());
    }
    assertEquals(sorted, listed, when);
  }

  /** Holds that are read in parts while others end: each that stays open is read. */
  @Test
  void aPartFollowsAHoldThatHasEnded() {
    for (int seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      for (int i = 0; i < IDS; i++) {
        put(i, random);
      }
      Set<Long> stay = new HashSet<>(expected.keySet());
      Set<Long> read = new HashSet<>();
      int parts = 0;
      table.beginList();
      for (List<OpenHold> part = table.nextOfList(5); !part.isEmpty(); part = table.nextOfList(5)) {
        part.forEach(hold -> read.add(hold.low()));
        parts++;
        assertTrue(parts <= IDS, "endless");
        long last = part.getLast().low();
        for (int i = 0; i < 6; i++) {
          long ended = random.nextBoolean() ? last + i : random.nextInt(IDS);
          stay.remove(ended);
          remove(ended);
          put(IDS + random.nextInt(IDS), random);
        }
      }
      stay.removeAll(read);
      assertEquals(Set.of(), stay, "seed " + seed);
      List.copyOf(expected.keySet()).forEach(this::remove);
      assertNull(table.first());
    }
  }
}
