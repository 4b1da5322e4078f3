package dev.quipu.appengine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.appengine.api.datastore.DatastoreService;
import dev.quipu.layer.Store;
import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.time.Clock;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The calls to the datastore for a number and for the live count do not depend on the number of
 * records. Each is made by a new object, as of a process that has just started.
 */
final class SequenceCostTest {
  private static final int[] SIZES = {10, 100, 300};
  private static final int READS_MAX = 16;
  private static final String SERIES = "invoices/2027";

  private final OneAtATime calls = Stubs.startCalls();
  private int records;

  /** How entities are grouped. */
  enum Groups {
    ITEMS,
    PARTITIONS;

    AppEngineDriver driver(DatastoreService service) {
      return switch (this) {
        case ITEMS -> AppEngineDriver.withItemsAsGroups(service);
        case PARTITIONS -> AppEngineDriver.withPartitionsAsGroups(service);
      };
    }
  }

  private static Store store(Groups groups) {
    return new Store(groups.driver(Stubs.datastore()), Clock.system());
  }

  /** Returns the calls of each method that an action makes. */
  private Map<String, Integer> callsOf(Runnable action) {
    Map<String, Integer> before = calls.calls();
    action.run();
    Map<String, Integer> made = new TreeMap<>(calls.calls());
    before.forEach((method, times) -> made.merge(method, -times, Integer::sum));
    made.values().removeIf(times -> times == 0);
    return made;
  }

  private void addUntil(int size, Runnable add) {
    while (records < size) {
      add.run();
      records++;
    }
  }

  @ParameterizedTest
  @EnumSource(Groups.class)
  void aNumberCostsTheSameCallsHoweverManyRecordsThereAre(Groups groups) {
    Store store = store(groups);
    SequenceOfRecords filling = new SequenceOfRecords(store);
    for (int size : SIZES) {
      addUntil(size, () -> filling.add(SERIES, ""));
      SequenceOfRecords started = new SequenceOfRecords(store);
      Map<String, Integer> made =
          callsOf(() -> assertEquals(records + 1, started.add(SERIES, "").number()));
      records++;
      // An eventually consistent query may miss the newest records, which are then read.
      int reads = Objects.requireNonNullElse(made.remove("Get"), 0);
      assertTrue(reads <= (groups == Groups.ITEMS ? READS_MAX : 1), size + ": " + reads);
      assertEquals(
          Map.of("RunQuery", 1, "BeginTransaction", 1, "Put", 1, "Commit", 1),
          made,
          "with %d records".formatted(size));
    }
  }

  @Test
  void theCountIsOneQueryHoweverManyRevisionsThereAre() {
    Store store = store(Groups.PARTITIONS);
    RevisionLog filling = new RevisionLog(store);
    for (int size : SIZES) {
      addUntil(size, () -> filling.write(SERIES, "entity " + records, Revision.Kind.INSERT, ""));
      assertEquals(
          Map.of("RunQuery", 1),
          callsOf(() -> assertEquals(records, new RevisionLog(store).count(SERIES))),
          "with %d revisions".formatted(size));
    }
  }
}
