package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.presence.Online;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.OnlineSessions;
import dev.quipu.presence.Presence;
import dev.quipu.presence.SessionTokens;
import dev.quipu.presence.Window;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A session that keeps its mark is counted at most once, also if the outcome is unknown. */
final class OnlineSessionsTest {
  private static final Window WINDOW = Window.DEFAULT;

  private final ManualClock clock = new ManualClock(600_000);
  private final CallScript script = new CallScript();
  private final MemoryDriver memory = new MemoryDriver();
  private final OnlineSessions sessions =
      new OnlineSessions(
          new Store(
              script.around(memory),
              clock,
              Randomness.seeded(1),
              new RetryPolicy(
                  1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1))),
          WINDOW,
          new SessionTokens(new byte[32]));

  private Presence.Hit seen(String token) {
    return sessions.seenInSession("lobby", token.isEmpty() ? Optional.empty() : Optional.of(token));
  }

  private Online read() {
    return new OnlineRing(new Store(memory, clock), WINDOW).online("lobby");
  }

  @Test
  void aCountWhoseReplyWasLostIsUncertainAndNotRepeated() {
    seen("");
    script.replyLost(CallScript.to("value/"));
    Presence.Hit hit = seen("");
    assertTrue(script.isDone());
    assertTrue(hit.counted());
    assertFalse(seen(hit.token()).counted());
    clock.advance(WINDOW.resolution());
    Online online = read();
    assertEquals(2, online.low());
    assertEquals(3, online.high());
  }

  @Test
  void aHitThatWasCertainlyNotCountedHasNoToken() {
    seen("");
    script.before(
        CallScript.to("value/"),
        () -> {
          throw new NotAppliedException(Reason.DENIED, "simulated: rejected");
        });
    assertThrows(QuipuException.class, () -> seen(""));
    clock.advance(WINDOW.resolution());
    assertEquals(1, read().high());
  }
}
