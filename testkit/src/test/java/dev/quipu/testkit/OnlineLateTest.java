package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.presence.Online;
import dev.quipu.presence.OnlineExact;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.Presence;
import dev.quipu.presence.Window;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Who is online, when hits arrive late and readers are paused. */
final class OnlineLateTest {
  private static final String ROOM = "room";
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final RetryPolicy ONCE =
      new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));

  private final ManualClock clock = new ManualClock(1_700_000_040_000L); // a full minute
  private final Removing driver = new Removing();
  private final Store store = new Store(driver, clock);
  private final CallScript script = new CallScript();

  /**
   * Removes expired items immediately, as a cache does, and reports that it never lost anything.
   */
  private final class Removing extends ForwardingDriver {
    private final MemoryDriver memory = new MemoryDriver();

    @Override
    protected StoreDriver driver() {
      memory.removeExpired(Instant.ofEpochMilli(clock.epochMillis()), Integer.MAX_VALUE);
      return memory;
    }

    @Override
    public Instant intactSince() {
      return Instant.MIN;
    }
  }

  /** Returns the store of a process with a script of events. */
  private Store unlucky() {
    return new Store(new Intact(script.around(driver)), clock, Randomness.seeded(1), ONCE);
  }

  /** Reports that it never lost anything. */
  private static final class Intact extends ForwardingDriver {
    private final StoreDriver driver;

    Intact(StoreDriver driver) {
      this.driver = driver;
    }

    @Override
    protected StoreDriver driver() {
      return driver;
    }

    @Override
    public Instant intactSince() {
      return Instant.MIN;
    }
  }

  @Test
  void anEarlierHitThatArrivesLateDoesNotShortenALaterOne() {
    Presence late = new OnlineExact(unlucky(), MINUTE);
    Presence exact = new OnlineExact(store, MINUTE);
    exact.seen(ROOM, "ann");
    clock.advance(Duration.ofSeconds(1));
    script.late(CallScript.to("online/"));
    assertThrows(QuipuException.class, () -> late.seen(ROOM, "ann"));
    clock.advance(MINUTE.dividedBy(2));
    exact.seen(ROOM, "ann");
    script.arrive();
    clock.advance(MINUTE.dividedBy(2).plusSeconds(1));
    assertEquals(1, exact.online(ROOM).value());
  }

  @Test
  void aHitCountsFromWhenItWasAskedForHoweverLongItTakes() {
    script.before(CallScript.to("online/"), () -> clock.advance(MINUTE.minusSeconds(1)));
    new OnlineExact(unlucky(), MINUTE).seen(ROOM, "ann");
    Presence exact = new OnlineExact(store, MINUTE);
    assertEquals(1, exact.online(ROOM).value());
    clock.advance(Duration.ofSeconds(1));
    assertEquals(0, exact.online(ROOM).value());
  }

  @Test
  void anExactReaderThatStandsStillSaysWhatItsCountIsOf() {
    Presence exact = new OnlineExact(store, MINUTE);
    exact.seen(ROOM, "ann");
    clock.advance(MINUTE.minusSeconds(5));
    exact.seen(ROOM, "bob");
    script.beforeRead(() -> {
      clock.advance(Duration.ofSeconds(10)); // ann's time is over
      exact.seen(ROOM, "cid");
    });
    Instant start = Instant.ofEpochMilli(clock.epochMillis());
    Online online = new OnlineExact(unlucky(), MINUTE).online(ROOM);
    assertTrue(script.isDone());
    assertTrue(online.complete());
    assertEquals(1, online.low(), "bob; cid came after the reader began");
    assertEquals(2, online.high());
    assertEquals(start.plusMillis(1), online.until());
    assertEquals(start.plusSeconds(10).plusMillis(1).minus(MINUTE), online.from());
  }

  @Test
  void anExactReaderThatStandsStillForTheWindowIsNotComplete() {
    script.beforeRead(() -> clock.advance(MINUTE));
    assertFalse(new OnlineExact(unlucky(), MINUTE).online(ROOM).complete());
  }

  @Test
  void aReaderOfTheRingThatStandsStillReadsAgain() {
    Window window = new Window(MINUTE.multipliedBy(2), MINUTE);
    Presence ring = new OnlineRing(store, window);
    ring.seen(ROOM, "ann");
    clock.advance(MINUTE);
    script.beforeRead(() -> {
      clock.advance(window.length().multipliedBy(3)); // ann's numbers have expired
      ring.seen(ROOM, "bob");
      clock.advance(MINUTE);
    });
    Online online = new OnlineRing(unlucky(), window).online(ROOM);
    assertTrue(script.isDone());
    assertEquals(Instant.ofEpochMilli(clock.epochMillis()), online.until());
    assertEquals(1, online.value());
    assertTrue(online.complete());
  }

  @Test
  void aReaderOfTheRingThatAlwaysStandsStillIsNotComplete() {
    Window window = new Window(MINUTE.multipliedBy(2), MINUTE);
    Presence ring = new OnlineRing(store, window);
    ring.seen(ROOM, "ann");
    clock.advance(MINUTE);
    int[] calls = new int[1];
    StoreDriver slow =
        new InterceptingDriver(
            driver,
            new InterceptingDriver.Interceptor() {
              @Override
              public <T> T call(Supplier<T> call) {
                clock.advance(MINUTE);
                calls[0]++;
                return call.get();
              }
            });
    Online online = new OnlineRing(new Store(new Intact(slow), clock), window).online(ROOM);
    assertFalse(online.complete());
    assertEquals(3 * 6, calls[0], "numbers and uncertainties of three buckets, three times");
  }

  @Test
  void halfOfABucketIsQuickEnough() {
    Window window = new Window(MINUTE.multipliedBy(2), MINUTE);
    Presence ring = new OnlineRing(store, window);
    ring.seen(ROOM, "ann");
    clock.advance(window.length().plus(MINUTE).minusMillis(1)); // the last that shows ann
    script.beforeRead(() -> clock.advance(MINUTE.dividedBy(2)));
    Online online = new OnlineRing(unlucky(), window).online(ROOM);
    assertTrue(online.complete());
    assertEquals(1, online.value());
  }

  /** The reader's clock is behind by less than half a bucket, and shows the previous window. */
  @Test
  void aHitThatStoodStillUntilItsSessionsMarkExpiredCountsNoSecondTime() {
    Window window = new Window(MINUTE.multipliedBy(3), MINUTE);
    new OnlineRing(store, window).seen(ROOM, "ann");
    clock.advance(MINUTE.multipliedBy(2));
    script.beforeRead(() -> clock.advance(MINUTE.multipliedBy(2).plusSeconds(1)));
    new OnlineRing(unlucky(), window).seen(ROOM, "ann");
    assertTrue(script.isDone());
    ManualClock behind = new ManualClock(clock.epochMillis() - 20_000);
    Online online = new OnlineRing(new Store(driver, behind), window).online(ROOM);
    assertTrue(online.complete());
    assertEquals(1, online.value());
    assertEquals(2, online.high());
  }

  // ---- hits of the ring

  private static final Window TWO = new Window(MINUTE.multipliedBy(2), MINUTE);

  /** Returns the reading of the window after the bucket that is being filled. */
  private Online inAMinute() {
    clock.advance(MINUTE);
    return new OnlineRing(store, TWO).online(ROOM);
  }

  private Online exactly(long value, long high) {
    Instant until = Instant.ofEpochMilli(clock.epochMillis());
    return new Online(value, value, high, until.minus(TWO.length()), until, true);
  }

  @Test
  void hitsOfOneBucketLeaveNoUncertainty() {
    Presence ring = new OnlineRing(store, TWO);
    for (int i = 0; i < 3; i++) {
      ring.seen(ROOM, "ann");
    }
    assertEquals(inAMinute(), exactly(1, 1));
  }

  @Test
  void aHitWhoseCountIsNotKnownIsOneUncertaintyHoweverManyFollow() {
    script.late(CallScript.to("value/online:"));
    Presence unlucky = new OnlineRing(unlucky(), TWO);
    assertThrows(QuipuException.class, () -> unlucky.seen(ROOM, "ann"));
    Presence ring = new OnlineRing(store, TWO);
    for (int i = 0; i < 3; i++) {
      ring.seen(ROOM, "ann");
    }
    assertEquals(inAMinute(), exactly(0, 1));
  }

  @Test
  void aMarkWhoseReplyIsLostIsCountedOnceItIsFound() {
    script.replyLost(CallScript.to("value/seen:"));
    new OnlineRing(unlucky(), TWO).seen(ROOM, "ann");
    assertTrue(script.isDone());
    assertEquals(inAMinute(), exactly(1, 1));
  }

  @Test
  void aMarkThatIsRejectedIsReportedAsThat() {
    script.before(
        CallScript.to("value/seen:"),
        () -> {
          throw new NotAppliedException(Reason.DENIED, "read only");
        });
    Presence unlucky = new OnlineRing(unlucky(), TWO);
    QuipuException e = assertThrows(QuipuException.class, () -> unlucky.seen(ROOM, "ann"));
    assertEquals(Reason.DENIED, e.reason());
  }

  /** The session has a mark of a later window by then, which must stay. */
  @Test
  void aHitThatTakesAWindowDoesNotUndoTheMarkOfALaterOne() {
    Presence ring = new OnlineRing(store, TWO);
    script.before(
        CallScript.to("value/online:"),
        () -> {
          clock.advance(TWO.length());
          ring.seen(ROOM, "ann");
        });
    new OnlineRing(unlucky(), TWO).seen(ROOM, "ann");
    assertTrue(script.isDone());
    ring.seen(ROOM, "ann");
    Online online = inAMinute();
    assertEquals(1, online.value());
  }

  @Test
  void roomsAreCountedApart() {
    Presence ring = new OnlineRing(store, TWO);
    ring.seen("other", "ann");
    assertEquals(inAMinute(), exactly(0, 0));
  }

  @Test
  void moreThanHalfOfABucketIsReadAgain() {
    clock.advance(MINUTE.multipliedBy(2).dividedBy(3));
    Instant begin = Instant.ofEpochMilli(clock.epochMillis());
    script.beforeRead(() -> clock.advance(MINUTE.dividedBy(2).plusNanos(1)));
    Online online = new OnlineRing(unlucky(), TWO).online(ROOM);
    assertTrue(online.complete());
    assertTrue(online.until().isAfter(begin), "it is of the next bucket");
  }
}
