package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.layer.Store;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.ConcurrentClients;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The store of one test, for contracts of what is built on a store. */
abstract class EmptyStoreFixture {
  /** The time of the store. */
  ManualClock clock;

  /** The driver of the store. */
  StoreDriver driver;

  /** The store, empty at first. */
  Store store;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openAll before each test
  EmptyStoreFixture() {}

  /** Opens an empty store. */
  protected abstract StoreDriver openStore() throws Exception;

  @BeforeEach
  final void openAll() throws Exception {
    // A store with expiry of its own goes by the time of the day.
    clock = new ManualClock(Clock.system().epochMillis());
    driver = openStore();
    store = new Store(driver, clock, Randomness.secure(), ConcurrentClients.RETRIES);
  }

  @AfterEach
  final void closeAll() {
    driver.close();
  }

  /** Checks that the message of an exception contains a text. */
  static void assertExplains(String text, Throwable e) {
    String message = String.valueOf(e.getMessage());
    assertTrue(message.contains(text), message);
  }
}
