package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Limits;
import dev.quipu.presence.Online;
import dev.quipu.presence.OnlineExact;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.OnlineSessions;
import dev.quipu.presence.Presence;
import dev.quipu.presence.Presence.Hit;
import dev.quipu.presence.SessionTokens;
import dev.quipu.presence.Window;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.testkit.ConcurrentClients;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of {@link Presence} on every store. */
public abstract class PresenceContract extends EmptyStoreFixture {
  private static final String ROOM = "a room, with 数 and blanks";
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Window WINDOW = Window.DEFAULT;

  /** For subclasses. */
  protected PresenceContract() {}

  @BeforeEach
  final void beginAMinute() {
    clock.advance(Duration.ofMillis(-(clock.epochMillis() % MINUTE.toMillis())));
  }

  private static void seen(Presence presence, String... clients) {
    for (String client : clients) {
      presence.seen(ROOM, client);
    }
  }

  private static long value(Presence presence) {
    return presence.online(ROOM).value();
  }

  @Test
  final void theRingShowsTheLastFullBucketsAndCountsASessionOnce() {
    OnlineRing ring = new OnlineRing(store, WINDOW);
    assertEquals(0, value(ring));
    seen(ring, "ann", "bob", "ann");
    assertEquals(0, value(ring), "the bucket that is being filled is not shown");
    for (int minute = 1; minute <= 5; minute++) {
      clock.advance(MINUTE);
      seen(ring, "ann");
      assertEquals(2, value(ring), "minute " + minute);
    }
    clock.advance(MINUTE);
    seen(ring, "ann", "cid");
    assertEquals(1, value(ring), "bob is gone");
    clock.advance(MINUTE);
    assertEquals(2, value(ring));
    Online online = ring.online(ROOM);
    Instant now = Instant.ofEpochMilli(clock.epochMillis());
    assertEquals(now, online.until());
    assertEquals(now.minus(WINDOW.length()), online.from());
  }

  @Test
  final void twoKeysShowTheLastFullWindowExactly() {
    OnlineRing two = new OnlineRing(store, Window.ofTwoKeys(MINUTE.multipliedBy(5)));
    clock.advance(Duration.ofMillis(-(clock.epochMillis() % MINUTE.multipliedBy(5).toMillis())));
    seen(two, "ann", "bob", "ann");
    assertEquals(0, value(two));
    clock.advance(MINUTE.multipliedBy(5));
    assertEquals(2, value(two));
    seen(two, "ann");
    clock.advance(MINUTE.multipliedBy(4));
    assertEquals(2, value(two));
    clock.advance(MINUTE);
    Online online = two.online(ROOM);
    assertEquals(1, online.value());
    if (online.complete()) {
      assertEquals(1, online.high(), "nothing can be missing");
    }
  }

  @Test
  final void theExactOneIsExactToTheMillisecond() {
    assumeTrue(driver.profile().has(Capability.ORDERED_SCAN), "no ordered scan");
    OnlineExact exact = new OnlineExact(store, MINUTE);
    seen(exact, "ann", "bob", "ann");
    assertEquals(2, value(exact));
    clock.advance(MINUTE.minusMillis(1));
    seen(exact, "bob");
    assertEquals(2, value(exact));
    clock.advance(Duration.ofMillis(1));
    assertEquals(1, value(exact));
    seen(exact, "ann");
    assertEquals(2, value(exact));
    clock.advance(MINUTE);
    assertEquals(0, value(exact));
    assertEquals(0, exact.online("another room").value());
  }

  @Test
  final void concurrentSessionsAreEachCountedOnce() throws Exception {
    OnlineRing ring = new OnlineRing(store, WINDOW);
    ConcurrentClients.run(
        8,
        client -> {
          for (int i = 0; i < 20; i++) {
            ring.seen(ROOM, "client " + (client + i) % 20);
          }
          return 0;
        });
    clock.advance(MINUTE);
    assertEquals(20, value(ring));
  }

  @Test
  final void aReadingIsCompleteOnlyOnAStoreThatLosesNothing() {
    OnlineRing ring = new OnlineRing(store, WINDOW);
    seen(ring, "ann");
    clock.advance(MINUTE);
    Online online = ring.online(ROOM);
    boolean intact = !store.intactSince().isAfter(online.from().minus(WINDOW.length()));
    assertEquals(intact, online.complete());
    if (driver.profile().has(Capability.DURABLE)) {
      assertEquals(new Online(1, 1, 1, online.from(), online.until(), true), online);
    }
  }

  // ---- the mark in the session of the visitor

  private static final SessionTokens TOKENS = new SessionTokens(new byte[32]);

  private OnlineSessions sessions(Window window) {
    return new OnlineSessions(store, window, TOKENS);
  }

  @Test
  final void aSessionWithItsMarkCountsAgainAfterFiveMinutes() {
    OnlineSessions sessions = sessions(WINDOW);
    Hit first = sessions.seenInSession(ROOM, Optional.empty());
    assertTrue(first.counted());
    for (int minute = 1; minute <= 4; minute++) {
      clock.advance(MINUTE);
      assertEquals(
          new Hit(false, first.token()), sessions.seenInSession(ROOM, Optional.of(first.token())));
      assertEquals(1, sessions.online(ROOM).value(), "minute " + minute);
    }
    clock.advance(MINUTE);
    Hit again = sessions.seenInSession(ROOM, Optional.of(first.token()));
    assertTrue(again.counted());
    assertNotEquals(first.token(), again.token());
    assertEquals(
        new Hit(false, again.token()), sessions.seenInSession(ROOM, Optional.of(again.token())));
    assertTrue(sessions.seenInSession(ROOM, Optional.empty()).counted(), "another session");
    seen(new OnlineRing(store, WINDOW), "with its mark in the store");
    clock.advance(MINUTE);
    assertEquals(3, value(new OnlineRing(store, WINDOW)));
    assertEquals(3, sessions.online(ROOM).value());
  }

  @Test
  final void withTwoKeysASessionWithItsMarkCountsOncePerWindow() {
    Duration length = MINUTE.multipliedBy(5);
    OnlineSessions sessions = sessions(Window.ofTwoKeys(length));
    clock.advance(Duration.ofMillis(-(clock.epochMillis() % length.toMillis())));
    Hit ann = sessions.seenInSession(ROOM, Optional.empty());
    assertTrue(sessions.seenInSession(ROOM, Optional.empty()).counted());
    clock.advance(length.minusMillis(1));
    assertFalse(sessions.seenInSession(ROOM, Optional.of(ann.token())).counted());
    assertEquals(0, sessions.online(ROOM).value());
    clock.advance(Duration.ofMillis(1));
    assertEquals(2, sessions.online(ROOM).value());
    assertTrue(sessions.seenInSession(ROOM, Optional.of(ann.token())).counted());
    clock.advance(length);
    assertEquals(1, sessions.online(ROOM).value());
  }

  @Test
  final void aTokenIsOfItsRoomWindowKeyAndTime() {
    OnlineSessions sessions = sessions(WINDOW);
    String token = sessions.seenInSession(ROOM, Optional.empty()).token();
    assertEquals(SessionTokens.LENGTH, token.length());
    byte[] other = new byte[32];
    other[31] = 1;
    OnlineSessions foreign = new OnlineSessions(store, WINDOW, new SessionTokens(other));
    rejects("was changed", foreign, ROOM, token);
    rejects("another room", sessions, "another room", token);
    rejects("another room or window", sessions(Window.ofTwoKeys(MINUTE)), ROOM, token);
    rejects("malformed", sessions, ROOM, "");
    rejects("malformed", sessions, ROOM, token + "A");
    rejects("malformed", sessions, ROOM, token.substring(1));
    rejects("malformed", sessions, ROOM, "!".repeat(SessionTokens.LENGTH));
    for (int at = 0; at < token.length(); at++) {
      char changed = token.charAt(at) == 'A' ? 'B' : 'A';
      rejects(
          "was changed",
          sessions,
          ROOM,
          token.substring(0, at) + changed + token.substring(at + 1));
    }
    clock.advance(MINUTE.dividedBy(2).negated());
    assertFalse(
        sessions.seenInSession(ROOM, Optional.of(token)).counted(), "clocks may differ by that");
    clock.advance(Duration.ofMillis(-1));
    rejects("from the future", sessions, ROOM, token);
    assertThrows(IllegalArgumentException.class, () -> new SessionTokens(new byte[31]));
    clock.advance(MINUTE.multipliedBy(3).dividedBy(2).plusMillis(1));
    assertEquals(1, sessions.online(ROOM).value(), "no rejected hit was counted");
  }

  @Test
  final void withoutAKeySessionsKeepNoMark() {
    Presence ring = new OnlineRing(store, WINDOW);
    assertThrows(
        UnsupportedOperationException.class, () -> ring.seenInSession(ROOM, Optional.empty()));
  }

  private static void rejects(String why, OnlineSessions sessions, String room, String token) {
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () -> sessions.seenInSession(room, Optional.of(token)),
            token);
    assertTrue(String.valueOf(e.getMessage()).contains(why), e::toString);
  }

  @Test
  final void valuesOutsideTheLimitsAreRejected() {
    OnlineRing ring = new OnlineRing(store, WINDOW);
    assertThrows(IllegalArgumentException.class, () -> ring.seen("", "ann"));
    assertThrows(IllegalArgumentException.class, () -> ring.seen(ROOM, ""));
    assertThrows(
        IllegalArgumentException.class,
        () -> ring.seen(ROOM, "x".repeat(Limits.CLIENT_ID_BYTES_MAX + 1)));
    assertThrows(
        IllegalArgumentException.class, () -> ring.online("x".repeat(Limits.NAME_BYTES_MAX + 1)));
    ring.seen("x".repeat(Limits.NAME_BYTES_MAX), "x".repeat(Limits.CLIENT_ID_BYTES_MAX));
    for (List<Duration> shape :
        List.of(
            List.of(MINUTE, MINUTE.multipliedBy(2)),
            List.of(MINUTE, Duration.ofSeconds(7)),
            List.of(MINUTE.multipliedBy(61), MINUTE),
            List.of(Duration.ofMillis(900), Duration.ofMillis(100)),
            List.of(Window.LENGTH_MAX.plusDays(1), Duration.ofDays(1)))) {
      assertThrows(
          IllegalArgumentException.class, () -> new Window(shape.getFirst(), shape.getLast()));
    }
    if (!driver.profile().has(Capability.ORDERED_SCAN)) {
      assertThrows(IllegalArgumentException.class, () -> new OnlineExact(store, MINUTE));
    } else {
      assertThrows(IllegalArgumentException.class, () -> new OnlineExact(store, Duration.ZERO));
      assertFalse(new OnlineExact(store, MINUTE).online(ROOM).value() > 0);
    }
  }
}
