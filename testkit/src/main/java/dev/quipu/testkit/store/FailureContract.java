package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.Ledger;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What a driver must report when the connection fails: an unknown outcome where the write may have
 * been applied, not applied only where it certainly was not; and it never sends a request twice.
 * Verified by the ledger of a proxy in front of the real store, and by the store itself.
 */
public abstract class FailureContract {
  /**
   * How long the driver under test waits for a reply; {@link #open} must configure it. Longer than
   * a slow disk takes to sync: without a fault every call must get its reply.
   */
  protected static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final Duration DELAY = Duration.ofSeconds(8);
  private static final Key KEY = new Key("p", "hot");
  private static final Write ADD =
      new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, 1)), Condition.always());
  private static final Write BOUNDED_ADD = ADD.when(new Condition.Within(Item.VALUE, -9, 9));
  private static final RetryPolicy PATIENT =
      new RetryPolicy(50, Duration.ofMillis(5), Duration.ofMillis(100), Duration.ofMinutes(1));

  private FaultProxy proxy;
  private StoreDriver driver;
  private Store patient;
  private Ledger ledger;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openThroughProxy before each test
  protected FailureContract() {}

  /** Returns the port of the real store on 127.0.0.1. */
  protected abstract int storePort();

  /** Returns the protocol of the store. */
  protected abstract Protocol protocol();

  /**
   * Opens an empty store through another port, as a user would, except for {@link #TIMEOUT}. Called
   * once in each test.
   */
  protected abstract StoreDriver open(int port) throws Exception;

  /**
   * Returns whether the store applies an unconditional add that it receives twice only once, as a
   * transaction does that commits once, or a compare-and-set.
   */
  protected boolean appliesDuplicatesOnce() {
    return false;
  }

  /** Returns whether the store applies nothing after the driver has given up, as by a rollback. */
  protected boolean appliesNothingLate() {
    return false;
  }

  @BeforeEach
  final void openThroughProxy() throws Exception {
    proxy = FaultProxy.start(protocol(), storePort(), DELAY, write -> 1);
    driver = open(proxy.port());
    patient = new Store(driver, Clock.system(), Randomness.secure(), PATIENT);
    patient.write(ADD); // connections and scripts exist
    ledger = proxy.ledger();
  }

  @AfterEach
  final void close() throws Exception {
    if (driver != null) { // null if the test was skipped before
      driver.close();
      proxy.close();
    }
  }

  // ---- unknown

  @Test
  final void aDroppedReplyIsUnknownAndWasApplied() {
    expect(WireFault.REPLY_DROPPED, ADD, Outcome.UNKNOWN, 1);
    expect(WireFault.REPLY_DROPPED, BOUNDED_ADD, Outcome.UNKNOWN, 1);
  }

  @Test
  final void aResetConnectionIsUnknownAndWasNotApplied() {
    expect(WireFault.CONNECTION_RESET, ADD, Outcome.UNKNOWN, 0);
    expect(WireFault.CONNECTION_RESET, BOUNDED_ADD, Outcome.UNKNOWN, 0);
  }

  @Test
  final void noReplyWithinTheTimeoutIsUnknownAndWasApplied() {
    QuipuException e = expect(WireFault.HANG, ADD, Outcome.UNKNOWN, 1);
    assertEquals(Reason.TIMEOUT, e.reason());
  }

  @Test
  final void anUnknownWriteMayStillBeApplied() {
    long before = value();
    fail(WireFault.DELAYED_APPLY, () -> driver.write(ADD), Outcome.UNKNOWN);
    proxy.awaitDelayed();
    assertEquals(before + (appliesNothingLate() ? 0 : 1), value());
  }

  @Test
  final void anInternalErrorOfTheStoreIsUnknown() {
    for (WireFault fault : List.of(WireFault.ERROR_BEFORE_APPLY, WireFault.ERROR_AFTER_APPLY)) {
      assumeSpoken(fault);
      if (protocol().open().error(WireFault.ERROR_AFTER_APPLY).isPresent()) {
        int applied = fault == WireFault.ERROR_AFTER_APPLY ? 1 : 0;
        expect(fault, ADD, Outcome.UNKNOWN, applied);
        expect(fault, BOUNDED_ADD, Outcome.UNKNOWN, applied);
      }
    }
  }

  // ---- not applied

  @Test
  final void throttlingMeansNotApplied() {
    assumeSpoken(WireFault.THROTTLED);
    expect(WireFault.THROTTLED, ADD, Outcome.NOT_APPLIED, 0);
    expect(WireFault.THROTTLED, BOUNDED_ADD, Outcome.NOT_APPLIED, 0);
  }

  @Test
  final void aRejectedConnectionMeansNotApplied() {
    long before = value();
    proxy.reject();
    QuipuException e = assertThrows(QuipuException.class, () -> driver.write(ADD));
    int unknown = 0;
    for (; e.outcome() == Outcome.UNKNOWN; unknown++) {
      // it was written to a connection that was about to break, and may have been applied; the
      // driver notices that it is broken some time later
      e = assertThrows(QuipuException.class, () -> driver.write(ADD));
    }
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertTrue(e.reason().isTemporary(), e.reason()::toString);
    proxy.accept();
    long after = value();
    assertTrue(before <= after && after <= before + unknown, before + " became " + after);
  }

  @Test
  final void aWriteThatTheStoreRejectsIsNotAppliedAndNotTemporary() {
    Write text =
        new Write.Put(
            KEY, Map.of(Item.VALUE, new Field.Text("x")), Optional.empty(), Condition.always());
    patient.write(text);
    QuipuException e = assertThrows(QuipuException.class, () -> driver.write(ADD));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(Reason.CORRUPT, e.reason()); // callers cannot choose the type of a field
  }

  @Test
  final void aReadThatFailsHasNoEffect() {
    proxy.reject();
    QuipuException e = assertThrows(QuipuException.class, this::read);
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    proxy.accept();
    assertEquals(1, value());
  }

  // ---- batches

  @Test
  final void aBatchWhoseReplyIsLostIsAtomic() {
    assumeTrue(driver.profile().has(Capability.ATOMIC_BATCH), "no batches");
    for (WireFault fault :
        List.of(WireFault.REPLY_DROPPED, WireFault.CONNECTION_RESET, WireFault.HANG)) {
      long before = value();
      Write marker =
          new Write.Put(
              new Key("p", fault.name()), Map.of(), Optional.empty(), new Condition.Absent());
      fail(
          fault,
          () -> BatchDriver.of(driver).writeAll(List.of(marker, ADD), null),
          Outcome.UNKNOWN);
      boolean marked = patient.get(marker.key(), Consistency.STRONG).isPresent();
      assertEquals(fault != WireFault.CONNECTION_RESET, marked);
      assertEquals(before + (marked ? 1 : 0), value());
    }
  }

  @Test
  final void aThrottledBatchIsNotApplied() {
    assumeTrue(driver.profile().has(Capability.ATOMIC_BATCH), "no batches");
    long before = value();
    Write marker =
        new Write.Put(new Key("p", "m"), Map.of(), Optional.empty(), new Condition.Absent());
    List<Write> batch = List.of(marker, ADD);
    fail(
        WireFault.THROTTLED,
        () -> BatchDriver.of(driver).writeAll(batch, null),
        Outcome.NOT_APPLIED);
    assertEquals(before, value());
    assertInstanceOf(WriteResult.Applied.class, patient.writeAll(batch, null));
    assertEquals(before + 1, value());
  }

  // ---- what conditions achieve

  @Test
  final void aWriteThatIsDeliveredTwiceCountsTwiceUnlessItIsConditional() {
    long before = value();
    int times = appliesDuplicatesOnce() ? 1 : 2;
    proxy.use(FaultPlan.of(WireFault.DUPLICATE));
    assertInstanceOf(WriteResult.Applied.class, driver.write(ADD));
    assertEquals(before + times, value());
    Version version = read().orElseThrow().version();
    proxy.use(FaultPlan.of(WireFault.DUPLICATE));
    assertInstanceOf(
        WriteResult.Applied.class, driver.write(ADD.when(new Condition.VersionIs(version))));
    assertEquals(before + times + 1, value());
    assertEquals(2, ledger.fired(WireFault.DUPLICATE));
  }

  @Test
  final void aStaleReadCannotOverwriteANewerWrite() {
    long before = value();
    patient.write(ADD);
    proxy.use(FaultPlan.of(WireFault.STALE_READ));
    Item stale = read().orElseThrow();
    assertEquals(1, ledger.fired(WireFault.STALE_READ));
    assertEquals(before, stale.number(Item.VALUE));
    Write late =
        new Write.Put(
            KEY, stale.fields(), Optional.empty(), new Condition.VersionIs(stale.version()));
    assertInstanceOf(WriteResult.ConditionFailed.class, driver.write(late));
    assertEquals(before + 1, value());
  }

  // ---- helpers

  /** One write with this fault: it was sent at most once, and the store agrees with the ledger. */
  private QuipuException expect(WireFault fault, Write write, Outcome outcome, int applied) {
    long before = value();
    long writesBefore = ledger.writes();
    QuipuException e = fail(fault, () -> driver.write(write), outcome);
    assertEquals(applied, ledger.writes() - writesBefore, "writes that reached the store");
    assertEquals(before + applied, value());
    assertEquals(0, ledger.unknownOutcomes());
    return e;
  }

  private QuipuException fail(WireFault fault, Callable<?> call, Outcome outcome) {
    long firedBefore = ledger.fired(fault);
    proxy.use(FaultPlan.of(fault));
    QuipuException e = assertThrows(QuipuException.class, call::call, fault::name);
    proxy.use(FaultPlan.none());
    assertEquals(firedBefore + 1, ledger.fired(fault), () -> fault + " did not occur once: " + e);
    assertEquals(outcome, e.outcome(), () -> fault + ": " + e);
    return e;
  }

  private void assumeSpoken(WireFault fault) {
    assumeTrue(
        protocol().open().error(fault).isPresent(),
        () -> "the store has no error message for " + fault);
  }

  private Optional<Item> read() {
    return driver.get(KEY, Consistency.STRONG);
  }

  private long value() {
    return patient.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE);
  }
}
