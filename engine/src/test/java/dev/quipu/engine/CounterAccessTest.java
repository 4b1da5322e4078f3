package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Randomness;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counters that are set, removed and expire, across restarts and snapshots. */
final class CounterAccessTest {
  private static final int STEPS = 3_000;

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final EngineOptions options =
      EngineOptions.defaults().withLog(1 << 20, 4 << 20).withClock(clock);

  /** An operation given as a lambda. */
  private static final class Do implements Operation {
    private final Consumer<CounterAccess> what;

    Do(Consumer<CounterAccess> what) {
      this.what = what;
    }

    @Override
    public int bytesMax(CounterAccess access) {
      return CounterAccess.bytesMax(8, 64);
    }

    @Override
    public void on(CounterAccess access) {
      what.accept(access);
    }

    @Override
    public void failed(RuntimeException why) {
      throw new AssertionError(why);
    }
  }

  private static void on(Engine engine, Consumer<CounterAccess> what) {
    engine.run(List.of(new Do(what)));
  }

  /** The expected content of a counter, possibly a text. */
  private record Known(long value, Optional<String> text, long expiresAt) {
    Known(long value, long expiresAt) {
      this(value, Optional.empty(), expiresAt);
    }

    Known until(long millis) {
      return new Known(value, text, millis);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void itBehavesLikeTheModel(long seed) {
    RandomGenerator random = Randomness.seeded(seed);
    Map<String, Known> model = new TreeMap<>();
    Engine engine = Engine.open(directory, options);
    try {
      for (int step = 0; step < STEPS; step++) {
        if (random.nextInt(100) == 0) {
          if (random.nextBoolean()) {
            engine.checkpoint();
          }
          engine.close();
          engine = Engine.open(directory, options);
        }
        List<Do> operations = new ArrayList<>();
        for (int i = random.nextInt(1, 5); i > 0; i--) {
          operations.add(operation(model, random));
        }
        engine.run(operations);
        if (random.nextInt(10) == 0) {
          clock.advance(Duration.ofMillis(random.nextInt(2_000)));
        }
        check(engine, model, "seed %d, step %d".formatted(seed, step));
      }
    } finally {
      engine.close();
    }
  }

  private Do operation(Map<String, Known> model, RandomGenerator random) {
    String name = "c" + random.nextInt(6);
    long number = random.nextLong(-50, 50);
    long at = clock.epochMillis() + random.nextLong(1, 3_000);
    return switch (random.nextInt(7)) {
      case 0 ->
          new Do(access -> {
            access.set(name, number);
            model.put(name, new Known(number, alive(model, name).map(Known::expiresAt).orElse(0L)));
          });
      case 1 ->
          new Do(access -> {
            assertEquals(alive(model, name).isPresent(), access.remove(name));
            model.remove(name);
          });
      case 2 ->
          new Do(access -> {
            long until = random.nextInt(3) == 0 ? 0 : at;
            assertEquals(alive(model, name).isPresent(), access.expire(name, until));
            alive(model, name).ifPresent(known -> model.put(name, known.until(until)));
          });
      case 3 ->
          new Do(access -> {
            long kept = alive(model, name).map(Known::expiresAt).orElse(0L);
            access.setText(name, bytes("text " + number));
            model.put(name, new Known(0, Optional.of("text " + number), kept));
          });
      case 4 -> new Do(access -> addInPlace(access, model, name, number));
      default ->
          new Do(access -> {
            RequestId id = random.nextBoolean() ? RequestId.random(random) : null;
            long delta = number == 0 ? 1 : number;
            Known before = alive(model, name).orElse(new Known(0, 0));
            if (before.text.isPresent()) {
              assertThrows(
                  IllegalArgumentException.class, () -> access.add(new Add(name, delta, id)));
              return;
            }
            AddResult result = access.add(new Add(name, delta, id));
            long after = before.value + delta;
            assertEquals(new AddResult.Applied(delta, OptionalLong.of(after)), result);
            model.put(name, new Known(after, before.expiresAt));
          });
    };
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The fast path for existing counters. */
  private void addInPlace(CounterAccess access, Map<String, Known> model, String name, long delta) {
    Optional<Known> before = alive(model, name).filter(known -> known.text.isEmpty());
    int place = access.placeOf(bytes("x" + name), 1, name.length());
    assertEquals(before.isPresent(), place >= 0);
    before.ifPresent(known -> {
      long version = access.version(name);
      assertTrue(access.addAt(place, delta));
      assertNotEquals(version, access.version(name));
      model.put(name, new Known(known.value + delta, known.expiresAt));
    });
  }

  private Optional<Known> alive(Map<String, Known> model, String name) {
    return Optional.ofNullable(model.get(name))
        .filter(known -> known.expiresAt == 0 || known.expiresAt > clock.epochMillis());
  }

  private void check(Engine engine, Map<String, Known> model, String when) {
    Map<String, Known> found = new TreeMap<>();
    Map<String, Known> expected = new TreeMap<>();
    model.keySet().forEach(name -> alive(model, name).ifPresent(it -> expected.put(name, it)));
    on(
        engine,
        access -> {
          for (String name : access.names("", "", 100)) {
            Optional<String> text =
                Optional.ofNullable(access.text(name))
                    .map(it -> new String(it, StandardCharsets.UTF_8));
            assertEquals(text.isEmpty(), access.get(name).isPresent());
            long value = access.get(name).orElse(0);
            found.put(name, new Known(value, text, access.expiresAt(name)));
          }
        });
    assertEquals(expected, found, when);
  }

  @Test
  void anExpiredCounterIsMissingAndStartsAgain() {
    try (Engine engine = Engine.open(directory, options)) {
      on(engine, access -> access.set("a", 5));
      on(engine, access -> assertTrue(access.expire("a", clock.epochMillis() + 1_000)));
      clock.advance(Duration.ofSeconds(1));
      assertEquals(Optional.empty(), engine.read("a"));
      assertEquals(0, engine.list("", "", 10).counters().size());
      engine.add(new Add("a", 2, null));
      assertEquals(Optional.of(Reading.exact(2)), engine.read("a"));
      on(engine, access -> assertEquals(0, access.expiresAt("a")));
    }
    try (Engine engine = Engine.open(directory, options)) {
      assertEquals(Optional.of(Reading.exact(2)), engine.read("a"));
    }
  }

  @Test
  void aSweepDropsExpiredCounters() {
    try (Engine engine = Engine.open(directory, options)) {
      on(engine, access -> access.set("a", 5));
      on(engine, access -> access.expire("a", clock.epochMillis() + 1_000));
      clock.advance(Duration.ofSeconds(2));
      engine.sweep();
      assertEquals(0, engine.statistics().counters());
      assertEquals(0, engine.statistics().tombstones());
    }
  }

  @Test
  void aRequestIsRememberedAfterItsCounterIsRemoved() {
    RequestId id = RequestId.of("one");
    try (Engine engine = Engine.open(directory, options)) {
      engine.add(new Add("a", 5, id));
      on(engine, access -> assertTrue(access.remove("a")));
      on(engine, access -> assertFalse(access.remove("a")));
      assertEquals(new AddResult.Replayed(5, OptionalLong.of(5)), engine.add(new Add("a", 5, id)));
      assertEquals(Optional.empty(), engine.read("a"));
    }
  }
}
