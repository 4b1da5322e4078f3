package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.sequence.UniqueValues;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Unique values when a delete arrives late, or its reply is lost. */
final class UniqueValuesLateTest {
  private static final String EMAIL = "email";
  private static final String VALUE = "ann@a.example";
  private static final RetryPolicy ONCE =
      new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final StoreDriver driver = new MemoryDriver();
  private final CallScript script = new CallScript();
  private final UniqueValues values = new UniqueValues(new Store(driver, clock));
  private final UniqueValues unlucky =
      new UniqueValues(new Store(script.around(driver), clock, Randomness.seeded(1), ONCE));

  private void dropIsLate() {
    assertEquals(new UniqueValues.Owned(false), values.putUnique(EMAIL, VALUE, "ann"));
    script.late(CallScript.to("unique/"));
    assertThrows(QuipuException.class, () -> unlucky.drop(EMAIL, VALUE, "ann"));
  }

  private void staysWithAnn() {
    script.arrive();
    assertEquals(Optional.of("ann"), values.owner(EMAIL, VALUE));
    assertEquals(new UniqueValues.OwnedByOther("ann"), values.putUnique(EMAIL, VALUE, "bob"));
  }

  @Test
  void aDeleteThatArrivesAfterTheValueWasKeptDeletesNothing() {
    dropIsLate();
    assertEquals(new UniqueValues.Owned(true), values.putUnique(EMAIL, VALUE, "ann"));
    staysWithAnn();
  }

  @Test
  void aDeleteThatArrivesAfterTheValueWasTakenAgainDeletesNothing() {
    dropIsLate();
    assertTrue(values.drop(EMAIL, VALUE, "ann"));
    assertEquals(new UniqueValues.Owned(false), values.putUnique(EMAIL, VALUE, "ann"));
    staysWithAnn();
  }

  @Test
  void aDropWhoseReplyWasLostIsDoneByTheNext() {
    assertEquals(new UniqueValues.Owned(false), values.putUnique(EMAIL, VALUE, "ann"));
    script.replyLost(CallScript.to("unique/"));
    assertThrows(QuipuException.class, () -> unlucky.drop(EMAIL, VALUE, "ann"));
    assertTrue(unlucky.drop(EMAIL, VALUE, "ann"));
    assertEquals(new UniqueValues.Owned(false), values.putUnique(EMAIL, VALUE, "bob"));
  }

  @Test
  void whoKeepsAValueThatIsGivenUpMeanwhileTakesItAnew() {
    assertEquals(new UniqueValues.Owned(false), values.putUnique(EMAIL, VALUE, "ann"));
    script
        .before(CallScript.to("unique/"), () -> {})
        .before(CallScript.to("unique/"), () -> assertTrue(values.drop(EMAIL, VALUE, "ann")));
    UniqueValues.Result kept =
        new UniqueValues(new Store(script.around(driver), clock)).putUnique(EMAIL, VALUE, "ann");
    assertEquals(new UniqueValues.Owned(false), kept);
    assertEquals(Optional.of("ann"), values.owner(EMAIL, VALUE));
  }
}
