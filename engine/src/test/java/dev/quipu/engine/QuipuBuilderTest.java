package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Counter;
import dev.quipu.Guarantee;
import dev.quipu.NotAppliedException;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile.Capability;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicBoolean;
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
  void aDriverIsCountedByItsBestTechniqueAndStaysOpen() {
    AtomicBoolean isClosed = new AtomicBoolean();
    MemoryDriver memory = new MemoryDriver();
    StoreDriver driver =
        new ForwardingDriver() {
          @Override
          protected StoreDriver driver() {
            return memory;
          }

          @Override
          public void close() {
            isClosed.set(true);
          }
        };
    try (Quipu quipu = Quipu.builder().driver(driver).build()) {
      assertEquals("marker-item", quipu.counters().technique());
      assertTrue(quipu.counters().promises(Guarantee.IDEMPOTENT));
      assertInstanceOf(AddResult.Applied.class, quipu.counter("a").add(1, ID));
      assertInstanceOf(AddResult.Replayed.class, quipu.counter("a").add(1, ID));
    }
    assertFalse(isClosed.get());
  }

  @Test
  void aDriverIsCountedByTheGivenTechnique() {
    MemoryDriver driver = new MemoryDriver();
    try (Quipu quipu = Quipu.builder().driver(driver).technique("token-set").build()) {
      assertEquals("token-set", quipu.counters().technique());
    }
    StoreDriver limited = new LimitedDriver(driver, EnumSet.of(Capability.STRONG_READ));
    Quipu.Builder other = Quipu.builder().driver(limited).technique("marker-item");
    assertThrows(IllegalArgumentException.class, other::build);
  }

  @Test
  void aStoreKeepsRequestIdsForeverOrForTheGivenTime() {
    Quipu.Builder limited =
        Quipu.builder().driver(new MemoryDriver()).requestIdRetention(Duration.ofHours(1));
    try (Quipu quipu = limited.build()) {
      assertTrue(quipu.counters().promises(Guarantee.IDEMPOTENT_WITHIN_WINDOW));
    }
  }

  @Test
  void whatCannotBeOpenedIsRejected() throws Exception {
    Quipu.Builder empty = Quipu.builder();
    assertEquals(
        "neither directory nor store is set; set one of them",
        assertThrows(IllegalStateException.class, empty::build).getMessage());
    Quipu.Builder both = Quipu.builder().driver(new MemoryDriver()).directory(directory);
    assertEquals(
        "directory and store are both set; set one of them",
        assertThrows(IllegalStateException.class, both::build).getMessage());
    Quipu.Builder technique = Quipu.builder().directory(directory).technique("marker-item");
    assertThrows(IllegalArgumentException.class, technique::build);
    Quipu.Builder unknown = Quipu.builder().driver(new MemoryDriver()).technique("abacus");
    assertThrows(IllegalArgumentException.class, unknown::build);
    Quipu.Builder builder = Quipu.builder();
    assertThrows(IllegalArgumentException.class, () -> builder.store("abacus://127.0.0.1"));
    Path file = Files.createFile(directory.resolve("file"));
    Quipu.Builder onFile = Quipu.builder().directory(file);
    assertThrows(NotAppliedException.class, onFile::build);
  }

  @Test
  void aDirectoryIsOpenedOnce() {
    Quipu.Builder builder = Quipu.builder().directory(directory);
    try (Quipu quipu = builder.build()) {
      assertEquals("engine", quipu.counters().technique());
      assertThrows(NotAppliedException.class, builder::build);
    }
  }
}
