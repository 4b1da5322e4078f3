package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.ids.Secret;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The table of counters compared to a plain map, over several pages. */
final class CounterTableTest {
  private static final int PAGE = 4_096;
  private static final int NAMES = 2 * PAGE + 500;
  private static final int STEPS = 30_000;
  private static final long NOW = 1_000_000;

  private final CounterTable table = new CounterTable(new Secret(42));
  private final Map<Integer, Entry> entries = new TreeMap<>();
  private final Set<Integer> pagesWithExpiries = new HashSet<>();
  private Random random = new Random(0);
  private int largest = -1;

  /** The expected content of an ordinal. */
  private static final class Entry {
    private final String name;
    private @Nullable Long value;
    private byte @Nullable [] text;
    private long expiresAt;
    private int epoch;
    private boolean isDirty;
    private boolean isTombstone;

    Entry(String name) {
      this.name = name;
    }

    boolean isWritten() {
      return value != null || text != null;
    }

    void clear() {
      value = null;
      text = null;
      expiresAt = 0;
    }
  }

  /** Half of the names collide in {@link String#hashCode}; some are long or not ASCII. */
  private static String name(int number) {
    StringBuilder name = new StringBuilder();
    for (int bit = 0; bit < 14; bit++) {
      name.append((number >> bit & 1) == 0 ? "Aa" : "BB");
    }
    return switch (number % 8) {
      case 0 -> "counter/" + number;
      case 1 -> "zähler/" + number;
      case 2 -> "é".repeat(100) + number;
      case 3 -> "x".repeat(130) + number;
      default -> name.toString();
    };
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void equalsAPlainMap(long seed) {
    random = new Random(seed);
    for (int i = 0; i < NAMES; i++) {
      add(name(i));
    }
    for (int step = 0; step < STEPS; step++) {
      change(random.nextInt(NAMES));
    }
    check();
    new ArrayList<>(entries.keySet()).forEach(this::free);
    check();
    for (int i = 0; i < NAMES; i++) { // free places are used before new ones
      add(name(i));
    }
    check();
  }

  private void add(String name) {
    assertEquals(-1, table.find(name));
    assertEquals(-1, find(name.getBytes(StandardCharsets.UTF_8)));
    boolean hasFree = entries.size() <= largest;
    int ordinal = table.add(name);
    assertNull(entries.put(ordinal, new Entry(name)), "a place that is taken");
    assertEquals(hasFree ? largest : largest + 1, Math.max(largest, ordinal));
    largest = Math.max(largest, ordinal);
  }

  private int find(byte[] name) {
    byte[] within = new byte[name.length + 2];
    System.arraycopy(name, 0, within, 1, name.length);
    return table.find(within, 1, name.length);
  }

  private void free(int ordinal) {
    table.free(ordinal);
    entries.remove(ordinal);
    assertNull(table.name(ordinal));
    assertFalse(table.isWritten(ordinal));
    assertEquals(0, table.expiresAt(ordinal));
    assertEquals(0, table.epochOfIds(ordinal));
  }

  private void change(int number) {
    String name = name(number);
    int ordinal = table.find(name);
    if (ordinal < 0) {
      add(name);
      return;
    }
    Entry entry = Objects.requireNonNull(entries.get(ordinal));
    assertEquals(entry.name, name);
    long version = table.version(ordinal);
    switch (random.nextInt(10)) {
      case 0 -> free(ordinal);
      case 1 -> {
        table.remove(ordinal);
        entry.clear();
      }
      case 2 -> {
        byte[] text = new byte[random.nextInt(50)];
        table.setText(ordinal, text);
        entry.value = null;
        entry.text = text;
      }
      case 3, 4 -> {
        long at = random.nextInt(4) == 0 ? 0 : NOW - 500 + random.nextInt(1_000);
        table.expire(ordinal, at);
        entry.expiresAt = at;
        if (at != 0) {
          pagesWithExpiries.add(ordinal / PAGE);
        }
      }
      case 5 -> {
        entry.epoch = 1 + random.nextInt(255);
        table.markIds(ordinal, entry.epoch);
      }
      case 6 -> {
        assertEquals(!entry.isDirty, table.markDirty(ordinal));
        entry.isDirty = true;
        if (random.nextBoolean()) {
          table.unmarkDirty(ordinal);
          entry.isDirty = false;
        }
      }
      case 7 -> {
        assertEquals(!entry.isTombstone, table.markTombstone(ordinal));
        entry.isTombstone = true;
        if (random.nextBoolean()) {
          table.unmarkTombstone(ordinal);
          entry.isTombstone = false;
        }
      }
      default -> {
        long value = random.nextLong();
        table.set(ordinal, value);
        entry.text = null;
        entry.value = value;
        assertNotEquals(version, table.version(ordinal));
      }
    }
  }

  private void check() {
    assertEquals(largest + 1, table.size());
    assertEquals(entries.size(), table.named());
    long bytes = 32_768L * pagesWithExpiries.size();
    bytes += 40L * (table.size() - table.named()); // what removed ones leave
    Map<String, Integer> written = new TreeMap<>(dev.quipu.store.Key.ORDER);
    for (Map.Entry<Integer, Entry> each : entries.entrySet()) {
      Entry entry = each.getValue();
      check(each.getKey(), entry);
      int length = entry.name.getBytes(StandardCharsets.UTF_8).length;
      int rest = Math.max(0, length - 16); // the start of a name is in the slot
      bytes += 52 + rest * 5 / 4 + (entry.text == null ? 0 : 96 + entry.text.length);
      if (entry.isWritten()) {
        written.put(entry.name, each.getKey());
      }
    }
    assertEquals(bytes, table.memoryBytes());
    List<Integer> listed = new ArrayList<>();
    table.from("", true).forEachRemaining((int ordinal) -> listed.add(ordinal));
    assertEquals(new ArrayList<>(written.values()), listed);
    assertEquals(written.size(), table.writtenSize());
    assertEquals(entries.values().stream().anyMatch(each -> each.text != null), table.hasTexts());
    checkExpired();
  }

  private void check(int ordinal, Entry entry) {
    String name = entry.name;
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    boolean isAscii = bytes.length == name.length();
    assertEquals(name, table.name(ordinal));
    assertEquals(ordinal, table.find(name));
    assertEquals(isAscii ? ordinal : -1, find(bytes));
    assertEquals(entry.isWritten(), table.isWritten(ordinal));
    assertEquals(entry.value == null ? 0 : entry.value, table.value(ordinal));
    assertArrayEquals(entry.text, table.text(ordinal));
    assertEquals(entry.expiresAt, table.expiresAt(ordinal));
    assertEquals(entry.epoch, table.epochOfIds(ordinal));
    boolean hasExpired = entry.expiresAt != 0 && entry.expiresAt <= NOW;
    assertEquals(entry.isWritten() && !hasExpired, table.isAlive(ordinal, NOW));
    assertEquals(!entry.isDirty, table.markDirty(ordinal));
    entry.isDirty = true;
    assertEquals(!entry.isTombstone, table.markTombstone(ordinal));
    entry.isTombstone = true;
  }

  private void checkExpired() {
    Set<Integer> expired = new HashSet<>();
    entries.forEach((ordinal, entry) -> {
      if (entry.isWritten() && entry.expiresAt != 0 && entry.expiresAt <= NOW) {
        expired.add(ordinal);
      }
    });
    assertEquals(expired.size(), table.expired.size(NOW));
    Set<Integer> found = new HashSet<>();
    int[] some = new int[100];
    while (table.expired.mayExist(NOW)) {
      int count = table.expired.find(NOW, some, some.length);
      IntStream.range(0, count).forEach(i -> assertTrue(found.add(some[i]), "found twice"));
      for (int i = 0; i < count; i++) {
        table.remove(some[i]);
        Objects.requireNonNull(entries.get(some[i])).clear();
      }
    }
    assertEquals(expired, found);
    assertEquals(0, table.expired.size(NOW));
  }

  @Test
  void aRecordOfTheLogMovesNames() {
    table.redefine(0, "a");
    table.redefine(5_000, "b");
    table.set(0, 1);
    table.redefine(0, "a");
    assertEquals(1, table.value(0), "it was there");
    table.redefine(0, "b");
    assertEquals(0, table.find("b"));
    assertEquals(-1, table.find("a"));
    assertNull(table.name(5_000));
    assertFalse(table.isWritten(0));
    assertEquals(1, table.named());
    table.findFree(ordinal -> ordinal == 2, ordinal -> {});
    List<Integer> free = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      free.add(table.add("new " + i));
    }
    assertEquals(List.of(1, 3, 4), free);
    assertEquals(5_001, table.size());
  }

  @Test
  void versionsGoOnAboveThoseOfEarlierRuns() {
    table.startVersions(100);
    int ordinal = table.add("a");
    assertEquals(101, table.version(ordinal));
    assertEquals(101, table.version(ordinal), "nothing has changed");
    table.set(ordinal, 1);
    assertEquals(102, table.version(ordinal));
    table.setText(ordinal, new byte[1]);
    assertEquals(103, table.version(ordinal));
    table.remove(ordinal);
    assertEquals(104, table.version(ordinal));
  }
}
