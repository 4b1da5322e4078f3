package dev.quipu.postgresql;

import dev.quipu.store.Change;
import dev.quipu.store.Condition;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreException;
import dev.quipu.store.Version;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Folds adds to one number into one statement. One row can be updated by one transaction at a time,
 * each with a sync, so adds that queue for a row pay for one another; folded, they pay once.
 *
 * <p>The caller that finds nobody at work on a key leads: it takes all adds that wait for the key,
 * executes one statement for their sum, tells each of the others its own result, and hands the lead
 * to one that came meanwhile. If the statement's condition, which is the conjunction of theirs,
 * does not hold, each goes by itself.
 */
final class Folder {
  private static final int GROUP_MAX = 1_000;
  private static final Version NEVER_STORED = new Version("-"); // a state between two folded adds

  private final BiFunction<Key, Sum, Optional<Item>> statement;
  private final Function<Write, WriteResult> alone;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Key, List<Pending>> waiting = new HashMap<>(); // a key is in it while one leads

  /**
   * Folds.
   *
   * @param statement executes one, and returns the item it left, or nothing if its condition failed
   * @param alone executes one write by itself
   */
  Folder(BiFunction<Key, Sum, Optional<Item>> statement, Function<Write, WriteResult> alone) {
    this.statement = statement;
    this.alone = alone;
  }

  /** An add to the value, possible while the value before is in {@code low..high}. */
  record Sum(long delta, long low, long high) {
    /** What a write adds; empty if it is anything else than one add to the value within bounds. */
    static Optional<Sum> of(Write write) {
      if (write instanceof Write.Update update
          && update.changes().size() == 1
          && update.changes().getFirst() instanceof Change.Add add
          && add.field().equals(Item.VALUE)) {
        return switch (update.condition()) {
          case Condition.Always always -> of(add.delta(), Long.MIN_VALUE, Long.MAX_VALUE);
          case Condition.Within within when within.field().equals(Item.VALUE) ->
              of(add.delta(), within.min(), within.max());
          default -> Optional.empty();
        };
      }
      return Optional.empty();
    }

    /** An add of {@code delta} that must leave {@code min..max}; empty if nothing can. */
    private static Optional<Sum> of(long delta, long min, long max) {
      long low = delta > 0 ? Math.max(min, Long.MIN_VALUE + delta) : min;
      long high = delta < 0 ? Math.min(max, Long.MAX_VALUE + delta) : max;
      return low > high ? Optional.empty() : Optional.of(new Sum(delta, low - delta, high - delta));
    }

    /** This and then another; empty if their sum or their bounds cannot be written as one. */
    Optional<Sum> then(Sum next) {
      long sum = delta + next.delta;
      boolean overflows = ((delta ^ sum) & (next.delta ^ sum)) < 0;
      long nextLow = next.low - delta; // wraps at one end: below all numbers, or above all
      boolean lowWraps = ((next.low ^ delta) & (next.low ^ nextLow)) < 0;
      long nextHigh = next.high - delta;
      boolean highWraps = ((next.high ^ delta) & (next.high ^ nextHigh)) < 0;
      if (overflows || (lowWraps && delta < 0) || (highWraps && delta > 0)) {
        return Optional.empty();
      }
      long lowBoth = lowWraps ? low : Math.max(low, nextLow);
      long highBoth = highWraps ? high : Math.min(high, nextHigh);
      return lowBoth > highBoth ? Optional.empty() : Optional.of(new Sum(sum, lowBoth, highBoth));
    }

    boolean allows(long before) {
      return low <= before && before <= high;
    }
  }

  /** What a caller hears while it waits. */
  private sealed interface Turn {
    /** It leads from now on. */
    record Lead() implements Turn {}

    /** The condition of all together does not hold: it goes by itself. */
    record Alone() implements Turn {}

    /** Its write was applied. */
    record Applied(WriteResult result) implements Turn {}

    /** The statement failed. */
    record Failed(RuntimeException why) implements Turn {}
  }

  private record Pending(Sum sum, CompletableFuture<Turn> turn) {}

  /** Executes a write whose sum this is, together with others. */
  WriteResult write(Write write, Sum sum) {
    Pending own = new Pending(sum, new CompletableFuture<>());
    // Not to be interrupted: one that left could be the one that leads. The statement has a
    // deadline.
    Turn turn = leadsAtOnce(write.key(), own) ? new Turn.Lead() : own.turn.join();
    if (turn instanceof Turn.Lead) {
      turn = lead(write.key(), own);
    }
    return switch (turn) {
      case Turn.Applied applied -> applied.result;
      case Turn.Alone alone -> this.alone.apply(write);
      case Turn.Failed failed when failed.why instanceof StoreException e ->
          throw new StoreException(e.outcome(), e.reason(), e.getMessage(), e);
      case Turn.Failed failed -> throw failed.why;
      case Turn.Lead lead -> throw new IllegalStateException("a leader was told to lead");
    };
  }

  /** Executes a group, tells the others, and returns the leader's own turn. */
  private Turn lead(Key key, Pending own) {
    List<Pending> group = new ArrayList<>(List.of(own));
    Sum sum = take(key, group);
    try {
      List<Turn> turns = execute(key, sum, group);
      for (int i = 1; i < group.size(); i++) {
        group.get(i).turn.complete(turns.get(i));
      }
      return turns.getFirst();
    } finally {
      for (Pending each : group.subList(1, group.size())) {
        if (!each.turn.isDone()) { // an error got through: nobody must wait for ever
          each.turn.complete(
              new Turn.Failed(new IllegalStateException("the leader of an add broke off")));
        }
      }
      passOn(key);
    }
  }

  private boolean leadsAtOnce(Key key, Pending own) {
    lock.lock();
    try {
      List<Pending> others = waiting.get(key);
      if (others == null) {
        waiting.put(key, new ArrayList<>());
        return true;
      }
      others.add(own);
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** Takes into the group those that wait and fold with it; the sum of all. */
  private Sum take(Key key, List<Pending> group) {
    lock.lock();
    try {
      List<Pending> others = waiting.getOrDefault(key, List.of());
      Sum sum = group.getFirst().sum;
      int taken = 0;
      for (Pending each : others) {
        Optional<Sum> both = sum.then(each.sum);
        if (both.isEmpty() || group.size() == GROUP_MAX) {
          break;
        }
        sum = both.get();
        group.add(each);
        taken++;
      }
      others.subList(0, taken).clear();
      return sum;
    } finally {
      lock.unlock();
    }
  }

  private List<Turn> execute(Key key, Sum sum, List<Pending> group) {
    Optional<Item> after;
    try {
      after = statement.apply(key, sum);
    } catch (RuntimeException e) {
      return Collections.nCopies(group.size(), new Turn.Failed(e));
    }
    if (after.isEmpty()) {
      return Collections.nCopies(group.size(), new Turn.Alone());
    }
    Item last = after.get();
    long value = last.number(Item.VALUE) - sum.delta();
    List<Turn> turns = new ArrayList<>(group.size());
    for (int i = 0; i < group.size(); i++) {
      value += group.get(i).sum.delta();
      Item item = i == group.size() - 1 ? last : at(last, value);
      turns.add(new Turn.Applied(new WriteResult.Applied(Optional.of(item))));
    }
    return turns;
  }

  private static Item at(Item last, long value) {
    Map<String, Field> fields = new HashMap<>(last.fields());
    fields.put(Item.VALUE, new Field.Number(value));
    return new Item(last.key(), fields, NEVER_STORED, last.expiresAt());
  }

  /** Hands the lead to the next that waits. */
  private void passOn(Key key) {
    Pending next;
    lock.lock();
    try {
      List<Pending> others = waiting.get(key);
      if (others == null || others.isEmpty()) {
        waiting.remove(key);
        return;
      }
      next = others.removeFirst();
    } finally {
      lock.unlock();
    }
    next.turn.complete(new Turn.Lead());
  }
}
