package dev.quipu.engine.environment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.commit.CommitterSetup;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Periodic work: its intervals, and its failures. */
final class TickerTest {
  private static final Duration EVERY = Duration.ofMillis(250);

  private final Failure failure = new Failure();
  private final Script script = new Script();
  private final List<String> did = new ArrayList<>();
  private final LogCapture log = new LogCapture(Ticker.class);
  private final LogCapture failureLog = new LogCapture(Failure.class);
  private Runnable round = () -> {};
  private final Ticker ticker = start();

  /** A thread that the test runs itself, whose waits end immediately, each with an event. */
  private static final class Script implements Threads {
    private final Deque<Event> events = new ArrayDeque<>();
    private final List<Long> waits = new ArrayList<>();
    private @Nullable Runnable work;
    private @Nullable ReentrantLock lock;
    private String name = "";

    @Override
    public Thread start(String threadName, Runnable threadWork) {
      name = threadName;
      work = threadWork;
      return new Thread(threadWork); // never started
    }

    @Override
    public void await(Lock held, Condition condition, long nanos) throws InterruptedException {
      lock = (ReentrantLock) held;
      assertTrue(lock.isHeldByCurrentThread());
      waits.add(nanos);
      events.remove().happen();
    }

    void run() {
      Objects.requireNonNull(work).run();
    }
  }

  private interface Event {
    void happen() throws InterruptedException;
  }

  private Ticker start() {
    Environment environment = new Environment(new FileDisk(), script);
    return new Ticker(
        environment,
        failure,
        "quipu-test",
        EVERY,
        () -> {
          ReentrantLock lock = script.lock;
          assertFalse(lock != null && lock.isLocked());
          did.add("round");
          round.run();
        });
  }

  @AfterEach
  void stopCapturing() {
    log.close();
    failureLog.close();
  }

  private void run(Event... events) {
    script.events.addAll(List.of(events));
    script.run();
    assertEquals(List.of(), List.copyOf(script.events), "it ended too early");
    ReentrantLock lock = script.lock;
    assertFalse(lock != null && lock.isLocked());
  }

  private static void nothing() {}

  @Test
  void roundsFollowAfterEachIntervalUntilItIsClosed() {
    run(TickerTest::nothing, TickerTest::nothing, ticker::close);
    assertEquals("quipu-test", script.name);
    assertEquals(List.of("round", "round"), did);
    assertEquals(List.of(250_000_000L, 250_000_000L, 250_000_000L), script.waits);
    assertTrue(failure.cause().isEmpty());
  }

  @Test
  void aClosedTickerNeitherWaitsNorWorks() {
    ticker.close();
    run();
    assertEquals(List.of(), did);
    assertEquals(List.of(), script.waits);
  }

  @Test
  void anInterruptEndsItWithoutAnotherRound() {
    run(
        TickerTest::nothing,
        () -> {
          throw new InterruptedException();
        });
    assertEquals(List.of("round"), did);
    assertTrue(failure.cause().isEmpty());
  }

  @Test
  void rejectedWorkIsRetriedAndLoggedOnceInARow() {
    List<Boolean> works = new ArrayList<>(List.of(false, false, true, false, true));
    round =
        () -> {
          if (!works.removeFirst()) {
            throw new NotAppliedException(Reason.FULL, "injected");
          }
        };
    List<Integer> logged = new ArrayList<>();
    Event count = () -> logged.add(log.lines().size());
    run(
        TickerTest::nothing,
        count,
        count,
        count,
        count,
        () -> {
          count.happen();
          ticker.close();
        });
    assertEquals(List.of(1, 1, 1, 2, 2), logged);
    assertEquals("WARN Periodic work failed; retrying", log.lines().getFirst());
    assertTrue(failure.cause().isEmpty());
  }

  @Test
  void anyOtherExceptionStopsTheEngine() {
    RuntimeException injected = new IllegalStateException("injected");
    round =
        () -> {
          throw injected;
        };
    run(TickerTest::nothing);
    assertSame(injected, failure.cause().orElseThrow());
    assertEquals(List.of("round"), did);
  }

  /** It releases callers that nobody woke; its own failures are not reported. */
  @Test
  void oneMoreRoundFollowsWhenTheEngineHasEnded() {
    round =
        () -> {
          throw new NotAppliedException(Reason.UNAVAILABLE, "the engine has ended");
        };
    run(() -> failure.stop(new AssertionError("injected")));
    assertEquals(List.of("round"), did);
    assertEquals(List.of(), log.lines());
  }

  @Test
  void aCloseWakesTheThreadAndWaitsForItsEnd() {
    List<Thread> started = new ArrayList<>();
    Threads threads =
        new Threads() {
          @Override
          public Thread start(String name, Runnable work) {
            Thread thread = PLATFORM.start(name, work);
            started.add(thread);
            return thread;
          }

          @Override
          public void await(Lock lock, Condition condition, long nanos)
              throws InterruptedException {
            PLATFORM.await(lock, condition, nanos);
          }
        };
    Environment environment = new Environment(new FileDisk(), threads);
    Ticker slow = new Ticker(environment, failure, "quipu-test", Duration.ofDays(1), () -> {});
    Thread thread = started.getFirst();
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    slow.close();
    assertFalse(thread.isAlive());
  }

  @Test
  void aCloseWaitsForTheCurrentRound() {
    Environment environment = new Environment(new FileDisk(), Threads.PLATFORM);
    CommitterSetup.Gate gate = new CommitterSetup.Gate();
    List<String> ended = new CopyOnWriteArrayList<>();
    Ticker quick =
        new Ticker(
            environment,
            failure,
            "quipu-test",
            Duration.ofNanos(1),
            () -> {
              gate.pass();
              ended.add("round");
            });
    gate.awaitEntered();
    Thread closer =
        Thread.ofPlatform()
            .start(() -> {
              quick.close();
              ended.add("close");
            });
    while (closer.isAlive() && closer.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    gate.open();
    Threads.join(closer);
    assertEquals("round", ended.getFirst());
  }
}
