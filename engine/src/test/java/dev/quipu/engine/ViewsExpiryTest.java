package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.layer.Store;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots of the engine leave out expired markers of views. */
final class ViewsExpiryTest {
  private static final String PAGE = "myblog.com/article1";
  private static final Duration DAY = Duration.ofDays(1);

  @TempDir Path directory;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  ViewsExpiryTest() {}

  @Test
  void afterExpiryOnlyTheNumberIsLeft() throws Exception {
    ManualClock clock = new ManualClock(1_000_000);
    EngineOptions options = EngineOptions.defaults().withClock(clock);
    try (Engine engine = Engine.open(directory, options)) {
      ViewCounter views =
          new ViewCounter(new Store(engine.driver(), clock), ViewOptions.EXACT.keeping(DAY));
      for (int i = 0; i < 100; i++) {
        ViewEvent event = new ViewEvent(PAGE, Instant.EPOCH, "client " + i);
        assertTrue(views.add(event));
        assertFalse(views.add(event), "a repeat within the time");
      }
      Scan all = Scan.all("views/" + PAGE);
      engine.checkpoint();
      assertEquals(101, ScanDriver.of(engine.driver()).scan(all).items().size());
      clock.advance(DAY);
      engine.sweep();
      assertEquals(
          1, ScanDriver.of(engine.driver()).scan(all).items().size(), "the number of views");
      assertEquals(100, views.count(PAGE).orElseThrow());
    }
  }
}
