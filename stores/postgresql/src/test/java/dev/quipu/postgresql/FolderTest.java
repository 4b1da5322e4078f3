package dev.quipu.postgresql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.store.Change;
import dev.quipu.store.Condition;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import dev.quipu.store.Version;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** How adds are folded: the same as one after the other. */
final class FolderTest {
  private static final Key KEY = new Key("p", "s");

  private static Write add(long delta, Condition condition) {
    return new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, delta)), condition);
  }

  private static Folder.Sum sum(long delta, long min, long max) {
    return Folder.Sum.of(add(delta, new Condition.Within(Item.VALUE, min, max))).orElseThrow();
  }

  /** Folded sums allow a value if, and only if, each add is possible in turn. */
  @Test
  void aFoldedSumAllowsWhatEachAllowsInTurn() {
    long seed = Long.getLong("seed", 11);
    RandomGenerator random = Randomness.seeded(seed);
    long[] ends = {Long.MIN_VALUE, Long.MIN_VALUE + 1, -3, -1, 0, 1, 2, 5, Long.MAX_VALUE};
    int folded = 0;
    for (int round = 0; round < 200_000; round++) {
      List<long[]> adds = new ArrayList<>();
      Optional<Folder.Sum> all = Optional.empty();
      boolean possible = true;
      for (int i = 0; i < 3 && possible; i++) {
        long a = ends[random.nextInt(ends.length)];
        long b = ends[random.nextInt(ends.length)];
        long[] each = {ends[random.nextInt(ends.length)], Math.min(a, b), Math.max(a, b)};
        Optional<Folder.Sum> one =
            Folder.Sum.of(add(each[0], new Condition.Within(Item.VALUE, each[1], each[2])));
        all = i == 0 ? one : all.flatMap(before -> one.flatMap(before::then));
        possible = all.isPresent();
        adds.add(each);
      }
      if (all.isPresent()) {
        folded++;
        for (long before : ends) {
          String text = "seed %d, from %d, adds %s".formatted(seed, before, describe(adds));
          assertEquals(inTurn(before, adds), all.get().allows(before), text);
        }
      }
    }
    assertTrue(folded > 1_000, "only " + folded + " could be folded");
  }

  private static List<List<Long>> describe(List<long[]> adds) {
    return adds.stream().map(each -> List.of(each[0], each[1], each[2])).toList();
  }

  private static boolean inTurn(long before, List<long[]> adds) {
    BigInteger value = BigInteger.valueOf(before);
    for (long[] each : adds) {
      value = value.add(BigInteger.valueOf(each[0]));
      if (value.compareTo(BigInteger.valueOf(each[1])) < 0
          || value.compareTo(BigInteger.valueOf(each[2])) > 0) {
        return false;
      }
    }
    return true;
  }

  @Test
  void whatIsNotALoneAddToTheValueIsNotFolded() {
    assertEquals(
        Optional.empty(),
        Folder.Sum.of(
            new Write.Update(KEY, List.of(new Change.Add("other", 1)), Condition.always())));
    assertEquals(Optional.empty(), Folder.Sum.of(add(1, new Condition.Absent())));
    assertEquals(Optional.empty(), Folder.Sum.of(add(1, new Condition.Within("other", 0, 1))));
    assertEquals(
        Optional.empty(),
        Folder.Sum.of(add(-1, new Condition.Within(Item.VALUE, Long.MAX_VALUE, Long.MAX_VALUE))));
    assertTrue(sum(1, 0, 5).allows(4));
  }

  /** A row, and how it behaves. */
  private static final class Row {
    private long value;
    private int statements;
    private boolean fails;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    Optional<Item> execute(Key key, Folder.Sum sum) {
      statements++;
      begun.countDown();
      try {
        goOn.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      if (fails && statements > 1) {
        throw StoreException.unknown(Reason.TIMEOUT, "no answer", null);
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

  /** Adds from many callers, of which the first is under way until all others wait. */
  private static List<Future<WriteResult>> together(
      Row row, Folder folder, List<Write> writes, ExecutorService executor) throws Exception {
    AtomicInteger arrived = new AtomicInteger();
    List<Thread> callers = new ArrayList<>();
    List<Future<WriteResult>> running = new ArrayList<>();
    for (Write write : writes) {
      running.add(
          executor.submit(() -> {
            synchronized (callers) {
              callers.add(Thread.currentThread());
            }
            arrived.incrementAndGet();
            return folder.write(write, Folder.Sum.of(write).orElseThrow());
          }));
      if (running.size() == 1) {
        row.begun.await();
      }
    }
    BooleanSupplier allWait =
        () -> {
          synchronized (callers) {
            return callers.size() == writes.size()
                && callers.stream().allMatch(each -> each.getState() == Thread.State.WAITING);
          }
        };
    while (!allWait.getAsBoolean()) {
      Thread.onSpinWait();
    }
    row.goOn.countDown();
    return running;
  }

  @Test
  void waitingAddsAreOneStatementAndEachHearsItsOwnValue() throws Exception {
    Row row = new Row();
    Folder folder = new Folder(row::execute, write -> new WriteResult.Applied(Optional.empty()));
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      writes.add(add(1, Condition.always()));
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(20)) {
      List<Long> values = new ArrayList<>();
      List<Version> versions = new ArrayList<>();
      for (Future<WriteResult> each : together(row, folder, writes, executor)) {
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

  @Test
  void ifNotAllArePossibleTogetherEachGoesByItself() throws Exception {
    Row row = new Row();
    AtomicInteger alone = new AtomicInteger();
    Folder folder =
        new Folder(
            row::execute,
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
      for (Future<WriteResult> each : together(row, folder, writes, executor)) {
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
    Folder folder = new Folder(row::execute, write -> new WriteResult.Applied(Optional.empty()));
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      writes.add(add(1, Condition.always()));
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(6)) {
      int unknown = 0;
      for (Future<WriteResult> each : together(row, folder, writes, executor)) {
        try {
          each.get();
        } catch (ExecutionException e) {
          assertEquals(
              Outcome.UNKNOWN, assertInstanceOf(StoreException.class, e.getCause()).outcome());
          unknown++;
        }
      }
      assertEquals(5, unknown);
    }
    assertThrows(
        StoreException.class,
        () -> folder.write(writes.getFirst(), Folder.Sum.of(writes.getFirst()).orElseThrow()));
  }
}
