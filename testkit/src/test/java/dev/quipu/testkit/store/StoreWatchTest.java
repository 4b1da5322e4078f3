package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.layer.StoreWatch;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreDriver.Finding;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Survival;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What a process writes to a store whose settings endanger writes, or are unknown. */
final class StoreWatchTest {
  private static final Key KEY = new Key("p", "s");
  private static final Write WRITE =
      new Write.Update(KEY, List.of(new Change.Add("n", 1)), Condition.always());
  private static final RetryPolicy ONCE =
      new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));

  private Supplier<List<Finding>> settings = List::of;
  private boolean isReadOnly;
  private final MemoryDriver memory = new MemoryDriver();
  private final Store store =
      new Store(new Inspected(), new ManualClock(0), Randomness.seeded(1), ONCE);

  /** An in-memory store that reports the settings that a test wants. */
  private final class Inspected extends ForwardingDriver {
    @Override
    protected StoreDriver driver() {
      return memory;
    }

    @Override
    public WriteResult write(Write write) {
      if (isReadOnly) {
        throw new NotAppliedException(Reason.DENIED, "no");
      }
      return super.write(write);
    }

    @Override
    public List<Finding> inspect() {
      return settings.get();
    }
  }

  private static Finding losing(Survival accepted) {
    return Finding.losesWrites(accepted, Survival.PROCESS, "fsync=off", "fsync=on");
  }

  private void isRejected(Runnable write, String why) {
    QuipuException e = assertThrows(QuipuException.class, write::run);
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertTrue(String.valueOf(e.getMessage()).contains(why), e.getMessage());
    assertEquals(Optional.empty(), store.get(KEY, Consistency.STRONG), "and reads continue");
  }

  @Test
  void aStoreThatLosesWritesIsNotUsed() {
    settings = () -> List.of(losing(Survival.FSYNC));
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> new StoreWatch(store));
    assertTrue(String.valueOf(e.getMessage()).contains("fsync=off (fsync=on)"), e.getMessage());
    Store sets = new Store(new OfTokens(), new ManualClock(0), Randomness.seeded(1), ONCE);
    assertThrows(IllegalArgumentException.class, () -> new StoreWatch(sets));
    for (Runnable write :
        List.<Runnable>of(
            () -> sets.addTokens(KEY, "f", Set.of("a")),
            () -> sets.dropTokens(KEY, "f", Set.of("a")))) {
      QuipuException stopped = assertThrows(QuipuException.class, write::run);
      assertEquals(Reason.UNAVAILABLE, stopped.reason());
      assertEquals(Outcome.NOT_APPLIED, stopped.outcome());
    }
  }

  /** The same store, with native token updates. */
  private final class OfTokens extends ForwardingDriver {
    @Override
    protected StoreDriver driver() {
      return new Inspected();
    }

    @Override
    public StoreProfile profile() {
      StoreProfile all = memory.profile();
      Set<Capability> more = EnumSet.copyOf(all.capabilities());
      more.add(Capability.NATIVE_TOKENS);
      return new StoreProfile("tokens", more, all.atomicity(), 10, 100);
    }

    @Override
    public void addTokens(Key key, String field, Set<String> tokens) {
      // the store would add them
    }

    @Override
    public void dropTokens(Key key, String field, Set<String> tokens) {
      // the store would remove them
    }
  }

  @Test
  void aStoreThatLosesWritesByChoiceIsUsed() {
    settings = () -> List.of(losing(Survival.PROCESS));
    try (StoreWatch watch = new StoreWatch(store)) {
      assertEquals(Optional.empty(), watch.impediment());
      assertEquals("process, accepted: fsync=off", watch.durability());
      store.write(WRITE);
      assertEquals(1, store.get(KEY, Consistency.STRONG).orElseThrow().number("n"));
    }
  }

  @Test
  void nothingIsWrittenBeforeTheSettingsAreKnown() {
    settings =
        () -> {
          throw new NotAppliedException(Reason.UNAVAILABLE, "the store is starting");
        };
    try (StoreWatch watch = new StoreWatch(store)) {
      String why = "still unknown";
      isRejected(() -> store.write(WRITE), why);
      isRejected(() -> store.writeAll(List.of(WRITE), null), why);
      isRejected(() -> store.addTokens(KEY, "t", Set.of("a")), why);
      isRejected(() -> store.dropTokens(KEY, "t", Set.of("a")), why);
      assertTrue(watch.impediment().orElseThrow().contains(why));
    }
  }

  private static List<Finding> silent() {
    throw new NotAppliedException(Reason.UNAVAILABLE, "connection lost");
  }

  /** A lost connection is no setting: what was found before stays valid for a while. */
  @Test
  void aCheckThatIsNotAnsweredStopsNoWritesUntilTheLastAnswerIsOld() throws InterruptedException {
    ManualClock clock = new ManualClock(0);
    Store watched = new Store(new Inspected(), clock, Randomness.seeded(1), ONCE);
    try (StoreWatch watch = new StoreWatch(watched)) {
      settings = StoreWatchTest::silent;
      watch.checkAgain();
      assertEquals(Optional.empty(), watch.impediment());
      clock.sleep(StoreWatch.VALID);
      watch.checkAgain();
      watched.write(WRITE);
      clock.sleep(Duration.ofMillis(1));
      watch.checkAgain();
      QuipuException e = assertThrows(QuipuException.class, () -> watched.write(WRITE));
      assertEquals(
          "the settings of store memory were unknown for 60 s: connection lost", e.getMessage());
      settings = List::of;
      watch.checkAgain();
      watched.write(WRITE);
    }
  }

  @Test
  void aReasonThatIsOutdatedIsNotGiven() {
    try (StoreWatch watch = new StoreWatch(store)) {
      settings = () -> List.of(losing(Survival.FSYNC));
      watch.checkAgain();
      isRejected(() -> store.write(WRITE), "fsync=off");
      settings = StoreWatchTest::silent;
      watch.checkAgain();
      QuipuException e = assertThrows(QuipuException.class, () -> store.write(WRITE));
      assertEquals(
          "the settings of store memory are currently unknown; writes stay rejected: connection"
              + " lost",
          e.getMessage());
    }
  }

  @Test
  void aStoreThatCannotBeAskedEndsTheStart() {
    settings =
        () -> {
          throw new NotAppliedException(Reason.DENIED, "no right to see settings");
        };
    QuipuException e = assertThrows(QuipuException.class, () -> new StoreWatch(store));
    assertEquals(Reason.DENIED, e.reason());
  }

  @Test
  void whatTheStoreRejectsIsExplained() {
    Finding readOnly = Finding.rejectsWrites("read_only=on", "use the primary");
    settings = () -> List.of(readOnly);
    try (StoreWatch watch = new StoreWatch(store)) {
      assertTrue(watch.impediment().orElseThrow().contains("read_only=on (use the primary)"));
      store.write(WRITE); // the store decides
      isReadOnly = true;
      QuipuException e = assertThrows(QuipuException.class, () -> store.write(WRITE));
      assertEquals(Reason.DENIED, e.reason());
      assertEquals(
          "no; store memory rejects writes: read_only=on (use the primary)", e.getMessage());
    }
  }
}
