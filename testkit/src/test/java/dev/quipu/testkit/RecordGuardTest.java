package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.region.RegionOptions;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Guards that start, that run in one of several regions, and whose store does not reply. */
final class RecordGuardTest {
  private static final StoreRecord ONE = StoreRecord.of(AtomicAdd.SPEC, Optional.empty());
  private static final StoreRecord OTHER = StoreRecord.of(TokenSet.SPEC, Optional.empty());
  private static final Key RECORD = new Key("store-record", "record");
  private static final String ADOPT = "quipu adopt URI";
  private static final Duration MILLI = Duration.ofMillis(1);
  private static final RetryPolicy ONCE = new RetryPolicy(1, MILLI, MILLI, Duration.ofSeconds(1));

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final Place here = new Place();
  private final Place there = new Place();

  /** A store that may be unreachable. */
  private final class Place extends ForwardingDriver {
    private final MemoryDriver memory = new MemoryDriver();
    final Store store = new Store(this, clock, Randomness.seeded(1), ONCE);
    boolean isSilent;
    Optional<QuipuException> answer = Optional.empty(); // of the next write, which is applied
    Runnable beforeWrite = () -> {};

    @Override
    protected StoreDriver driver() {
      if (isSilent) {
        throw new NotAppliedException(Reason.UNAVAILABLE, "no answer");
      }
      return memory;
    }

    @Override
    public StoreProfile profile() {
      return memory.profile();
    }

    @Override
    public WriteResult write(Write write) {
      Runnable before = beforeWrite;
      beforeWrite = () -> {};
      before.run();
      WriteResult result = super.write(write);
      Optional<QuipuException> lost = answer;
      answer = Optional.empty();
      if (lost.isPresent()) {
        throw lost.get();
      }
      return result;
    }
  }

  private RecordGuard alone(StoreRecord record) {
    return new RecordGuard(here.store, record, ADOPT);
  }

  /** Returns the guard of one of two regions. */
  private RecordGuard inRegion(StoreRecord record) {
    return new RecordGuard(here.store, Map.of("there", there.store), record, ADOPT);
  }

  private static Optional<Item> record(Place place) {
    return place.memory.get(RECORD, Consistency.STRONG);
  }

  private static Optional<String> technique(Place place) {
    return record(place).flatMap(item -> item.text("technique"));
  }

  @Test
  void comparingWritesNoRecord() {
    assertEquals(Optional.empty(), alone(ONE).compare());
    assertEquals(Optional.empty(), record(here));
    new AtomicAdd(here.store).add(new Add("likes", 1, null));
    String why = alone(ONE).compare().orElseThrow();
    assertTrue(why.contains("no record") && why.endsWith("run: " + ADOPT), why);
  }

  @Test
  void countersOfAVerificationNeedNoRecord() {
    AtomicAdd counters = new AtomicAdd(here.store);
    counters.add(new Add(CounterItems.VERIFICATION + "1/2", 1, null));
    assertEquals(Optional.empty(), alone(ONE).compare());
    counters.add(new Add("quipu", 1, null));
    assertTrue(alone(ONE).compare().isPresent());
  }

  @Test
  void countersAfterThoseOfAVerificationNeedOne() {
    AtomicAdd counters = new AtomicAdd(here.store);
    counters.add(new Add(CounterItems.VERIFICATION + "1/2", 1, null));
    counters.add(new Add("quipu-verify0", 1, null));
    assertTrue(alone(ONE).compare().isPresent());
  }

  @Test
  void comparingLetsWritesThroughForALeaseIfTheRecordAgrees() {
    assertEquals(Optional.empty(), alone(ONE).check());
    RecordGuard guard = alone(ONE);
    assertTrue(guard.impediment().isPresent());
    assertEquals(Optional.empty(), guard.compare());
    clock.advance(RecordGuard.LEASE.minusNanos(1));
    assertEquals(Optional.empty(), guard.impediment());
    clock.advance(Duration.ofNanos(1));
    assertEquals(
        Optional.of(
            "writes are rejected: the store record could not be read for 15 s, the"
                + " limit; they resume when it can be read"),
        guard.impediment());
  }

  @Test
  void comparingShowsWhatDiffersAndLetsNoWriteThrough() {
    assertEquals(Optional.empty(), alone(ONE).check());
    RecordGuard other = alone(OTHER);
    String why = other.compare().orElseThrow();
    String difference = "technique: record atomic-add, this process token-set";
    assertTrue(why.contains("the record of the store: " + difference + ". "), why);
    assertTrue(other.impediment().isPresent());
  }

  @Test
  void aGuardThatIsNotStartedCanBeClosed() {
    RecordGuard guard = alone(ONE);
    assertDoesNotThrow(guard::close);
  }

  @Test
  void aStartedGuardIsClosed() {
    RecordGuard guard = alone(ONE);
    guard.start();
    assertDoesNotThrow(guard::close);
  }

  // ---- the first record

  @Test
  void aRecordWhoseReplyIsLostIsReadAgain() {
    here.answer = Optional.of(new OutcomeUnknownException(Reason.TIMEOUT, "a reply is lost", null));
    assertEquals(Optional.empty(), alone(ONE).check());
    assertEquals(Optional.of("atomic-add"), technique(here));
  }

  @Test
  void aRecordThatIsRejectedIsReportedAsThat() {
    here.beforeWrite =
        () -> {
          throw new NotAppliedException(Reason.DENIED, "read only");
        };
    RecordGuard guard = alone(ONE);
    QuipuException e = assertThrows(QuipuException.class, guard::check);
    assertEquals(Reason.DENIED, e.reason());
    assertEquals("read only", e.getMessage());
    assertTrue(guard.impediment().isPresent());
  }

  @Test
  void aRecordThatIsLostOnceWrittenIsNotTakenForOne() {
    here.beforeWrite =
        () -> {
          throw new OutcomeUnknownException(Reason.TIMEOUT, "a request is lost", null);
        };
    QuipuException e = assertThrows(QuipuException.class, () -> alone(ONE).check());
    assertEquals(Reason.UNAVAILABLE, e.reason());
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
  }

  @Test
  void whoIsSecondToWriteTheRecordComparesIt() {
    here.beforeWrite = () -> alone(OTHER).check();
    assertTrue(alone(ONE).check().isPresent());
    assertEquals(Optional.of("token-set"), technique(here));
  }

  // ---- regions

  @Test
  void aRegionGetsItsFirstRecordIfAnotherHasAnEqualOne() {
    assertEquals(Optional.empty(), new RecordGuard(there.store, ONE, ADOPT).check());
    assertEquals(Optional.empty(), inRegion(ONE).compare());
    assertEquals(Optional.empty(), inRegion(ONE).check());
    assertEquals(record(there).orElseThrow().fields(), record(here).orElseThrow().fields());
  }

  @Test
  void aRegionGetsNoRecordThatDiffersFromAnothers() {
    assertEquals(Optional.empty(), new RecordGuard(there.store, OTHER, ADOPT).check());
    for (Optional<String> found : List.of(inRegion(ONE).compare(), check(ONE))) {
      String why = found.orElseThrow();
      assertTrue(why.contains("the record of region there: technique: record token-set"), why);
    }
    assertEquals(Optional.empty(), record(here));
  }

  private Optional<String> check(StoreRecord record) {
    return inRegion(record).check();
  }

  @Test
  void aRegionGetsNoRecordWhileNoOtherShowsOneAndOneIsSilent() {
    there.isSilent = true;
    String why = check(ONE).orElseThrow();
    assertEquals(
        "the store of this region has no record, no other region has one, and these do not"
            + " respond: there (no answer). Retry when they do",
        why);
    assertEquals(Optional.empty(), record(here));
    there.isSilent = false;
    assertEquals(Optional.empty(), check(ONE));
    assertEquals(Optional.of("atomic-add"), technique(here));
  }

  @Test
  void aSilentRegionDoesNotMatterIfAThirdHasAnEqualRecord() {
    Place third = new Place();
    assertEquals(Optional.empty(), new RecordGuard(third.store, ONE, ADOPT).check());
    there.isSilent = true;
    Map<String, Store> others = Map.of("there", there.store, "third", third.store);
    assertEquals(Optional.empty(), new RecordGuard(here.store, others, ONE, ADOPT).check());
    assertEquals(Optional.of("atomic-add"), technique(here));
  }

  /** Two regions begin at the same time, with different values. */
  @Test
  void aRecordThatAnotherRegionWroteMeanwhileIsSeen() {
    here.beforeWrite = () -> new RecordGuard(there.store, OTHER, ADOPT).check();
    String why = check(ONE).orElseThrow();
    assertTrue(why.contains("the record of region there"), why);
  }

  @Test
  void aProcessForOneRegionIsRejectedByARecordOfSeveral() {
    RecordGuard.requireOneRegion(here.store);
    assertEquals(Optional.empty(), alone(ONE).check());
    RecordGuard.requireOneRegion(here.store);
    StoreRecord regional = StoreRecord.inRegions(List.of("eu", "us"), RegionOptions.DEFAULT);
    assertEquals(Optional.empty(), new RecordGuard(there.store, regional, ADOPT).check());
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class, () -> RecordGuard.requireOneRegion(there.store));
    assertTrue(String.valueOf(e.getMessage()).contains("one of several regions"), e.getMessage());
  }

  // ---- without a guard

  @Test
  void aProcessWithoutAGuardMayHaveAnotherWindowAndNothingElse() {
    RecordGuard.require(here.store, ONE);
    StoreRecord day = StoreRecord.of(MarkerItem.SPEC, Optional.of(Duration.ofDays(1)));
    assertEquals(Optional.empty(), alone(day).check());
    RecordGuard.require(here.store, StoreRecord.of(MarkerItem.SPEC, Optional.empty()));
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> RecordGuard.require(here.store, ONE));
    assertEquals(
        "configuration of this process differs from the store record: technique: record"
            + " marker-item, this process atomic-add",
        e.getMessage());
  }

  // ---- adoption

  @Test
  void adoptingTheRecordThatIsThereChangesNothing() throws Exception {
    assertEquals(Optional.empty(), alone(ONE).check());
    long before = clock.nanoTime();
    Optional<Item> item = record(here);
    assertEquals(Optional.of(ONE.toString()), RecordGuard.adopt(here.store, ONE));
    assertEquals(item, record(here));
    assertEquals(before, clock.nanoTime());
  }

  @Test
  void anAdoptionIsRepeatedIfAnotherProcessWritesTheFirstRecord() {
    here.beforeWrite = () -> alone(ONE).check();
    checkAnotherWasFirst();
    assertEquals(Optional.of("atomic-add"), technique(here));
  }

  @Test
  void anAdoptionIsRepeatedIfAnotherProcessChangesTheRecord() {
    assertEquals(Optional.empty(), alone(ONE).check());
    here.beforeWrite = this::change;
    checkAnotherWasFirst();
    assertEquals(Optional.of("changed"), technique(here));
  }

  @Test
  void anAdoptionIsRepeatedIfTheRecordChangesWhileItWaits() {
    assertEquals(Optional.empty(), alone(ONE).check());
    here.beforeWrite = () -> here.beforeWrite = this::change;
    checkAnotherWasFirst();
    assertEquals(Optional.of("changed"), technique(here));
  }

  private void change() {
    Map<String, Field> fields = Map.of("technique", new Field.Text("changed"));
    here.memory.write(new Write.Put(RECORD, fields, Optional.empty(), Condition.always()));
  }

  private void checkAnotherWasFirst() {
    QuipuException e =
        assertThrows(QuipuException.class, () -> RecordGuard.adopt(here.store, OTHER));
    assertEquals(Reason.THROTTLED, e.reason());
    assertEquals("another process changed the store record; run it again", e.getMessage());
  }
}
