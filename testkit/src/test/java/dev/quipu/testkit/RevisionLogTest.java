package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The count in the newest revision is correct, whatever came before. */
final class RevisionLogTest {
  private static final int OPERATIONS = 100_000;
  private static final int WRITERS = 8;
  private static final int ENTITIES = 200;
  private static final String SERIES = "customers";
  private static final List<Revision.Kind> KINDS = List.of(Revision.Kind.values());

  /** By writers that crash at any call, on a store that loses requests and replies. */
  @Test
  void theCountEqualsAFullCountAfterManyOperations() throws Exception {
    Run run = new Run(1);
    run.go();
    assertEquals(List.of(), run.wrong);
    assertTrue(run.crashes > 1_000, "only " + run.crashes + " crashes");
  }

  private static final class Run extends FaultyRun<MemoryDriver> {
    private int operations;

    Run(long seed) {
      super(seed, (time, random) -> new MemoryDriver(), 0.02, Duration.ofNanos(1), 9);
    }

    void go() throws InterruptedException {
      List<Runnable> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        writers.add(this::write);
      }
      run(writers);
      RevisionLog log = new RevisionLog(store(driver), random);
      Revision newest = log.newest(SERIES).orElseThrow();
      Set<String> there = new HashSet<>();
      for (long number = 1; number <= newest.number(); number++) {
        Revision revision = log.revision(SERIES, number).orElseThrow();
        boolean isChange =
            switch (revision.kind()) {
              case INSERT -> there.add(revision.entity());
              case UPDATE -> there.contains(revision.entity());
              case DELETE -> there.remove(revision.entity());
            };
        if (!isChange || revision.count() != there.size()) {
          wrong.add("revision %s does not follow: %d are there".formatted(revision, there.size()));
          return;
        }
      }
      if (newest.count() != there.size() || newest.number() < OPERATIONS / 3) {
        wrong.add("%s, %d are there".formatted(newest, there.size()));
      }
    }

    private void write() {
      while (operations < OPERATIONS) {
        RevisionLog log = new RevisionLog(crashing(600), random);
        try {
          while (operations < OPERATIONS) {
            operations++;
            String entity = "entity " + random.nextInt(ENTITIES);
            Revision.Kind kind = KINDS.get(random.nextInt(KINDS.size()));
            log.write(SERIES, entity, kind, "");
          }
        } catch (ProcessCrash.Crash e) {
          crashes++;
        } catch (QuipuException e) {
          time.sleep(Duration.ofMillis(1));
        }
      }
    }
  }
}
