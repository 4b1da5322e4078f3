package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Counter;
import dev.quipu.NotAppliedException;
import dev.quipu.Quipu;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@link Quipu#builder} opens, and what it rejects. */
final class QuipuBuilderTest {
  private static final RequestId ID = RequestId.of("order-982");

  @TempDir Path directory;

  @Test
  void aDirectoryIsCountedByTheEngine() {
    try (Quipu quipu = Quipu.builder().directory(directory.resolve("data")).build()) {
      Counter seats = quipu.counter("event/7").withBounds(Bounds.atLeast(0));
      assertTrue(seats.add(10).isApplied());
      assertEquals(8, seats.add(-2, ID).orElseThrow().value());
      assertEquals("engine", quipu.counters().technique());
    }
    try (Quipu quipu = Quipu.builder().directory(directory.resolve("data")).build()) {
      Counter seats = quipu.counter("event/7").withBounds(Bounds.atLeast(0));
      assertInstanceOf(AddResult.Replayed.class, seats.add(-2, ID));
      assertEquals(8, seats.read().orElseThrow().value());
    }
  }

  @Test
  void aDirectoryKeepsRequestIdsForTheGivenTime() throws Exception {
    try (Quipu quipu =
        Quipu.builder().directory(directory).requestIdRetention(Duration.ofSeconds(1)).build()) {
      Counter seats = quipu.counter("event/7");
      assertInstanceOf(AddResult.Applied.class, seats.add(-2, ID));
      Thread.sleep(2_100);
      assertInstanceOf(AddResult.Applied.class, seats.add(-2, ID));
    }
  }

  @Test
  void whatCannotBeOpenedIsRejected() throws Exception {
    Quipu.Builder empty = Quipu.builder();
    assertEquals(
        "none of directory, store and server is set; set one of them",
        assertThrows(IllegalStateException.class, empty::build).getMessage());
    Quipu.Builder both = Quipu.builder().store("memory:").directory(directory);
    assertEquals(
        "2 of directory, store and server are set; set one of them",
        assertThrows(IllegalStateException.class, both::build).getMessage());
    Quipu.Builder technique = Quipu.builder().directory(directory).technique("marker-item");
    assertThrows(IllegalArgumentException.class, technique::build);
    Quipu.Builder unknown = Quipu.builder().store("abacus://127.0.0.1");
    assertThrows(IllegalArgumentException.class, unknown::build);
    Path file = Files.createFile(directory.resolve("file"));
    Quipu.Builder onFile = Quipu.builder().directory(file);
    assertThrows(NotAppliedException.class, onFile::build);
  }

  @Test
  void countersHaveTheScaleOfTheirName() {
    try (Quipu quipu = Quipu.builder().directory(directory).scale("budget/*", 2).build()) {
      assertTrue(quipu.counter("budget/a").add(new BigDecimal("1.5")).isApplied());
      assertTrue(quipu.counter("other").add(1).isApplied());
    }
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      assertEquals(Reading.exact(150, 2), quipu.counter("budget/a").read().orElseThrow());
      assertEquals(Reading.exact(1), quipu.counter("other").read().orElseThrow());
    }
    Quipu.Builder tooFine = Quipu.builder().directory(directory).scale("budget/*", 19);
    assertThrows(IllegalArgumentException.class, tooFine::build);
    Quipu.Builder server =
        Quipu.builder().server(URI.create("http://127.0.0.1:1")).scale("budget/*", 2);
    assertEquals(
        "scale needs a directory or a store; start the server with --scale instead",
        assertThrows(IllegalStateException.class, server::build).getMessage());
  }

  @Test
  void aDirectoryIsOpenedOnce() {
    Quipu.Builder builder = Quipu.builder().directory(directory);
    try (Quipu quipu = builder.build()) {
      assertEquals("engine", quipu.counters().technique());
      assertThrows(NotAppliedException.class, builder::build);
    }
  }

  /**
   * A null id, from a failed look-up for example, must not turn an idempotent add into a plain one.
   */
  @Test
  @SuppressWarnings("NullAway")
  void aNullRequestIdIsNotAnAddWithoutId() {
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      Counter likes = quipu.counter("likes");
      assertThrows(NullPointerException.class, () -> likes.add(1, null));
      assertTrue(likes.read().isEmpty());
    }
  }
}
