package dev.quipu.sketches;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.presence.Online;
import dev.quipu.presence.Presence;
import dev.quipu.presence.Window;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.AtomicOperations;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** The approximate count against an exact one. */
final class OnlineApproximateTest {
  private static final String ROOM = "room";
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final ManualClock clock = new ManualClock(0);
  private final MemoryDriver memory = new MemoryDriver();
  private final Store store = new Store(memory, clock);
  private final OnlineApproximate presence = new OnlineApproximate(store, Window.DEFAULT);

  @Test
  void theNumberIsWithinThreeDeviationsOnAlmostEverySeed() {
    int seeds = 400;
    int outside = 0;
    for (long seed = 1; seed <= seeds; seed++) {
      RandomGenerator random = Randomness.seeded(seed);
      int clients = 1 + random.nextInt(1_500);
      String room = "room " + seed;
      for (int i = 0; i < clients; i++) {
        presence.seen(room, seed + "/" + i);
      }
      Online online = presence.online(room);
      outside += online.low() <= clients && clients <= online.high() ? 0 : 1;
    }
    assertTrue(outside <= 1, outside + " of " + seeds + " were outside");
  }

  @Test
  void aMillionClientsAreCountedWithinTheErrorAndWrittenSeldom() {
    FaultingDriver counted = new FaultingDriver(memory, Randomness.seeded(1), 0, () -> {});
    OnlineApproximate many = new OnlineApproximate(new Store(counted, clock), Window.DEFAULT);
    int clients = 1_000_000;
    for (int i = 0; i < clients; i++) {
      many.seen(ROOM, Integer.toString(i));
    }
    Online online = many.online(ROOM);
    assertTrue(online.low() <= clients && clients <= online.high(), online.toString());
    assertTrue(Math.abs(online.value() - clients) <= clients * OnlineApproximate.ERROR);
    assertTrue(counted.applied() < 40_000, counted.applied() + " writes");
    assertTrue(counted.applied() > 10_000, counted.applied() + " writes");
  }

  @Test
  void aClientOfSeveralBucketsAndProcessesIsCountedOnce() {
    OnlineApproximate other = new OnlineApproximate(store, Window.DEFAULT);
    for (int minute = 0; minute < 5; minute++) {
      for (int i = 0; i < 100; i++) {
        presence.seen(ROOM, "a" + i);
        other.seen(ROOM, "a" + i);
        other.seen(ROOM, "b" + i);
      }
      clock.advance(MINUTE);
    }
    assertTrue(
        Math.abs(presence.online(ROOM).value() - 200) <= 10, presence.online(ROOM).toString());
    clock.advance(MINUTE.multipliedBy(6));
    assertEquals(0, presence.online(ROOM).value());
  }

  @Test
  void acknowledgedClientsAreStoredDespiteFaults() {
    RandomGenerator random = Randomness.seeded(7);
    FaultingDriver faulting =
        new FaultingDriver(
            memory,
            random,
            0.3,
            List.of(Fault.THROTTLED, Fault.LOST_REQUEST, Fault.LOST_REPLY, Fault.DELAYED),
            () -> {});
    OnlineApproximate lossy =
        new OnlineApproximate(
            new Store(faulting, clock, random, RetryPolicy.DEFAULT), Window.DEFAULT, random);
    int answered = 0;
    for (int i = 0; i < 2_000; i++) {
      try {
        lossy.seen(ROOM, Integer.toString(i));
        answered++;
      } catch (QuipuException e) {
        // not known
      }
    }
    assertTrue(faulting.fired().size() == 4, faulting.fired().toString());
    assertTrue(answered > 1_000, "answered " + answered);
    Online online = presence.online(ROOM);
    assertTrue(online.high() >= answered && online.low() <= 2_000, online + " of " + answered);
  }

  @Test
  void concurrentThreadsLoseNoClient() throws Exception {
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int thread = 0; thread < 16; thread++) {
        int number = thread;
        executor.submit(() -> {
          for (int i = 0; i < 500; i++) {
            presence.seen(ROOM, number + "/" + i);
          }
        });
      }
    }
    Online online = new OnlineApproximate(store, Window.DEFAULT).online(ROOM);
    assertTrue(online.low() <= 8_000 && 8_000 <= online.high(), online.toString());
  }

  @Test
  void malformedSketchesAreReported() {
    presence.seen(ROOM, "ann");
    AtomicOperations operations = store.operations();
    String key = "online-hll:%s:%s:0".formatted(Presence.shortName(ROOM), Window.DEFAULT.shape());
    for (String damaged : List.of("", "AAAA", "not base 64 !")) {
      operations.set(key, damaged, Optional.empty());
      QuipuException e = assertThrows(QuipuException.class, () -> presence.online(ROOM));
      assertEquals(Reason.CORRUPT, e.reason());
    }
  }
}
