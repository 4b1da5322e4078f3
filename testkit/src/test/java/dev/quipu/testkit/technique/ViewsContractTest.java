package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import java.lang.reflect.Proxy;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of views fails on a store whose sweep does not remove expired items. */
final class ViewsContractTest {
  /** Removes expired items, in its own way. */
  private interface Sweep {
    int removeExpired(StoreDriver memory, Instant before, int itemsMax);
  }

  /** Views in memory with another sweep. */
  private static final class Swept extends ViewsContract {
    private final Sweep sweep;
    private final boolean isSweptAtOnce;

    Swept(boolean isSweptAtOnce, Sweep sweep) {
      this.sweep = sweep;
      this.isSweptAtOnce = isSweptAtOnce;
    }

    @Override
    protected StoreDriver openStore() {
      MemoryDriver memory = new MemoryDriver();
      return (StoreDriver)
          Proxy.newProxyInstance(
              StoreDriver.class.getClassLoader(),
              new Class<?>[] {BatchDriver.class, ScanDriver.class},
              (proxy, method, arguments) ->
                  method.getName().equals("removeExpired")
                      ? sweep.removeExpired(memory, (Instant) arguments[0], (int) arguments[1])
                      : method.invoke(memory, arguments));
    }

    @Override
    protected boolean isSweptAtOnce() {
      return isSweptAtOnce;
    }

    @SuppressWarnings("JUnitMethodInvoked") // the contract is what is tested
    void check() throws Exception {
      openAll();
      try {
        afterTheTimeOnlyTheNumbersAreLeftWhereTheSweeperWorks();
      } finally {
        closeAll();
      }
    }
  }

  private static void assertCaught(boolean isSweptAtOnce, Sweep sweep) {
    assertThrows(AssertionError.class, () -> new Swept(isSweptAtOnce, sweep).check());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSweepThatRemovesAllIsAccepted(boolean isSweptAtOnce) throws Exception {
    new Swept(isSweptAtOnce, StoreDriver::removeExpired).check();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSweepThatRemovesNothingIsCaught(boolean isSweptAtOnce) {
    assertCaught(isSweptAtOnce, (memory, before, itemsMax) -> 0);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSweepThatOnlyReportsItemsIsCaught(boolean isSweptAtOnce) {
    int[] sweeps = {0};
    // The first sweep is a millisecond too early for any item.
    assertCaught(isSweptAtOnce, (memory, before, itemsMax) -> sweeps[0]++ == 1 ? 30 : 0);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSweepThatIsEarlyIsCaught(boolean isSweptAtOnce) {
    assertCaught(
        isSweptAtOnce,
        (memory, before, itemsMax) -> memory.removeExpired(before.plusMillis(1), itemsMax));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSweepThatRemovesOnlySomeIsCaught(boolean isSweptAtOnce) {
    int[] left = {29};
    assertCaught(
        isSweptAtOnce,
        (memory, before, itemsMax) -> {
          int removed = memory.removeExpired(before, Math.min(left[0], itemsMax));
          left[0] -= removed;
          return removed;
        });
  }

  @Test
  void aSweepThatNeedsSeveralRoundsIsAcceptedOnlyWhereThatIsStated() throws Exception {
    Sweep slow = (memory, before, itemsMax) -> memory.removeExpired(before, Math.min(7, itemsMax));
    assertCaught(true, slow);
    new Swept(false, slow).check();
  }
}
