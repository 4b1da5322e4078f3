package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.testkit.pace.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Thirty-two writers that number records on a store that loses requests and replies, and that crash
 * at any of their calls: many seeds, on stores with more and fewer capabilities.
 */
final class SequenceFaultTest {
  private static final int SEEDS = Soak.seeds(20);
  private static final int WRITERS = 32;
  private static final int RECORDS = 5;
  private static final String SERIES = "series";

  static Stream<Set<Capability>> stores() {
    Set<Capability> all = new MemoryDriver().profile().capabilities();
    Set<Capability> noBatch = EnumSet.copyOf(all);
    noBatch.removeAll(Set.of(Capability.ATOMIC_BATCH, Capability.TOKEN_BATCH));
    Set<Capability> noOrder = EnumSet.copyOf(noBatch);
    noOrder.remove(Capability.ORDERED_SCAN);
    Set<Capability> eventual = EnumSet.copyOf(all);
    eventual.remove(Capability.ORDERED_SCAN);
    eventual.add(Capability.EVENTUAL_SCAN);
    return Stream.of(all, noBatch, noOrder, eventual);
  }

  @ParameterizedTest
  @MethodSource("stores")
  void theSeriesHasNoGapAndEachRequestOneNumber(Set<Capability> capabilities) throws Exception {
    long crashes = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, capabilities);
      run.go();
      assertEquals(List.of(), run.wrong, "seed " + seed);
      crashes += run.crashes;
    }
    assertTrue(crashes > SEEDS * WRITERS / 4, "only " + crashes + " crashes");
  }

  private static final class Run extends FaultyRun<LimitedDriver> {
    private final Map<String, Long> given = new HashMap<>();

    Run(long seed, Set<Capability> capabilities) {
      super(
          seed,
          (time, random) -> new LimitedDriver(new MemoryDriver(), capabilities),
          0.05,
          Duration.ofMillis(1),
          9);
    }

    void go() throws InterruptedException {
      List<Runnable> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        writers.add(() -> write(writer));
      }
      run(writers);
      SequenceOfRecords sequence = new SequenceOfRecords(store(driver), random);
      long last = sequence.last(SERIES);
      List<NumberedRecord> all = sequence.page(SERIES, 1, SequenceOfRecords.PAGE_MAX);
      if (!all.stream()
          .map(NumberedRecord::number)
          .toList()
          .equals(LongStream.rangeClosed(1, last).boxed().toList())) {
        wrong.add("numbers have a gap before " + last);
      }
      Map<String, Long> stored = new HashMap<>();
      for (NumberedRecord record : all) {
        Long other = stored.put(record.id(), record.number());
        if (other != null) {
          wrong.add("one request has " + other + " and " + record.number());
        }
      }
      given.forEach((id, number) -> {
        if (!number.equals(stored.get(id))) {
          wrong.add("a request was given " + number + ", and has " + stored.get(id));
        }
      });
      if (given.size() != WRITERS * RECORDS) {
        wrong.add("only " + given.size() + " requests were answered");
      }
    }

    /** Writes each request until its outcome is known, by one process after the other. */
    private void write(int writer) {
      Optional<SequenceOfRecords> process = Optional.empty();
      for (int i = 0; i < RECORDS; i++) {
        RequestId id = RequestId.of("writer " + writer + " record " + i);
        while (!given.containsKey(id.bits())) {
          if (process.isEmpty()) {
            process = Optional.of(process());
          }
          try {
            given.put(id.bits(), process.get().add(SERIES, "", id).number());
          } catch (ProcessCrash.Crash e) {
            crashes++;
            process = Optional.empty();
          } catch (QuipuException e) {
            time.sleep(Duration.ofMillis(5));
          }
        }
      }
    }

    private SequenceOfRecords process() {
      return new SequenceOfRecords(crashing(80), random);
    }
  }
}
