package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.sequence.RangeJob;
import dev.quipu.sequence.RangeJobs;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.testkit.ConcurrentClients;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of {@link RangeJob} on every store with strong reads. */
public abstract class RangeJobsContract extends EmptyStoreFixture {
  private static final Duration LEASE = Duration.ofSeconds(30);

  private RangeJobs jobs;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openJobs before each test
  protected RangeJobsContract() {}

  @BeforeEach
  final void openJobs() {
    assumeTrue(driver.profile().has(Capability.STRONG_READ), "no strong reads");
    jobs = new RangeJobs(store);
  }

  private static List<Long> workThrough(RangeJob job) {
    List<Long> seen = new ArrayList<>();
    for (Optional<RangeJob.Task> task = job.take(LEASE); task.isPresent(); task = job.take(LEASE)) {
      while (task.get().next().isPresent()) {
        seen.add(task.get().next().getAsLong());
        assertTrue(task.get().done(List.of()));
      }
      task.get().close();
    }
    return seen;
  }

  @Test
  final void allNumbersAreProcessedOnceWhateverTheRanges() {
    for (int ranges : List.of(1, 3, 7, 50)) {
      RangeJob job = jobs.open("of " + ranges, 20, ranges);
      List<Long> seen = workThrough(job);
      assertEquals(LongStream.rangeClosed(1, 20).boxed().toList(), seen.stream().sorted().toList());
      assertTrue(job.isDone());
    }
  }

  @Test
  final void workersInParallelProcessEachNumberOnce() throws Exception {
    RangeJob job = jobs.open("job", 40, 8);
    List<List<Long>> seen =
        ConcurrentClients.run(4, client -> workThrough(jobs.open("job", 40, 8)));
    assertEquals(
        LongStream.rangeClosed(1, 40).boxed().toList(),
        seen.stream().flatMap(List::stream).sorted().toList());
    assertEquals(40, job.processed());
  }

  @Test
  final void aRangeHasOneWorkerUntilItsLeaseEnds() {
    RangeJob job = jobs.open("job", 10, 1);
    RangeJob.Task first = job.take(LEASE).orElseThrow();
    assertTrue(first.done(List.of()));
    assertEquals(Optional.empty(), job.take(LEASE));
    assertFalse(job.isDone());
    clock.advance(LEASE);
    RangeJob.Task second = job.take(LEASE).orElseThrow();
    assertEquals(2, second.next().orElseThrow());
    assertTrue(second.done(List.of()));
    assertFalse(first.done(List.of()), "the other is ahead");
    assertEquals(2, job.processed());
  }

  /** The writes of the processing are in the transaction that advances the range. */
  @Test
  final void effectsAreAppliedOnce() {
    assumeTrue(driver.profile().atomicity() == Atomicity.STORE, "no transactions over all items");
    RangeJob job = jobs.open("job", 4, 1);
    Key key = new Key("processed", "sum");
    Write add = new Write.Update(key, List.of(new Change.Add(Item.VALUE, 1)), Condition.always());
    RangeJob.Task first = job.take(LEASE).orElseThrow();
    clock.advance(LEASE);
    RangeJob.Task second = job.take(LEASE).orElseThrow();
    assertTrue(second.done(List.of(add)));
    assertFalse(first.done(List.of(add)), "the other is ahead");
    assertTrue(second.done(List.of(add)));
    assertEquals(2, store.get(key, Consistency.STRONG).orElseThrow().number(Item.VALUE));
  }

  /** A worker that has only text, such as a client over HTTP, continues its task. */
  @Test
  final void aTaskIsContinuedByItsHandle() {
    RangeJob job = jobs.open("job", 4, 2);
    RangeJob.Task task = job.take(LEASE).orElseThrow();
    long first = task.next().orElseThrow();
    assertTrue(job.resume(task.handle()).done(List.of()));
    RangeJob.Task again = jobs.find("job").orElseThrow().resume(task.handle());
    assertEquals(first + 1, again.next().orElseThrow());
    assertEquals(first + 1, again.last());
    again.close();
    assertEquals(3, workThrough(job).size());
    assertTrue(job.isDone());
    for (String malformed : List.of("", "1", "x y z", "2 1 a", "-1 1 a", "0 1 ", "0 1 a b")) {
      assertThrows(IllegalArgumentException.class, () -> job.resume(malformed), malformed);
    }
  }

  /** With other ranges, a number would be processed twice or never. */
  @Test
  final void aJobHasOnePlan() {
    RangeJob job = jobs.open("job", 10, 3);
    assertEquals(10, job.last());
    assertEquals(3, job.ranges());
    assertThrows(IllegalArgumentException.class, () -> jobs.open("job", 11, 3));
    assertThrows(IllegalArgumentException.class, () -> jobs.open("job", 10, 4));
    assertEquals(10, jobs.find("job").orElseThrow().last());
    assertEquals(Optional.empty(), jobs.find("another"));
    assertThrows(IllegalArgumentException.class, () -> jobs.open("other", 0, 1));
    assertThrows(IllegalArgumentException.class, () -> jobs.open("other", 1, 10_001));
    assertEquals(Optional.empty(), jobs.find("other"));
  }
}
