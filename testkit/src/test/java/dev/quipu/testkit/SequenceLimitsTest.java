package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Limits;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.sequence.RangeJob;
import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.sequence.SequenceWithGaps;
import dev.quipu.sequence.UniqueValues;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreProfile.Capability;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Sequences, revisions, jobs and unique values name the invalid part of their input. */
final class SequenceLimitsTest {
  private static final String LONG_NAME = "x".repeat(Limits.NAME_BYTES_MAX);
  private static final String PAYLOAD = "x".repeat(SequenceOfRecords.PAYLOAD_BYTES_MAX);

  private final MemoryDriver driver = new MemoryDriver();
  private final Store store = new Store(driver, new ManualClock(0));
  private final SequenceOfRecords records = new SequenceOfRecords(store);
  private final RevisionLog log = new RevisionLog(store);
  private final UniqueValues values = new UniqueValues(store);

  /** Checks that valid input is accepted, and the field of invalid input is named. */
  private static void check(String field, String right, String wrong, Consumer<String> call) {
    call.accept(right);
    for (String each : List.of(wrong, "", "\u0000")) {
      if (!each.isEmpty() || !field.equals("payload")) {
        IllegalArgumentException e =
            assertThrows(IllegalArgumentException.class, () -> call.accept(each));
        assertTrue(String.valueOf(e.getMessage()).startsWith(field), e.getMessage());
      }
    }
  }

  @Test
  void recordsNameTheFieldThatIsWrong() {
    String series = LONG_NAME;
    records.add("s", "first");
    check("series", series, series + "x", each -> records.add(each, ""));
    check("series", series, series + "x", records::last);
    check("series", series, series + "x", each -> records.find(each, 1));
    check("series", series, series + "x", each -> records.page(each, 1, 1));
    check("series", series, series + "x", each -> records.voidNumber(each, 1, "why"));
    String reason = "x".repeat(Limits.REASON_BYTES_MAX);
    check("reason", reason, reason + "x", each -> records.voidNumber("s", 1, each));
    assertThrows(IllegalArgumentException.class, () -> records.add("s", PAYLOAD + "x"));
    assertEquals(2, records.add("s", PAYLOAD).number());
  }

  @Test
  void pagesHaveLimits() {
    records.add("s", "first");
    assertEquals(1, records.page("s", 1, SequenceOfRecords.PAGE_MAX).size());
    for (Runnable wrong :
        List.<Runnable>of(
            () -> records.page("s", 0, 1),
            () -> records.page("s", 1, 0),
            () -> records.page("s", 1, SequenceOfRecords.PAGE_MAX + 1))) {
      assertThrows(IllegalArgumentException.class, wrong::run);
    }
  }

  @Test
  void revisionsNameTheFieldThatIsWrong() {
    String name = LONG_NAME;
    check("series", name, name + "x", each -> log.write(each, "e", Revision.Kind.INSERT, ""));
    check("entity", name, name + "x", each -> log.write("s", each, Revision.Kind.INSERT, ""));
    check("series", name, name + "x", log::newest);
    check("series", name, name + "x", log::count);
    check("series", name, name + "x", each -> log.revision(each, 1));
    check("series", name, name + "x", each -> log.current(each, "e"));
    check("entity", name, name + "x", each -> log.current("s", each));
    log.write("p", "e", Revision.Kind.INSERT, PAYLOAD);
    assertThrows(
        IllegalArgumentException.class,
        () -> log.write("p", "e", Revision.Kind.UPDATE, PAYLOAD + "x"));
  }

  @Test
  void valuesNameTheFieldThatIsWrong() {
    String property = "x".repeat(UniqueValues.PROPERTY_BYTES_MAX);
    String value = "x".repeat(UniqueValues.VALUE_BYTES_MAX);
    String owner = "x".repeat(UniqueValues.OWNER_BYTES_MAX);
    check("property", property, property + "x", each -> values.putUnique(each, "v", "o"));
    check("value", value, value + "x", each -> values.putUnique("p", each, "o"));
    check("owner", owner, owner + "x", each -> values.putUnique("p", "w", each));
    check("property", property, property + "x", each -> values.drop(each, "v", "o"));
    check("value", value, value + "x", each -> values.owner("p", each));
  }

  @Test
  void aJobHasANameAndLimits() {
    check("name", LONG_NAME, LONG_NAME + "x", each -> new RangeJob(store, each, 1, 1));
    for (long[] wrong : new long[][] {{0, 1}, {1, 0}, {1, RangeJob.RANGES_MAX + 1}}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> new RangeJob(store, "job", wrong[0], (int) wrong[1]));
    }
    assertEquals(0, new RangeJob(store, "job", 20_000, RangeJob.RANGES_MAX).processed());
  }

  @Test
  void blocksHaveLimitsAndAreDrawnInTurn() {
    for (int wrong : new int[] {0, SequenceWithGaps.BLOCK_MAX + 1}) {
      assertThrows(IllegalArgumentException.class, () -> new SequenceWithGaps(store, wrong));
    }
    assertEquals(1, new SequenceWithGaps(store, SequenceWithGaps.BLOCK_MAX).next("large"));
    SequenceWithGaps ones = new SequenceWithGaps(store, 1);
    check("series", LONG_NAME, LONG_NAME + "x", ones::next);
    SequenceWithGaps threes = new SequenceWithGaps(store, 3);
    List<Long> drawn = LongStream.range(0, 7).mapToObj(each -> threes.next("s")).toList();
    assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 6L, 7L), drawn);
    assertEquals(10, ones.next("s"), "the block of 7 to 9 is drawn");
  }

  @Test
  void aStoreWithoutStrongReadsIsRejected() {
    Store weak = new Store(new LimitedDriver(driver, Set.of()), new ManualClock(0));
    Store strong =
        new Store(new LimitedDriver(driver, Set.of(Capability.STRONG_READ)), new ManualClock(0));
    List<Consumer<Store>> all =
        List.of(
            SequenceOfRecords::new,
            RevisionLog::new,
            UniqueValues::new,
            each -> new SequenceWithGaps(each, 1),
            each -> new RangeJob(each, "job", 1, 1));
    for (Consumer<Store> each : all) {
      assertThrows(IllegalArgumentException.class, () -> each.accept(weak));
    }
    assertThrows(IllegalArgumentException.class, () -> new RevisionLog(strong), "has no order");
  }
}
