package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.layer.ClockComparison;
import dev.quipu.layer.Store;
import dev.quipu.layer.Sweeper;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Servers with different clocks on a store without a clock. */
final class ClockComparisonTest {
  private static final Key KEY = new Key("p", "marker");
  private static final long START = 1_000_000_000;

  private final MemoryDriver driver = new MemoryDriver();
  private final List<Server> servers = new ArrayList<>();
  private int named;

  private final class Server {
    final ManualClock clock;
    final Store store;
    final ClockComparison comparison;

    Server(Duration ahead) {
      clock = new ManualClock(START + ahead.toMillis());
      store = new Store(driver, clock);
      comparison = new ClockComparison(store, "server" + named++);
      servers.add(this);
    }

    void putMarker(Duration keep) {
      Map<String, Field> fields = Map.of("added", new Field.Number(1));
      store.write(
          new Write.Put(KEY, fields, Optional.of(store.now().plus(keep)), new Condition.Absent()));
    }

    boolean sees() {
      return store.get(KEY, Consistency.STRONG).isPresent();
    }
  }

  private void minute() {
    servers.forEach(each -> each.clock.advance(ClockComparison.INTERVAL));
    servers.forEach(each -> each.comparison.compare());
  }

  @Test
  void aServerADayAheadNeitherSeesItemsExpireNorSweepsThem() {
    Server right = new Server(Duration.ZERO);
    right.comparison.compare();
    right.putMarker(Duration.ofHours(1));
    minute();
    Server ahead = new Server(Duration.ofDays(1));
    ahead.comparison.compare(); // the clocks of the others are not known yet
    for (int i = 0; i < 3; i++) {
      assertTrue(ahead.sees(), "minute " + i);
      assertEquals(0, Sweeper.sweep(ahead.store));
      minute();
    }
  }

  @Test
  void whenTheClockIsSetRightExpiryGoesOn() {
    Server right = new Server(Duration.ZERO);
    Server ahead = new Server(Duration.ofDays(1));
    right.putMarker(Duration.ofMinutes(2));
    for (int i = 0; i < 5; i++) {
      minute();
    }
    assertTrue(right.sees()); // paused: which clock is wrong is unknown
    ahead.clock.jump(Duration.ofDays(-1));
    for (int i = 0; i < 3; i++) {
      minute();
    }
    assertFalse(right.sees());
    assertFalse(ahead.sees());
    assertEquals(1, Sweeper.sweep(ahead.store));
  }

  @Test
  void clocksThatDifferByLessPauseNothing() {
    Server one = new Server(Duration.ZERO);
    Server other = new Server(Sweeper.KEPT.minusSeconds(1));
    one.putMarker(Duration.ofMinutes(3));
    for (int i = 0; i < 3; i++) {
      minute();
    }
    assertFalse(one.sees());
    assertFalse(other.sees());
  }

  @Test
  void aServerThatIsGoneIsNotCompared() {
    Server gone = new Server(Duration.ofDays(-1));
    gone.comparison.compare();
    servers.clear();
    Server lone = new Server(Duration.ZERO);
    lone.comparison.compare();
    lone.putMarker(Duration.ofSeconds(30));
    minute();
    assertFalse(lone.sees());
  }

  /** A shared store, with or without a clock. */
  private final class Shared extends ProfiledDriver {
    private final Optional<Instant> time;

    Shared(Optional<Instant> time) {
      super(driver, ProfiledDriver.ofBatches(driver, "shared", 10).profile());
      this.time = time;
    }

    @Override
    public Optional<Instant> time() {
      return time;
    }
  }

  @Test
  void clocksAreComparedAtOnceWhereTheStoreShowsNoTime() {
    for (Optional<Instant> time : List.of(Optional.of(Instant.EPOCH), Optional.<Instant>empty())) {
      Store store = new Store(new Shared(time), new ManualClock(START));
      new Sweeper(store).close();
      assertEquals(time.isPresent() ? 0 : 1, store.count(Scan.all("clocks")), time::toString);
    }
  }
}
