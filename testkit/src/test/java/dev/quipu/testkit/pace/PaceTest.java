package dev.quipu.testkit.pace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.simulation.time.ManualClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Work that advances is never timed out; work that hangs is. */
final class PaceTest {
  private final ManualClock clock = new ManualClock(0);
  private final AtomicLong done = new AtomicLong();

  @Test
  void slowWorkIsNotCutOff() {
    Progress progress = new Progress("work", done::get, clock);
    for (int i = 0; i < 100; i++) {
      clock.advance(Progress.STALL_MAX);
      done.incrementAndGet();
      progress.check();
    }
  }

  @Test
  void workThatHangsFails() throws Exception {
    Progress progress = new Progress("work", done::get, clock);
    done.set(7);
    progress.check();
    clock.advance(Progress.STALL_MAX);
    progress.check();
    clock.advance(Duration.ofNanos(1));
    AssertionError error = assertThrows(AssertionError.class, progress::check);
    assertEquals("work: no progress beyond 7 for PT5M", error.getMessage());
    assertThrows(AssertionError.class, () -> progress.awaitAtLeast(8)); // moves the clock itself
  }

  @Test
  void awaitReturnsOnceTheConditionHolds() throws Exception {
    Progress.await("three looks", () -> done.incrementAndGet() == 3);
    assertEquals(3, done.get());
  }

  @Test
  void roundsAreTheLeastOrAsManyAsThereIsTimeFor() {
    Soak.Rounds inCheck = new Soak.Rounds(3, Duration.ZERO, clock);
    while (inCheck.next()) {
      clock.advance(Duration.ofSeconds(1));
    }
    assertEquals(3, inCheck.begun());
    Soak.Rounds inSoak = new Soak.Rounds(3, Duration.ofSeconds(10), clock);
    while (inSoak.next()) {
      clock.advance(Duration.ofSeconds(1));
    }
    assertEquals(10, inSoak.begun());
  }
}
