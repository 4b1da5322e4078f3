package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Reading;
import dev.quipu.SetResult;
import dev.quipu.simulation.time.ManualClock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counters that are set and deleted, beside texts and expiries, and over a restart. */
final class CounterOperationTest {
  private static final byte[] TEXT = "text".getBytes(StandardCharsets.UTF_8);

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);

  private Engine open() {
    return Engine.open(
        directory, EngineOptions.defaults().withLog(1 << 20, 4 << 20).withClock(clock));
  }

  private static SetResult set(Engine engine, String name, long value) {
    return engine.set(name, value, OptionalLong.empty());
  }

  private static long expiresAt(Engine engine) {
    return TestOperation.get(engine, access -> access.expiresAt("a"));
  }

  @Test
  void aTextIsNeitherSetNorDeleted() {
    try (Engine engine = open()) {
      TestOperation.run(engine, access -> access.setText("a", TEXT));
      assertThrows(IllegalArgumentException.class, () -> set(engine, "a", 1));
      assertThrows(IllegalArgumentException.class, () -> engine.delete("a"));
      byte[] now = TestOperation.get(engine, access -> Objects.requireNonNull(access.text("a")));
      assertArrayEquals(TEXT, now);
    }
  }

  @Test
  void aSetKeepsTheExpiryAndADeletionEndsIt() {
    try (Engine engine = open()) {
      set(engine, "a", 1);
      long expiry = clock.epochMillis() + 1_000;
      TestOperation.run(engine, access -> access.expire("a", expiry));
      set(engine, "a", 2);
      assertEquals(expiry, expiresAt(engine));
      engine.delete("a");
      set(engine, "a", 3);
      assertEquals(0, expiresAt(engine));
    }
  }

  @Test
  void setsAndDeletionsAreDurable() {
    try (Engine engine = open()) {
      set(engine, "a", 7);
      set(engine, "b", 8);
      engine.delete("b");
      assertEquals(new SetResult.Done(9), engine.set("a", 9, OptionalLong.of(7)));
      assertEquals(
          new SetResult.Mismatch(OptionalLong.of(9)), engine.set("a", 10, OptionalLong.of(7)));
    }
    try (Engine engine = open()) {
      assertEquals(
          List.of(Optional.of(Reading.exact(9)), Optional.empty()),
          engine.readAll(List.of("a", "b")));
    }
  }
}
