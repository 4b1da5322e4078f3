package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.layer.Store;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.testkit.ConcurrentClients;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * What every {@link StoreDriver} must do, seen through {@link Store}, one theme a file. A driver's
 * test extends it and opens an empty store. What a driver does not claim to be able to do is
 * skipped by name, and must be rejected.
 */
public abstract class StoreContract
    implements ReadContract,
        ConditionContract,
        VersionContract,
        UpdateContract,
        BatchContract,
        ScanContract,
        ExpiryContract,
        LimitContract,
        ConcurrencyContract,
        RecordContract {
  private ManualClock clock;
  private StoreDriver driver;
  private Store store;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openStore before each test
  protected StoreContract() {}

  /** Opens an empty store. */
  protected abstract StoreDriver open() throws Exception;

  /** The tests that a store with this profile skips, by name. */
  public static List<String> skips(StoreProfile profile) {
    List<String> skips = new ArrayList<>();
    for (Method method : StoreContract.class.getMethods()) {
      if (method.isAnnotationPresent(Test.class)
          && !profile.capabilities().containsAll(needs(method))) {
        skips.add(method.getName());
      }
    }
    skips.sort(null);
    return skips;
  }

  private static List<Capability> needs(Method test) {
    Needs needs = test.getAnnotation(Needs.class);
    return needs == null ? List.of() : Arrays.asList(needs.value());
  }

  @BeforeEach
  final void openStore(TestInfo test) throws Exception {
    // A store with expiry of its own goes by the time of the day.
    clock = new ManualClock(Clock.system().epochMillis());
    driver = open();
    store = new Store(driver, clock, Randomness.secure(), ConcurrentClients.RETRIES);
    for (Capability needed : needs(test.getTestMethod().orElseThrow())) {
      StoreProfile profile = driver.profile();
      assumeTrue(profile.has(needed), () -> profile.lacks(needed).getMessage());
    }
  }

  @AfterEach
  final void closeStore() throws Exception {
    driver.close();
  }

  @Override
  public final Store store() {
    return store;
  }

  @Override
  public final StoreDriver driver() {
    return driver;
  }

  @Override
  public final ManualClock clock() {
    return clock;
  }
}
