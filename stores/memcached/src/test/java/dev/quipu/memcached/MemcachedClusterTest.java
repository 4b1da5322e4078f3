package dev.quipu.memcached;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Counters;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.display.CacheFirst;
import dev.quipu.display.DisplayReading;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.presence.Online;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.Window;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.technique.MarkerItem;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.time.Clock;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Three servers with consistent hashing: no client gets a wrong count when one fails and returns.
 */
final class MemcachedClusterTest {
  private static final int CLIENTS = 60;
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final List<MemcachedServer> servers = new ArrayList<>();
  private ManualClock clock;
  private StoreDriver driver;
  private Store store;

  @SuppressWarnings("NullAway.Init") // JUnit calls open before each test
  MemcachedClusterTest() {}

  @BeforeEach
  void open() {
    for (int i = 0; i < 3; i++) {
      Optional<MemcachedServer> started = MemcachedServer.start();
      assumeTrue(started.isPresent(), "no memcached on this machine: ./dev deps installs it");
      servers.add(started.orElseThrow());
    }
    String hosts =
        servers.stream()
            .map(server -> "127.0.0.1:" + server.port())
            .collect(Collectors.joining(","));
    long now = Clock.system().epochMillis();
    clock = new ManualClock(now - now % MINUTE.toMillis());
    driver =
        MemcachedProvider.open(
            URI.create("memcached://" + hosts + "?timeoutMillis=2000"), client -> clock);
    store = new Store(driver, clock);
  }

  @AfterEach
  void close() {
    driver.close();
    servers.forEach(MemcachedServer::kill);
  }

  private void killAndRestart(MemcachedServer server) throws Exception {
    server.kill();
    server.restart();
    awaitReturn(() -> {
      for (int i = 0; i < 50; i++) {
        store.operations().get("probe" + i);
      }
    });
  }

  /** Waits until the client has reconnected. */
  private static void awaitReturn(Runnable calls) throws Exception {
    Progress.await(
        "the server's return",
        () -> {
          try {
            calls.run();
            return true;
          } catch (QuipuException e) {
            return false;
          }
        });
  }

  private static void allSeen(OnlineRing ring) {
    for (int i = 0; i < CLIENTS; i++) {
      ring.seen("room", "client " + i);
    }
  }

  @Test
  void anOnlineCountThatLostSomethingIsMarkedAndBecomesCompleteAgain() throws Exception {
    OnlineRing ring = new OnlineRing(store, Window.DEFAULT);
    assertFalse(ring.online("room").complete(), "the servers have just started");
    clock.advance(MINUTE.multipliedBy(12));
    for (MemcachedServer lost : servers) {
      allSeen(ring);
      clock.advance(MINUTE);
      allSeen(ring);
      Online before = ring.online("room");
      assertTrue(before.complete(), before.toString());
      assertEquals(CLIENTS, before.value());
      lost.kill();
      try {
        assertFalse(ring.online("room").complete());
      } catch (QuipuException e) {
        assertEquals(Outcome.NOT_APPLIED, e.outcome());
      }
      lost.restart();
      awaitReturn(() -> allSeen(ring));
      for (int minute = 0; minute < 9; minute++) {
        Online after = ring.online("room");
        assertFalse(after.complete(), "minute " + minute + ": " + after);
        clock.advance(MINUTE);
        allSeen(ring);
      }
      clock.advance(MINUTE);
      Online healed = ring.online("room");
      assertTrue(healed.complete(), healed.toString());
      assertTrue(healed.low() <= CLIENTS && CLIENTS <= healed.high(), healed.toString());
    }
  }

  @Test
  void aViewCounterThatLostItsCacheReportsItsUncertainty() throws Exception {
    Store durable = new Store(new MemoryDriver(), clock);
    Counters counters = new MarkerItem(durable);
    int unflushedMax = 20;
    CacheFirst views = new CacheFirst(store.operations(), durable, counters, unflushedMax);
    int pages = 12; // so that each server has items
    long viewed = 0;
    for (MemcachedServer lost : servers) {
      for (int i = 0; i < 50; i++) {
        for (int page = 0; page < pages; page++) {
          views.view("page " + page, Optional.empty());
        }
        viewed++;
      }
      killAndRestart(lost);
      for (int page = 0; page < pages; page++) {
        DisplayReading reading = views.read("page " + page).orElseThrow();
        assertTrue(reading.low() <= viewed && viewed <= reading.high(), viewed + ": " + reading);
      }
    }
    views.writeBack();
    long lostViews = 0;
    for (int page = 0; page < pages; page++) {
      DisplayReading reading = views.read("page " + page).orElseThrow();
      long held = counters.read("page " + page).map(Reading::value).orElseThrow();
      assertTrue(held <= viewed && viewed - held <= reading.high() - reading.value());
      assertTrue(reading.high() - reading.value() <= 3L * unflushedMax, reading.toString());
      lostViews += viewed - held;
    }
    assertTrue(lostViews > 0, "nothing was lost, so this run is void");
  }
}
