package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.technique.RequestTokens;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The edges of the window in which a store remembers its tokens. */
final class RequestTokensTest {
  private final ManualClock clock = new ManualClock(1_000_000);
  private final RequestTokens counters = new RequestTokens(new Store(new MemoryDriver(), clock));

  private AddResult add(long delta, Bounds bounds) {
    return counters.add(new Add("a", delta, bounds, RequestId.of("id")));
  }

  private long value() {
    return counters.read("a").orElseThrow().value();
  }

  @Test
  void aRepeatIsRecognizedUntilTheEndOfTheWindow() {
    assertInstanceOf(AddResult.Applied.class, add(5, Bounds.none()));
    clock.advance(RequestTokens.WINDOW);
    assertInstanceOf(AddResult.Replayed.class, add(5, Bounds.none()));
    clock.advance(Duration.ofMillis(1));
    QuipuException late = assertThrows(QuipuException.class, () -> add(5, Bounds.none()));
    assertEquals(Outcome.UNKNOWN, late.outcome());
    assertEquals(Reason.INVALID, late.reason());
    assertEquals(new AddResult.Conflict(5), add(6, Bounds.none()));
    assertEquals(5, value());
  }

  @Test
  void aRejectionDoesNotOpenTheWindowAgain() {
    Bounds floor = Bounds.atLeast(0);
    assertInstanceOf(AddResult.Rejected.class, add(-1, floor));
    counters.add(new Add("a", 1, null));
    clock.advance(RequestTokens.WINDOW);
    assertInstanceOf(AddResult.Applied.class, add(-1, floor));
    assertInstanceOf(AddResult.Replayed.class, add(-1, floor));
    clock.advance(Duration.ofMinutes(1));
    assertThrows(QuipuException.class, () -> add(-1, floor));
    assertEquals(0, value());
  }

  @Test
  void theOutcomeOfARequestCannotBeRead() {
    RequestId id = RequestId.of("id");
    assertThrows(UnsupportedOperationException.class, () -> counters.outcome("a", id));
    assertThrows(UnsupportedOperationException.class, () -> counters.cancel("a", id));
  }
}
