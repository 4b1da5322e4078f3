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
 * The contract of every {@link StoreDriver}, tested through {@link Store}, one topic per file. A
 * driver's test extends it and opens an empty store. Tests of capabilities that a driver does not
 * claim are skipped; their use must be rejected.
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

  /** Returns the tests that a store with this profile skips. */
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
    // A store with native expiry uses the actual time.
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
