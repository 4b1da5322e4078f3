package dev.quipu.entity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.store.group.Group;
import dev.quipu.store.group.Member;
import dev.quipu.time.Randomness;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Retries of transactions, and their results. */
final class TransactionsTest {
  private static final Key A = new Key("p", "a");
  private static final Key B = new Key("p", "b");

  private final ManualClock clock = new ManualClock(0);
  private final TransactionalDriver driver = new TransactionalDriver(clock, Randomness.seeded(1));

  private static Write add(Key key, long delta) {
    return new Write.Update(key, List.of(new Change.Add(Item.VALUE, delta)), Condition.always());
  }

  private long value(Key key) {
    return driver.get(key, Consistency.STRONG).orElseThrow().number(Item.VALUE);
  }

  @Test
  void aWriteAndABatchReturnWhatTheLastWriteLeft() {
    WriteResult.Applied one = assertInstanceOf(WriteResult.Applied.class, driver.write(add(A, 3)));
    assertEquals(driver.get(A, Consistency.STRONG), one.after());
    WriteResult.Applied both =
        assertInstanceOf(
            WriteResult.Applied.class, driver.writeAll(List.of(add(A, 1), add(B, 1)), null));
    assertEquals(driver.get(B, Consistency.STRONG), both.after());
    assertEquals(4, value(A));
    assertEquals(1, value(B));
    assertEquals(2, driver.begun);
    assertEquals(2, driver.closed);
  }

  @Test
  void aConditionThatFailsEndsTheTransactionUncommitted() {
    driver.write(add(A, 3));
    WriteResult.ConditionFailed failed =
        assertInstanceOf(
            WriteResult.ConditionFailed.class,
            driver.writeAll(List.of(add(B, 1), add(A, 1).when(new Condition.Absent())), null));
    assertEquals(A, failed.key());
    assertEquals(driver.get(A, Consistency.STRONG), failed.found());
    assertEquals(Optional.empty(), driver.get(B, Consistency.STRONG));
    assertEquals(1, driver.committed);
    assertEquals(2, driver.closed);
  }

  @Test
  void aDeletedItemIsGone() {
    driver.write(add(A, 3));
    driver.write(new Write.Delete(A, Condition.always()));
    assertEquals(Optional.empty(), driver.get(A, Consistency.STRONG));
  }

  @Test
  void aConflictIsRetriedAfterAPause() {
    driver.contended = Transactions.ATTEMPTS_MAX - 1;
    driver.write(add(A, 3));
    assertEquals(3, value(A));
    assertEquals(Transactions.ATTEMPTS_MAX, driver.begun);
    assertEquals(Transactions.ATTEMPTS_MAX, driver.closed);
    assertTrue(clock.nanoTime() > 500e6 && clock.nanoTime() < 4e9, "paused " + clock.nanoTime());
  }

  @Test
  void afterTheLastAttemptItIsNotApplied() {
    driver.contended = Integer.MAX_VALUE;
    Transactions.Contended why =
        assertThrows(Transactions.Contended.class, () -> driver.write(add(A, 3)));
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Transactions.ATTEMPTS_MAX, driver.begun);
    assertEquals(Transactions.ATTEMPTS_MAX, driver.closed);
    assertEquals(Optional.empty(), driver.get(A, Consistency.STRONG));
  }

  /** Each member of a group has the result that it would have alone, after the ones before it. */
  @Test
  void aGroupIsOneTransactionThatDecidesEachMember() {
    Key old = new Key("p", "0old");
    driver.write(new Write.Put(old, Map.of(), new Condition.Absent()));
    Write bounded = add(A, 1).when(new Condition.Within(Item.VALUE, 0, 3));
    List<List<Write>> writes =
        List.of(
            List.of(marker("0m"), add(A, 2)),
            List.of(marker("0old"), add(A, 10)),
            List.of(bounded),
            List.of(marker("0n"), bounded),
            List.of(marker("0o"), add(A, -1)));
    driver.contended = 1;
    int committed = driver.committed;
    List<Member> members = writes.stream().map(each -> Member.of(each).orElseThrow()).toList();
    List<Optional<WriteResult>> results = driver.transactions.write(new Group(A, members));
    assertEquals(committed + 1, driver.committed);
    assertEquals(List.of(2L, 3L, 2L), Stream.of(0, 2, 4).map(i -> after(results.get(i))).toList());
    assertEquals(old, failed(results.get(1)).key());
    assertEquals(A, failed(results.get(3)).key());
    assertEquals(3, failed(results.get(3)).found().orElseThrow().number(Item.VALUE));
    assertEquals(2, value(A));
    assertEquals(
        List.of(true, false, true),
        Stream.of("0m", "0n", "0o")
            .map(sort -> driver.get(new Key("p", sort), Consistency.STRONG).isPresent())
            .toList());
    Item last = driver.get(A, Consistency.STRONG).orElseThrow();
    assertEquals(Optional.of(new WriteResult.Applied(Optional.of(last))), results.get(4));
  }

  private static Write marker(String sort) {
    return new Write.Put(new Key("p", sort), Map.of(), new Condition.Absent());
  }

  private static long after(Optional<WriteResult> result) {
    return assertInstanceOf(WriteResult.Applied.class, result.orElseThrow())
        .after()
        .orElseThrow()
        .number(Item.VALUE);
  }

  private static WriteResult.ConditionFailed failed(Optional<WriteResult> result) {
    return assertInstanceOf(WriteResult.ConditionFailed.class, result.orElseThrow());
  }

  @Test
  void whatIsReadTogetherIsCommitted() {
    driver.write(add(A, 3));
    driver.contended = 2;
    assertEquals(
        List.of(driver.get(A, Consistency.STRONG), Optional.<Item>empty()),
        driver.getAll(List.of(A, B)));
    assertEquals(4, driver.begun);
    assertEquals(2, driver.committed);
  }
}
