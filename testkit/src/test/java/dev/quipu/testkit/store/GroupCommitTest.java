package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.store.group.Group;
import dev.quipu.store.group.GroupCommit;
import dev.quipu.store.group.Member;
import dev.quipu.store.group.Sum;
import dev.quipu.testkit.pace.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Group commit of adds has the same results as serial execution. */
final class GroupCommitTest {
  private static final Key KEY = new Key("p", "s");

  private static Write add(long delta, Condition condition) {
    return new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, delta)), condition);
  }

  /** A row with controlled behavior. */
  private static final class Row implements GroupCommit.Table {
    private long value;
    private int statements;
    private boolean fails;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    private final Set<Key> markers = new HashSet<>();
    private Optional<Key> rejected = Optional.empty();
    private Optional<Function<List<Write>, WriteResult>> alone = Optional.empty();
    private boolean hadGroup;
    private Runnable during = () -> {};

    @Override
    public boolean accepts(Member member) {
      return true;
    }

    @Override
    public WriteResult alone(List<Write> writes) {
      return hadGroup && alone.isPresent() ? alone.get().apply(writes) : one(writes);
    }

    /** A group of one is executed like any other. */
    private WriteResult one(List<Write> writes) {
      Member member = Member.of(writes).orElseThrow();
      return write(new Group(member.key(), List.of(member))).getFirst().orElseThrow();
    }

    @Override
    public List<Optional<WriteResult>> write(Group group) {
      hadGroup |= group.members().size() > 1;
      if (group.markers().stream().anyMatch(put -> rejected.equals(Optional.of(put.key())))) {
        throw new NotAppliedException(Reason.INVALID, "invalid text");
      }
      Set<Key> inserted = group.markers().stream().map(Write::key).collect(Collectors.toSet());
      inserted.removeAll(markers);
      Map<Key, Item> existing =
          group.markersOutside(inserted).stream()
              .collect(
                  Collectors.toMap(
                      key -> key,
                      key -> new Item(key, Map.of(), new Version("m"), Optional.empty())));
      Optional<Item> after = group.sum(inserted).flatMap(sum -> add(group.key(), sum));
      if (after.isPresent()) {
        markers.addAll(inserted);
      }
      return group.results(inserted, after, existing);
    }

    private Optional<Item> add(Key key, Sum sum) {
      statements++;
      begun.countDown();
      awaitUninterrupted(goOn);
      during.run();
      if (fails && statements > 1) {
        throw new OutcomeUnknownException(Reason.TIMEOUT, "no answer", null);
      }
      if (!sum.allows(value)) {
        return Optional.empty();
      }
      value += sum.delta();
      return Optional.of(
          new Item(
              key,
              Map.of(Item.VALUE, new Field.Number(value)),
              new Version("v" + statements),
              Optional.empty()));
    }
  }

  private static GroupCommit groups(Row row) {
    return new GroupCommit("table", row, 1, 1_000, Progress.STALL_MAX);
  }

  private static GroupCommit groups(Row row, Function<List<Write>, WriteResult> alone) {
    row.alone = Optional.of(alone);
    return groups(row);
  }

  private static boolean waits(Thread thread) {
    Thread.State state = thread.getState();
    return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
  }

  /** Waits until these callers wait, the first one for the row. */
  private static void awaitWaiting(List<Thread> callers, int count) {
    while (callers.size() < count || !callers.stream().allMatch(GroupCommitTest::waits)) {
      Thread.onSpinWait();
    }
  }

  private static WriteResult write(GroupCommit groups, Write... writes) {
    return groups.write(List.of(writes));
  }

  /** Executes adds of several callers; the first stays in progress until all others wait. */
  private static List<Future<WriteResult>> together(
      Row row, GroupCommit groups, List<Write> writes, ExecutorService executor) throws Exception {
    return batches(row, groups, writes.stream().map(List::of).toList(), executor);
  }

  private static List<Future<WriteResult>> batches(
      Row row, GroupCommit groups, List<List<Write>> writes, ExecutorService executor)
      throws Exception {
    List<Thread> callers = Collections.synchronizedList(new ArrayList<>());
    List<Future<WriteResult>> running = new ArrayList<>();
    for (List<Write> write : writes) {
      running.add(
          executor.submit(() -> {
            callers.add(Thread.currentThread());
            return write(groups, write.toArray(Write[]::new));
          }));
      if (running.size() == 1) {
        row.begun.await();
      }
    }
    awaitWaiting(callers, writes.size());
    row.goOn.countDown();
    return running;
  }

  @Test
  void waitingAddsAreOneStatementAndEachGetsItsOwnValue() throws Exception {
    Row row = new Row();
    GroupCommit groups = groups(row, write -> new WriteResult.Applied(Optional.empty()));
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      writes.add(add(1, Condition.always()));
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(20)) {
      List<Long> values = new ArrayList<>();
      List<Version> versions = new ArrayList<>();
      for (Future<WriteResult> each : together(row, groups, writes, executor)) {
        Item after = assertInstanceOf(WriteResult.Applied.class, each.get()).after().orElseThrow();
        values.add(after.number(Item.VALUE));
        if (after.number(Item.VALUE) != 20) {
          versions.add(after.version());
        }
      }
      assertEquals(20, values.stream().distinct().count());
      assertEquals(20, row.value);
      assertEquals(2, row.statements);
      versions.remove(new Version("v1"));
      versions.forEach(between -> assertNotEquals(new Version("v2"), between));
    }
  }

  /** Two callers add again as soon as their group ends: both adds are in one group again. */
  @Test
  void callersThatComeBackAreInTheNextGroup() throws Exception {
    Row row = new Row();
    GroupCommit groups =
        new GroupCommit(
            "table", row, 1, 1_000, Progress.STALL_MAX, nanos -> Progress.STALL_MAX.toNanos());
    List<Write> writes = Collections.nCopies(3, add(1, Condition.always()));
    try (ExecutorService executor = Executors.newFixedThreadPool(3)) {
      for (Future<WriteResult> each : together(row, groups, writes, executor)) {
        each.get(); // the first by itself, then the other two
      }
      assertEquals(2, row.statements);
      for (int round = 3; round < 50; round++) {
        Future<WriteResult> other =
            executor.submit(() -> write(groups, add(1, Condition.always())));
        write(groups, add(1, Condition.always()));
        other.get();
        assertEquals(round, row.statements);
      }
    }
    assertEquals(3 + 2 * 47, row.value);
  }

  @Test
  void ifTheGroupIsImpossibleEachIsExecutedAlone() throws Exception {
    Row row = new Row();
    AtomicInteger alone = new AtomicInteger();
    GroupCommit groups =
        groups(
            row,
            write -> {
              alone.incrementAndGet();
              return new WriteResult.Applied(Optional.empty());
            });
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      writes.add(add(1, new Condition.Within(Item.VALUE, 0, 5)));
    }
    row.value = 1;
    try (ExecutorService executor = Executors.newFixedThreadPool(6)) {
      for (Future<WriteResult> each : together(row, groups, writes, executor)) {
        each.get();
      }
    }
    assertEquals(5, alone.get());
    assertEquals(2, row.value);
  }

  @Test
  void aFailureIsEveryonesAndTheNextGoOn() throws Exception {
    Row row = new Row();
    row.fails = true;
    GroupCommit groups = groups(row);
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      writes.add(add(1, Condition.always()));
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(6)) {
      int unknown = 0;
      for (Future<WriteResult> each : together(row, groups, writes, executor)) {
        try {
          each.get();
        } catch (ExecutionException e) {
          assertEquals(
              Outcome.UNKNOWN, assertInstanceOf(QuipuException.class, e.getCause()).outcome());
          unknown++;
        }
      }
      assertEquals(5, unknown);
    }
    assertThrows(QuipuException.class, () -> write(groups, writes.getFirst()));
  }

  private static Write marker(String id) {
    return new Write.Put(
        new Key("p", "m" + id), Map.of(), Optional.empty(), new Condition.Absent());
  }

  private static List<WriteResult> results(Row row, GroupCommit groups, List<List<Write>> batches)
      throws Exception {
    List<WriteResult> results = new ArrayList<>();
    try (ExecutorService executor = Executors.newFixedThreadPool(batches.size())) {
      for (Future<WriteResult> each : batches(row, groups, batches, executor)) {
        results.add(each.get());
      }
    }
    return results;
  }

  /** A repeat, and a duplicate request in a group, do not affect the others. */
  @Test
  void aGroupCountsThoseWhoseMarkerIsNew() throws Exception {
    Row row = new Row();
    row.markers.add(marker("old").key());
    Write add = add(1, Condition.always());
    List<List<Write>> batches =
        List.of(
            List.of(marker("a"), add),
            List.of(marker("b"), add),
            List.of(marker("old"), add),
            List.of(marker("c"), add),
            List.of(add),
            List.of(marker("c"), add));
    List<WriteResult> results = results(row, groups(row), batches);
    for (int i : List.of(0, 1, 4)) {
      assertInstanceOf(WriteResult.Applied.class, results.get(i), "" + i);
    }
    WriteResult.ConditionFailed replayed =
        assertInstanceOf(WriteResult.ConditionFailed.class, results.get(2));
    assertEquals(marker("old").key(), replayed.key());
    // Of duplicates, the first one counts.
    assertNotEquals(results.get(3).getClass(), results.get(5).getClass());
    assertEquals(4, row.value);
    assertTrue(row.statements <= 3, "not executed as a group: " + row.statements);
  }

  @Test
  void addsThatWaitTooLongAreRejectedBeforeTheyAreSent() throws Exception {
    Row row = new Row();
    GroupCommit groups = new GroupCommit("table", row, 1, 1_000, Duration.ofMillis(20));
    Write add = add(1, Condition.always());
    try (ExecutorService executor = Executors.newFixedThreadPool(1)) {
      Future<WriteResult> first = executor.submit(() -> write(groups, add));
      row.begun.await();
      QuipuException late = assertThrows(QuipuException.class, () -> write(groups, add));
      assertEquals(Outcome.NOT_APPLIED, late.outcome());
      assertEquals(Reason.THROTTLED, late.reason());
      row.goOn.countDown();
      first.get();
    }
    write(groups, add);
    assertEquals(2, row.value);
  }

  @Test
  void anInvalidMemberOfAGroupIsExecutedAlone() throws Exception {
    Row row = new Row();
    row.rejected = Optional.of(marker("bad").key());
    Write add = add(1, Condition.always());
    List<List<Write>> batches =
        List.of(
            List.of(add),
            List.of(marker("a"), add),
            List.of(marker("bad"), add),
            List.of(marker("c"), add));
    List<List<Write>> alone = Collections.synchronizedList(new ArrayList<>());
    GroupCommit groups =
        groups(
            row,
            writes -> {
              alone.add(writes);
              return new WriteResult.Applied(Optional.empty());
            });
    results(row, groups, batches);
    assertEquals(3, alone.size());
    assertEquals(1, row.value);
  }

  /** Interrupts of members do not reach the transaction of their group. */
  @Test
  void interruptedMembersFinishTheGroup() throws Exception {
    Row row = new Row();
    GroupCommit groups = groups(row);
    CountDownLatch second = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    row.during =
        () -> {
          if (row.statements == 2) {
            second.countDown();
            awaitUninterrupted(interrupted);
          }
        };
    Write add = add(1, Condition.always());
    List<Thread> callers = Collections.synchronizedList(new ArrayList<>());
    List<Future<Boolean>> running = new ArrayList<>();
    try (ExecutorService executor = Executors.newFixedThreadPool(6)) {
      for (int i = 0; i < 6; i++) {
        running.add(
            executor.submit(() -> {
              callers.add(Thread.currentThread());
              assertInstanceOf(WriteResult.Applied.class, write(groups, add));
              return Thread.interrupted();
            }));
        if (i == 0) {
          row.begun.await();
        }
      }
      awaitWaiting(callers, 6);
      row.goOn.countDown();
      second.await();
      assertFalse(running.getFirst().get());
      callers.subList(1, 6).forEach(Thread::interrupt);
      interrupted.countDown();
      for (Future<Boolean> each : running.subList(1, 6)) {
        assertTrue(each.get(), "the interrupt was lost");
      }
    }
    assertEquals(6, row.value);
    assertEquals(2, row.statements);
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException("the transaction was interrupted", e);
    }
  }

  /** An Error of the leader leaves no waiter blocked, and no definite outcome. */
  @Test
  void afterAnErrorOfTheLeaderTheOutcomeIsUnknown() throws Exception {
    Row row = new Row();
    GroupCommit groups = groups(row);
    row.during =
        () -> {
          if (row.statements == 2) {
            throw new StackOverflowError("injected");
          }
        };
    List<Write> writes = Collections.nCopies(6, add(1, Condition.always()));
    int unknown = 0;
    int errors = 0;
    try (ExecutorService executor = Executors.newFixedThreadPool(6)) {
      for (Future<WriteResult> each : together(row, groups, writes, executor)) {
        try {
          each.get();
        } catch (ExecutionException e) {
          if (e.getCause() instanceof QuipuException failed) {
            assertEquals(Outcome.UNKNOWN, failed.outcome());
            unknown++;
          } else {
            assertInstanceOf(StackOverflowError.class, e.getCause());
            errors++;
          }
        }
      }
    }
    assertEquals(4, unknown);
    assertEquals(1, errors);
    assertInstanceOf(WriteResult.Applied.class, write(groups, writes.getFirst()));
  }
}
