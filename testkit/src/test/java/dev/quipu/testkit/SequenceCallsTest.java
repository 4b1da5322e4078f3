package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Number of calls to number a record: known numbers are not searched again. */
final class SequenceCallsTest {
  private static final String SERIES = "series";
  private static final RequestId ID = RequestId.of("id");

  private final ManualClock clock = new ManualClock(1_000_000);
  private final MemoryDriver memory = new MemoryDriver();
  private final SequenceOfRecords others = new SequenceOfRecords(new Store(memory, clock));
  private RecordingDriver recording = new RecordingDriver(memory);

  private SequenceOfRecords open(boolean hasBatches) {
    return open(hasBatches ? memory : noBatches(memory));
  }

  private SequenceOfRecords open(StoreDriver driver) {
    recording = new RecordingDriver(driver);
    return new SequenceOfRecords(new Store(recording, clock));
  }

  private static StoreDriver noBatches(StoreDriver driver) {
    Set<Capability> left = EnumSet.copyOf(driver.profile().capabilities());
    left.removeAll(Set.of(Capability.ATOMIC_BATCH, Capability.TOKEN_BATCH));
    return new LimitedDriver(driver, left);
  }

  private void addOthers(int count) {
    for (int i = 0; i < count; i++) {
      others.add(SERIES, "other " + i);
    }
  }

  private int scans() {
    return recording.callsOf("scan");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theHighestNumberIsLookedForOnce(boolean hasBatches) {
    SequenceOfRecords sequence = open(hasBatches);
    for (String series : List.of("a", "b")) {
      sequence.add(series, "first");
    }
    assertEquals(2, scans());
    for (String series : List.of("a", "b", "a", "b")) {
      sequence.add(series, "next");
    }
    List<String> calls = recording.calls();
    assertEquals(4, calls.size(), calls::toString);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theHighestNumberIsNotLookedForAfterItWasAskedFor(boolean hasBatches) {
    addOthers(30);
    SequenceOfRecords sequence = open(hasBatches);
    assertEquals(30, sequence.last(SERIES));
    recording.calls();
    assertEquals(31, sequence.add(SERIES, "own").number());
    assertEquals(1, recording.calls().size());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSeriesThatWasEmptyIsLookedAtAgain(boolean hasBatches) {
    SequenceOfRecords sequence = open(hasBatches);
    assertEquals(0, sequence.last(SERIES));
    addOthers(10);
    recording.calls();
    assertEquals(11, sequence.add(SERIES, "own").number());
    assertEquals(2, recording.calls().size(), "a scan and a write");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void afterSixteenNumbersOfOthersTheHighestIsLookedForAgain(boolean hasBatches) {
    SequenceOfRecords sequence = open(hasBatches);
    sequence.add(SERIES, "first");
    addOthers(40);
    recording.calls();
    assertEquals(42, sequence.add(SERIES, "own").number());
    List<String> calls = recording.calls();
    assertEquals(1, calls.stream().filter(call -> call.startsWith("scan")).count());
    assertEquals(17, calls.stream().filter(call -> call.startsWith("write")).count());
  }

  @Test
  void aRepeatIsLedToItsNumberByTheNoteAlone() {
    SequenceOfRecords sequence = open(false);
    assertEquals(new SequenceOfRecords.Numbered(1, false), sequence.add(SERIES, "own", ID));
    addOthers(5);
    recording.calls();
    assertEquals(new SequenceOfRecords.Numbered(1, true), sequence.add(SERIES, "own", ID));
    assertEquals(1, recording.callsOf("write"));
  }

  /** Loses updates of notes while enabled. */
  private static final class Notes implements InterceptingDriver.Interceptor {
    boolean areLost = true;
    Runnable afterFirst = () -> {};

    @Override
    public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      if (areLost && writes.getFirst() instanceof Write.Update) {
        throw new NotAppliedException(Reason.DENIED, "no notes");
      }
      WriteResult result = call.get();
      Runnable after = afterFirst;
      afterFirst = () -> {};
      after.run();
      return result;
    }
  }

  @Test
  void aRepeatFindsItsRecordFarAboveTheNumberInItsNote() {
    Notes notes = new Notes();
    SequenceOfRecords sequence = open(noBatches(new InterceptingDriver(memory, notes)));
    notes.afterFirst = () -> addOthers(40); // between the note and the record
    assertEquals(41, sequence.add(SERIES, "own", ID).number());
    addOthers(40);
    notes.areLost = false;
    assertEquals(new SequenceOfRecords.Numbered(41, true), sequence.add(SERIES, "own", ID));
    assertEquals(81, others.last(SERIES));
    recording.calls();
    assertEquals(new SequenceOfRecords.Numbered(41, true), sequence.add(SERIES, "own", ID));
    assertEquals(1, recording.callsOf("write"), "the note has the number now");
    assertEquals(new SequenceOfRecords.Conflict(41), sequence.add(SERIES, "another payload", ID));
  }
}
