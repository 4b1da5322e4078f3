package dev.quipu.appengine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * 32 writers of four processes number records on App Engine's datastore, each in its own entity
 * group, with eventually consistent queries, lost replies to commits, and crashes during calls.
 */
final class SequenceFaultTest {
  private static final long SEED = Long.getLong("seed", 20_261_121L);
  private static final String SERIES = "invoices/2027";
  private static final int PROCESSES = 4;
  private static final int WRITERS = 32;
  private static final int RECORDS = 10;

  private final Map<String, Long> returned = new ConcurrentHashMap<>();
  private final AtomicInteger deaths = new AtomicInteger();
  private final AtomicReferenceArray<SequenceOfRecords> processes =
      new AtomicReferenceArray<>(PROCESSES);

  @Test
  void theSeriesHasNoGapAndEachRequestOneNumber() throws Exception {
    OneAtATime calls = Stubs.startCalls();
    calls.fail(0.05, 0.01, Randomness.seeded(SEED));
    for (int i = 0; i < PROCESSES; i++) {
      processes.set(i, process());
    }
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        running.add(executor.submit(() -> write(writer)));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    calls.fail(0, 0, Randomness.seeded(SEED));
    SequenceOfRecords sequence = process();
    List<Long> numbers = new ArrayList<>();
    Map<String, Long> stored = new HashMap<>();
    for (NumberedRecord record : sequence.page(SERIES, 1, SequenceOfRecords.PAGE_MAX)) {
      numbers.add(record.number());
      stored.put(record.id(), record.number());
    }
    assertEquals(LongStream.rangeClosed(1, WRITERS * (long) RECORDS).boxed().toList(), numbers);
    assertEquals(returned, stored);
    assertEquals(WRITERS * (long) RECORDS, sequence.last(SERIES));
    assertTrue(calls.lost() > 0, "no reply was lost, so this run is void");
    assertTrue(deaths.get() >= PROCESSES, "only " + deaths + " died, so this run is void");
  }

  private static SequenceOfRecords process() {
    return new SequenceOfRecords(
        new Store(AppEngineDriver.withItemsAsGroups(Stubs.datastore()), Clock.system()));
  }

  private void write(int writer) {
    int process = writer % PROCESSES;
    for (int record = 0; record < RECORDS; record++) {
      RequestId id = RequestId.of("writer " + writer + " record " + record);
      while (!returned.containsKey(id.bits())) {
        try {
          returned.put(id.bits(), processes.get(process).add(SERIES, "", id).number());
        } catch (OneAtATime.Death e) {
          deaths.incrementAndGet();
          processes.set(process, process());
        } catch (QuipuException e) {
          assertTrue(e.reason().isTemporary(), e::toString);
        }
      }
    }
  }
}
