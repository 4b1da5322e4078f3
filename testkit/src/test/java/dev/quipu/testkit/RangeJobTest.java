package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.sequence.RangeJob;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each number is processed once, by workers that crash. */
final class RangeJobTest {
  private static final int RECORDS = 100_000;
  private static final int RANGES = 64;
  private static final int WORKERS = 8;
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** Returns the task of a job with one range, of a worker with a script of events. */
  private static RangeJob.Task task(CallScript script, MemoryDriver driver, RetryPolicy policy) {
    Store store =
        new Store(script.around(driver), new ManualClock(0), Randomness.seeded(1), policy);
    return new RangeJob(store, "job", 10, 1).take(LEASE).orElseThrow();
  }

  private static void rejectsNext(CallScript script, Reason reason) {
    script.before(
        CallScript.to("job/"),
        () -> {
          throw new NotAppliedException(reason, "simulated: rejected");
        });
  }

  @Test
  void aStepWhoseReplyWasLostIsTheOwnOne() {
    CallScript script = new CallScript();
    RangeJob.Task task = task(script, new MemoryDriver(), RetryPolicy.DEFAULT);
    RequestId first = task.request();
    script.replyLost(CallScript.to("job/"));
    assertTrue(task.done(List.of()));
    assertTrue(script.isDone());
    assertEquals(2, task.next().orElseThrow());
    assertNotEquals(first, task.request());
  }

  @Test
  void aStepThatMayHaveBeenIsUnknown() {
    CallScript script = new CallScript();
    RetryPolicy once =
        new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));
    RangeJob.Task task = task(script, new MemoryDriver(), once);
    script.replyLost(CallScript.to("job/"));
    QuipuException e = assertThrows(QuipuException.class, () -> task.done(List.of()));
    assertEquals(Outcome.UNKNOWN, e.outcome());
    assertFalse(task.done(List.of()), "a new call does not know that it was its own");
  }

  @Test
  void aStepThatIsRejectedIsNotUnknown() {
    CallScript script = new CallScript();
    RangeJob.Task task = task(script, new MemoryDriver(), RetryPolicy.DEFAULT);
    rejectsNext(script, Reason.DENIED);
    QuipuException e = assertThrows(QuipuException.class, () -> task.done(List.of()));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(Reason.DENIED, e.reason());
    assertTrue(task.done(List.of()));
  }

  @Test
  void aRejectionThatPassesIsRepeated() {
    CallScript script = new CallScript();
    RangeJob.Task task = task(script, new MemoryDriver(), RetryPolicy.DEFAULT);
    rejectsNext(script, Reason.THROTTLED);
    assertTrue(task.done(List.of()));
  }

  @Test
  void eachRecordIsProcessedOnceByWorkersThatDie() throws Exception {
    Run run = new Run(1);
    run.go();
    assertEquals(List.of(), run.wrong);
    assertTrue(run.crashes > 100, "only " + run.crashes + " crashes");
  }

  private static final class Run extends FaultyRun<MemoryDriver> {
    Run(long seed) {
      super(seed, (time, random) -> new MemoryDriver(), 0.02, Duration.ofMillis(1), 3);
    }

    void go() throws InterruptedException {
      List<Runnable> workers = new ArrayList<>();
      for (int i = 0; i < WORKERS; i++) {
        workers.add(this::work);
      }
      run(workers);
      for (int number = 1; number <= RECORDS; number++) {
        long times =
            driver
                .get(effect(number), Consistency.STRONG)
                .map(item -> item.number(Item.VALUE))
                .orElse(0L);
        if (times != 1) {
          wrong.add("number %d was processed %d times".formatted(number, times));
        }
      }
    }

    private static Key effect(long number) {
      return new Key("processed", Long.toString(number));
    }

    /** Runs one worker after the other, each of which crashes at some call. */
    private void work() {
      while (true) {
        RangeJob job = new RangeJob(crashing(700), random, "job", RECORDS, RANGES);
        try {
          Optional<RangeJob.Task> task = job.take(LEASE);
          if (task.isEmpty() && job.isDone()) {
            return;
          }
          task.ifPresentOrElse(this::workThrough, () -> time.sleep(LEASE));
        } catch (ProcessCrash.Crash e) {
          crashes++;
        } catch (QuipuException e) {
          time.sleep(Duration.ofMillis(10));
        }
      }
    }

    private void workThrough(RangeJob.Task task) {
      boolean goesOn = true;
      while (goesOn && task.next().isPresent()) {
        Write once =
            new Write.Update(
                effect(task.next().getAsLong()),
                List.of(new Change.Add(Item.VALUE, 1)),
                Condition.always());
        goesOn = task.done(List.of(once));
      }
      task.close();
    }
  }
}
