package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.FailingFile;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.environment.Threads;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fails the n-th call to the disk, for every n, once or permanently. */
final class FailingDiskTest {
  private static final int ADDS = 30;

  @TempDir Path temporary;

  /** Fails the n-th write or sync; a failed write leaves half of its bytes on disk. */
  private static final class FailingDisk extends ForwardingDisk {
    private final int failAt;
    private final boolean forEver;
    private final AtomicInteger calls = new AtomicInteger();

    FailingDisk(int failAt, boolean forEver) {
      super(new FileDisk());
      this.failAt = failAt;
      this.forEver = forEver;
    }

    private boolean fails() {
      int call = calls.incrementAndGet();
      return forEver ? call >= failAt : call == failAt;
    }

    @Override
    public DiskFile opened(DiskFile file) {
      return new FailingFile(file, this::fails);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nothingIsLostOrDuplicatedWhicheverCallFails(boolean forEver) {
    int fired = 0;
    for (int n = 1; n <= 160; n++) {
      Path directory = temporary.resolve("data-" + n);
      FailingDisk disk = new FailingDisk(n, forEver);
      @Nullable Outcome[] outcomes = run(directory, disk);
      fired += disk.calls.get() >= n ? 1 : 0;
      check(directory, outcomes, "call " + n);
    }
    assertTrue(fired > 60, "the fault fired only " + fired + " times");
  }

  /** Returns the outcome of each add; null for applied. */
  private static @Nullable Outcome[] run(Path directory, Disk disk) {
    @Nullable Outcome[] outcomes = new Outcome[ADDS];
    Arrays.fill(outcomes, Outcome.NOT_APPLIED);
    try (Engine engine =
        Engine.open(
            directory,
            EngineOptions.defaults().withLog(1 << 20, 1 << 21),
            new Environment(disk, Threads.PLATFORM))) {
      for (int i = 0; i < ADDS; i++) {
        try {
          engine.add(new Add("a", 1, RequestId.of("id-" + i)));
          outcomes[i] = null;
        } catch (QuipuException e) {
          outcomes[i] = e.outcome();
        }
        if (i == ADDS / 2) {
          try {
            engine.checkpoint();
          } catch (QuipuException e) {
            assertEquals(Outcome.NOT_APPLIED, e.outcome()); // the log is complete
          }
        }
      }
    } catch (QuipuException e) {
      return outcomes; // it did not even open: nothing was applied
    }
    return outcomes;
  }

  private static void check(Path directory, @Nullable Outcome[] outcomes, String what) {
    try (Engine engine =
        Engine.open(directory, EngineOptions.defaults().withLog(1 << 20, 1 << 21))) {
      long applied = 0;
      for (int i = 0; i < ADDS; i++) {
        boolean there =
            engine.outcome("a", RequestId.of("id-" + i)) instanceof RequestOutcome.Applied;
        applied += there ? 1 : 0;
        if (outcomes[i] == null) {
          assertTrue(there, what + ": acknowledged add " + i + " is lost");
        } else if (outcomes[i] == Outcome.NOT_APPLIED) {
          assertTrue(!there, what + ": rejected add " + i + " counts");
        }
      }
      assertEquals(applied, engine.read("a").map(reading -> reading.value()).orElse(0L), what);
    }
  }
}
