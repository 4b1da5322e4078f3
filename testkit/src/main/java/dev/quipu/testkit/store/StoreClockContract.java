package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.layer.Store;
import dev.quipu.layer.Sweeper;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a store with a clock guarantees to servers whose own clocks are wrong. */
public abstract class StoreClockContract {
  private static final Key KEY = new Key("p", "marker");
  private static final Duration HOUR = Duration.ofHours(1);

  private StoreDriver driver;

  /** For subclasses. */
  protected StoreClockContract() {}

  /** Opens an empty store. */
  protected abstract StoreDriver open();

  @BeforeEach
  final void openStore() {
    driver = open();
  }

  @AfterEach
  final void closeStore() {
    driver.close();
  }

  /** The clock of this machine, ahead by some time. */
  private record Ahead(Duration ahead) implements Clock {
    @Override
    public long epochMillis() {
      return Clock.system().epochMillis() + ahead.toMillis();
    }

    @Override
    public long nanoTime() {
      return Clock.system().nanoTime();
    }

    @Override
    public void sleep(Duration duration) throws InterruptedException {
      Clock.system().sleep(duration);
    }
  }

  private Store store(Duration ahead) {
    return new Store(driver, StoreClock.of(driver, new Ahead(ahead)));
  }

  private static Write marker(Store store) {
    Map<String, Field> fields = Map.of("added", new Field.Number(1));
    Optional<Instant> expiry = Optional.of(store.now().plus(HOUR));
    return new Write.Put(KEY, fields, expiry, new Condition.Absent());
  }

  @Test
  final void theStoresTimeIsThatOfItsMachine() {
    Instant time = driver.time().orElseThrow();
    Instant here = Instant.ofEpochMilli(Clock.system().epochMillis());
    Duration difference = Duration.between(time, here).abs();
    assertTrue(difference.compareTo(Duration.ofMinutes(5)) < 0, difference.toString());
  }

  @Test
  final void aServerADayAheadSeesAndSweepsNoOthersItems() {
    Store right = store(Duration.ZERO);
    Store ahead = store(Duration.ofDays(1));
    right.write(marker(right));
    assertEquals(1, ahead.get(KEY, Consistency.STRONG).orElseThrow().number("added"));
    assertEquals(0, Sweeper.sweep(ahead));
    assertTrue(driver.get(KEY, Consistency.STRONG).isPresent(), "it was swept");
  }

  @Test
  final void anItemOfAServerADayBehindDoesNotExpireEarly() {
    Store behind = store(Duration.ofDays(-1));
    Store right = store(Duration.ZERO);
    behind.write(marker(behind));
    assertEquals(1, right.get(KEY, Consistency.STRONG).orElseThrow().number("added"));
    assertEquals(0, Sweeper.sweep(right));
  }
}
