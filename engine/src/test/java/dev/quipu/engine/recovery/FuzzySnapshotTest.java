package dev.quipu.engine.recovery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.state.State;
import dev.quipu.store.Key;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Counters change while a snapshot is written: the snapshot, and the records of the log from its
 * start on, give the state of a plain map, whatever changed between which pieces.
 */
final class FuzzySnapshotTest {
  private static final long IDENTITY = 0x0123_4567_89ab_cdefL;
  private static final int NAMES = 20_000;
  private static final int TEXT_MAX = 40;

  @TempDir Path directory;
  private final Disk disk = new FileDisk();
  private State state = new State(IDENTITY, 1_000, 1_000, 0);
  private final List<Consumer<State>> log = new ArrayList<>();
  private final TreeMap<String, String> expected = new TreeMap<>(Key.ORDER);

  /** Applies records to the state, and to the log that is replayed. */
  private void append(Consumer<State> record) {
    record.accept(state);
    log.add(record);
  }

  private void change(Random random) {
    String name =
        "n" + Integer.toString(random.nextInt(NAMES), 36) + (random.nextInt(9) == 0 ? "é" : "");
    int found = state.counters.find(name);
    int kind = random.nextInt(10);
    if (kind == 0 && found >= 0) { // its ordinal and its name may be used again
      state.counters.free(found);
      log.add(replayed -> replayed.free(found));
      expected.remove(name);
      return;
    }
    if (kind == 1 && found >= 0) {
      append(each -> each.gone(found));
      expected.remove(name);
      return;
    }
    int ordinal = found >= 0 ? found : state.counters.add(name);
    if (found < 0) {
      log.add(replayed -> replayed.name(ordinal, name));
    }
    if (kind == 2) {
      byte[] text = new byte[random.nextInt(TEXT_MAX)];
      random.nextBytes(text);
      append(each -> each.text(ordinal, text));
      expected.put(name, new String(text, StandardCharsets.ISO_8859_1));
      return;
    }
    long value = random.nextInt(4) == 0 ? random.nextLong() : random.nextInt(100);
    append(each -> each.value(ordinal, value));
    long expiry = kind == 3 ? 1 + random.nextInt(1_000) : 0;
    append(each -> each.expires(ordinal, expiry));
    int scale = state.counters.scale(ordinal);
    if (kind == 4) {
      scale = random.nextInt(3);
      int changed = scale;
      append(each -> each.scale(ordinal, changed));
    }
    expected.put(name, value + " until " + expiry + " scale " + scale);
  }

  private static Map<String, String> content(State state) {
    TreeMap<String, String> content = new TreeMap<>(Key.ORDER);
    String before = "";
    var ordinals = state.counters.from("", true);
    while (ordinals.hasNext()) {
      int ordinal = ordinals.nextInt();
      String name = String.valueOf(state.counters.name(ordinal));
      assertEquals(ordinal, state.counters.find(name));
      assertEquals(-1, Integer.signum(Key.ORDER.compare(before, name)), before + " " + name);
      before = name;
      byte[] text = state.counters.text(ordinal);
      content.put(
          name,
          text == null
              ? "%d until %d scale %d"
                  .formatted(
                      state.counters.value(ordinal),
                      state.counters.expiresAt(ordinal),
                      state.counters.scale(ordinal))
              : new String(text, StandardCharsets.ISO_8859_1));
    }
    return content;
  }

  /** Returns a few names whose content is not as expected. */
  private List<String> differences(State state) {
    Map<String, String> found = content(state);
    Set<String> names = new TreeSet<>(expected.keySet());
    names.addAll(found.keySet());
    return names.stream()
        .filter(name -> !Objects.equals(expected.get(name), found.get(name)))
        .map(name -> "%s: %s, not %s".formatted(name, found.get(name), expected.get(name)))
        .limit(3)
        .toList();
  }

  /** Several threads read pages, and add names to the index. */
  @Test
  void largeOnesAreReadByAllProcessors() throws IOException {
    int count = 300_000;
    state.ready();
    for (int i = 0; i < count; i++) {
      state.value(state.counters.add("c" + i * 7_919L % count), i);
    }
    Snapshot.Start start = new Snapshot.Start(1, 0, 0);
    try (Snapshot snapshot = Snapshot.start(disk, directory, IDENTITY, start)) {
      snapshot.counters(DirectoryWriter.still(state), false);
      snapshot.end(1);
    }
    State read = new State(IDENTITY, 1_000, 1_000, 0);
    Path path = Snapshot.newest(disk, directory).orElseThrow();
    var unused = SnapshotReader.read(disk, path, IDENTITY, read);
    read.ready();
    assertEquals(content(state), content(read));
    assertEquals(count, content(read).size());
    assertEquals(-1, read.counters.find("c" + count));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void withTheLogItIsTheState(long seed) throws IOException {
    Random random = new Random(seed);
    state.ready();
    for (int i = 0; i < NAMES; i++) {
      change(random);
    }
    log.clear();
    int each = random.nextInt(600);
    Snapshot.Start start = new Snapshot.Start(1, 0, 0);
    try (Snapshot snapshot = Snapshot.start(disk, directory, IDENTITY, start)) {
      snapshot.counters(changing(random, each), false);
      snapshot.end(1);
    }
    State read = new State(IDENTITY, 1_000, 1_000, 0);
    Path path = Snapshot.newest(disk, directory).orElseThrow();
    assertEquals(start, SnapshotReader.read(disk, path, IDENTITY, read).start());
    log.forEach(record -> record.accept(read));
    read.ready();
    assertEquals(List.of(), differences(state), "seed " + seed);
    assertEquals(List.of(), differences(read), "seed " + seed);
    assertEquals(expected.size(), read.counters.writtenSize());
    assertEquals(state.counters.named(), read.counters.named());
    assertEquals(state.memoryBytes(), read.memoryBytes());
    for (int i = 0; i < 1_000; i++) { // it goes on
      log.clear();
      change(random);
      log.forEach(record -> record.accept(read));
    }
    assertEquals(expected.keySet().toString(), content(read).keySet().toString());
    assertNotEquals(0, expected.size());
  }

  /** Returns the state, of which some changes before and after each piece. */
  private Snapshot.Source changing(Random random, int each) {
    return new Snapshot.Source() {
      @Override
      public <T> T at(Function<State, T> read) {
        changes(random, each);
        T piece = read.apply(state);
        changes(random, each);
        return piece;
      }
    };
  }

  private void changes(Random random, int count) {
    for (int i = 0; i < count; i++) {
      change(random);
    }
  }

  /** Several snapshots refer to one file; a start may come between them. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void withAFileOfCountersAndTheLogItIsTheState(long seed) throws IOException {
    Random random = new Random(seed);
    state.ready();
    changes(random, NAMES);
    String file;
    try (Snapshot counters =
        Snapshot.startCounters(disk, directory, IDENTITY, new Snapshot.Start(1, 0, 0))) {
      counters.counters(changing(random, random.nextInt(600)), true);
      counters.end(1);
      file = String.valueOf(counters.path().getFileName());
    }
    for (int number = 2; number < 6; number++) {
      changes(random, random.nextInt(3_000));
      log.clear();
      Snapshot.Start start = new Snapshot.Start(number, 0, 0);
      try (Snapshot snapshot = Snapshot.start(disk, directory, IDENTITY, start)) {
        snapshot.counters(file, changing(random, random.nextInt(300)));
        snapshot.end(number);
      }
      State read = new State(IDENTITY, 1_000, 1_000, 0);
      Path path = Snapshot.newest(disk, directory).orElseThrow();
      Snapshot.Contents contents = SnapshotReader.read(disk, path, IDENTITY, read);
      assertEquals(new Snapshot.Contents(start, List.of(), file, number), contents);
      log.forEach(record -> record.accept(read));
      read.ready();
      assertEquals(List.of(), differences(read), "seed " + seed);
      assertEquals(expected.size(), read.counters.writtenSize());
      assertEquals(state.counters.named(), read.counters.named());
      if (number % 2 == 0) { // a start, after which the same changes are known
        log.clear();
        state = read;
      }
    }
  }
}
