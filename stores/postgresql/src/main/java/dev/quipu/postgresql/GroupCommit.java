package dev.quipu.postgresql;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Group commit of adds to one number, by one statement. One transaction at a time can update a row,
 * each with a sync, so the cost of queued adds adds up; a group pays it once. An add may come with
 * a new item, the marker of its request: a group stores all of these and adds the sum in one
 * transaction.
 *
 * <p>The caller that finds no leader for a key becomes the commit leader: it takes all adds that
 * wait for the key, executes one statement for their sum, completes each waiter with its own
 * result, and passes the lead to a waiter that has arrived since. If the condition of the
 * statement, which is the conjunction of theirs, does not hold, each add is executed separately.
 * Adds whose marker exists add nothing, and the rest of the group proceeds. A caller waits for a
 * limited time until its add joins a group; if it does not, nothing was sent.
 */
final class GroupCommit {
  private static final int GROUP_MAX = 1_000;
  private static final Version NEVER_STORED = new Version("-"); // an intermediate state of a group

  private final Table table;
  private final Function<List<Write>, WriteResult> alone;
  private final long waitMillisMax;
  private final LongAdder adds = new LongAdder();
  private final LongAdder statements = new LongAdder();
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Key, Set<Waiter>> waiting = new HashMap<>(); // has a key while it has a leader

  /** The operations of a group on the table. */
  interface Table {
    /** Executes one statement; returns the resulting item, or empty if its condition failed. */
    Optional<Item> add(Key key, Sum sum);

    /**
     * Inserts items and adds, in one transaction.
     *
     * @param sum returns what to add, given the inserted items; empty for nothing
     */
    Stored add(Key key, List<Write.Put> markers, Function<Set<Key>, Optional<Sum>> sum);

    /** Returns the items that exist. */
    Map<Key, Item> read(Collection<Key> keys);
  }

  /**
   * The result of a transaction.
   *
   * @param markers that were inserted
   * @param after the item after the add; if empty, all was rolled back
   */
  record Stored(Set<Key> markers, Optional<Item> after) {}

  /**
   * Creates a group commit.
   *
   * @param alone executes one write, or one batch, outside a group
   * @param waitMax longest wait until an add joins a group
   */
  GroupCommit(Table table, Function<List<Write>, WriteResult> alone, Duration waitMax) {
    this.table = table;
    this.alone = alone;
    this.waitMillisMax = waitMax.toMillis();
  }

  /** Returns the number of adds that were members of a group. */
  long adds() {
    return adds.sum();
  }

  /** Returns the number of groups. */
  long statements() {
    return statements.sum();
  }

  /** An add to the value, allowed while the value before it is in {@code low..high}. */
  record Sum(long delta, long low, long high) {
    /** Returns the add of a write; empty if it is not a lone add to the value within bounds. */
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

    /** Returns an add with a result in {@code min..max}; empty if that is impossible. */
    private static Optional<Sum> of(long delta, long min, long max) {
      long low = delta > 0 ? Math.max(min, Long.MIN_VALUE + delta) : min;
      long high = delta < 0 ? Math.min(max, Long.MAX_VALUE + delta) : max;
      return low > high ? Optional.empty() : Optional.of(new Sum(delta, low - delta, high - delta));
    }

    /** Returns this add followed by another; empty if they cannot be expressed as one. */
    Optional<Sum> then(Sum next) {
      long sum = delta + next.delta;
      boolean overflows = ((delta ^ sum) & (next.delta ^ sum)) < 0;
      long nextLow = next.low - delta; // an overflow means below or above all numbers
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

  /**
   * An add that can join a group, or a batch of a new item and such an add.
   *
   * @param key of the number
   */
  record Member(List<Write> writes, Key key, Sum sum, Optional<Write.Put> marker) {
    /**
     * Returns the member for these writes; empty if they cannot join a group. The marker comes
     * first and sorts before the number, so that groups and other batches lock rows in the same
     * order.
     */
    static Optional<Member> of(List<Write> writes) {
      Write last = writes.getLast();
      Optional<Sum> sum = Sum.of(last);
      if (sum.isEmpty() || writes.size() > 2) {
        return Optional.empty();
      }
      if (writes.size() == 1) {
        return Optional.of(new Member(writes, last.key(), sum.get(), Optional.empty()));
      }
      return writes.getFirst() instanceof Write.Put put
              && put.condition() instanceof Condition.Absent
              && put.key().compareTo(last.key()) < 0
          ? Optional.of(new Member(writes, last.key(), sum.get(), Optional.of(put)))
          : Optional.empty();
    }
  }

  /** The signal that ends the wait of a caller. */
  private sealed interface Signal {
    /** The caller becomes the leader. */
    record Lead() implements Signal {}

    /** The condition of the group does not hold: the caller executes its add separately. */
    record Alone() implements Signal {}

    /** The add has this result. */
    record Done(WriteResult result) implements Signal {}

    /** The statement failed. */
    record Failed(RuntimeException why) implements Signal {}
  }

  /** A waiting caller; equality is identity. */
  private static final class Waiter {
    final Member member;
    final CompletableFuture<Signal> signal = new CompletableFuture<>();

    Waiter(Member member) {
      this.member = member;
    }

    Optional<Key> marker() {
      return member.marker.map(Write::key);
    }

    /** Returns whether it has no marker, or one in this set. */
    boolean isIn(Set<Key> stored) {
      return marker().map(stored::contains).orElse(true);
    }
  }

  /**
   * Executes a write or a batch as a member of a group.
   *
   * @throws QuipuException if it joined no group in time, or its group failed
   */
  WriteResult write(Member member) {
    Waiter own = new Waiter(member);
    Signal signal = leadsAtOnce(own) ? new Signal.Lead() : await(own);
    if (signal instanceof Signal.Lead) {
      signal = lead(member.key, own);
    }
    return switch (signal) {
      case Signal.Done done -> done.result;
      case Signal.Alone alone -> this.alone.apply(member.writes);
      case Signal.Failed failed when failed.why instanceof QuipuException e ->
          throw QuipuException.of(e.outcome(), e.reason(), e.getMessage(), e);
      case Signal.Failed failed -> throw failed.why;
      case Signal.Lead lead -> throw new IllegalStateException("a leader received the lead again");
    };
  }

  /** Waits for the signal. Members of a group must not leave it; its statements have a deadline. */
  private Signal await(Waiter own) {
    try {
      return own.signal.get(waitMillisMax, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      if (leaves(own)) {
        throw new NotAppliedException(
            Reason.THROTTLED,
            ("PostgreSQL: the add waited %d ms for other adds to the row; nothing was sent. Raise"
                    + " 'timeoutMillis' in the store's URI, send fewer adds at a time, or shard the"
                    + " counter")
                .formatted(waitMillisMax));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      if (leaves(own)) {
        throw new NotAppliedException(
            Reason.UNAVAILABLE,
            "PostgreSQL: interrupted while waiting for other adds to the row; nothing was sent");
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("a signal completed exceptionally", e);
    }
    return own.signal.join();
  }

  /** Executes a group, completes the others, and returns the leader's own signal. */
  private Signal lead(Key key, Waiter own) {
    List<Waiter> group = new ArrayList<>(List.of(own));
    Sum sum = take(key, group);
    try {
      List<Signal> signals = execute(key, sum, group);
      for (int i = 1; i < group.size(); i++) {
        group.get(i).signal.complete(signals.get(i));
      }
      return signals.getFirst();
    } finally {
      for (Waiter each : group.subList(1, group.size())) {
        if (!each.signal.isDone()) { // after an Error: no waiter may block forever
          each.signal.complete(
              new Signal.Failed(new IllegalStateException("the commit leader failed")));
        }
      }
      passOn(key);
    }
  }

  private boolean leadsAtOnce(Waiter own) {
    lock.lock();
    try {
      Set<Waiter> others = waiting.get(own.member.key);
      if (others == null) {
        waiting.put(own.member.key, new LinkedHashSet<>());
        return true;
      }
      others.add(own);
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** Removes a waiter that is in no group; returns whether it was removed. */
  private boolean leaves(Waiter own) {
    lock.lock();
    try {
      return waiting.getOrDefault(own.member.key, Set.of()).remove(own);
    } finally {
      lock.unlock();
    }
  }

  /** Moves waiters into the group as far as they fit into one sum; returns the sum. */
  private Sum take(Key key, List<Waiter> group) {
    lock.lock();
    try {
      Sum sum = group.getFirst().member.sum;
      Set<Key> markers = new HashSet<>();
      group.getFirst().marker().ifPresent(markers::add);
      Iterator<Waiter> others = waiting.getOrDefault(key, Set.of()).iterator();
      while (others.hasNext() && group.size() < GROUP_MAX) {
        Waiter next = others.next();
        Optional<Sum> both = sum.then(next.member.sum);
        // A repeat of a request in the group: it must see the result of the first.
        if (both.isEmpty() || !next.marker().map(markers::add).orElse(true)) {
          break;
        }
        sum = both.get();
        group.add(next);
        others.remove();
      }
      return sum;
    } finally {
      lock.unlock();
    }
  }

  private List<Signal> execute(Key key, Sum sum, List<Waiter> group) {
    List<Write.Put> markers =
        group.stream()
            .flatMap(each -> each.member.marker.stream())
            .sorted(Comparator.comparing(Write::key))
            .toList();
    Stored stored;
    adds.add(group.size());
    statements.increment();
    try {
      stored =
          markers.isEmpty()
              ? new Stored(Set.of(), table.add(key, sum))
              : table.add(key, markers, found -> sum(group, found));
    } catch (RuntimeException e) {
      return Collections.nCopies(group.size(), failed(e, group.size()));
    }
    return signals(group, stored, existing(group, stored.markers));
  }

  /**
   * Returns the signal for a failure: if one member may be the cause, each is executed separately.
   */
  private static Signal failed(RuntimeException e, int members) {
    boolean isOfOne =
        e instanceof QuipuException why
            && why.outcome() == Outcome.NOT_APPLIED
            && why.reason() == Reason.INVALID;
    return isOfOne && members > 1 ? new Signal.Alone() : new Signal.Failed(e);
  }

  /** Returns the sum of the members whose marker is new. */
  private static Optional<Sum> sum(List<Waiter> group, Set<Key> stored) {
    Optional<Sum> sum = Optional.empty();
    for (Waiter each : group) {
      if (each.isIn(stored)) {
        sum = sum.isEmpty() ? Optional.of(each.member.sum) : sum.get().then(each.member.sum);
        if (sum.isEmpty()) {
          return sum; // a subset may overflow 64 bits
        }
      }
    }
    return sum;
  }

  /** Returns the markers that existed before. */
  private Map<Key, Item> existing(List<Waiter> group, Set<Key> stored) {
    List<Key> keys =
        group.stream().flatMap(p -> p.marker().stream()).filter(k -> !stored.contains(k)).toList();
    try {
      return keys.isEmpty() ? Map.of() : table.read(keys);
    } catch (QuipuException e) {
      return Map.of(); // each reads its own
    }
  }

  private static List<Signal> signals(List<Waiter> group, Stored stored, Map<Key, Item> existing) {
    List<Signal> signals = new ArrayList<>(group.size());
    Optional<Sum> all = sum(group, stored.markers);
    Optional<Item> last = stored.after;
    long value = last.map(item -> item.number(Item.VALUE) - all.orElseThrow().delta()).orElse(0L);
    for (Waiter each : group) {
      Member member = each.member;
      if (!each.isIn(stored.markers)) {
        Optional<Item> marker = each.marker().map(existing::get);
        signals.add(
            marker.isEmpty() // it was removed since
                ? new Signal.Alone()
                : new Signal.Done(new WriteResult.ConditionFailed(marker.get().key(), marker)));
      } else if (last.isEmpty()) {
        signals.add(new Signal.Alone());
      } else {
        value += member.sum.delta();
        signals.add(new Signal.Done(new WriteResult.Applied(at(last.get(), value))));
      }
    }
    return signals;
  }

  /** Returns the item with an intermediate value of the group. */
  private static Optional<Item> at(Item last, long value) {
    if (last.number(Item.VALUE) == value) {
      return Optional.of(last);
    }
    Map<String, Field> fields = new HashMap<>(last.fields());
    fields.put(Item.VALUE, new Field.Number(value));
    return Optional.of(new Item(last.key(), fields, NEVER_STORED, last.expiresAt()));
  }

  /** Passes the lead to the next waiter. */
  private void passOn(Key key) {
    Waiter next;
    lock.lock();
    try {
      Iterator<Waiter> others = waiting.getOrDefault(key, Set.of()).iterator();
      if (!others.hasNext()) {
        waiting.remove(key);
        return;
      }
      next = others.next();
      others.remove();
    } finally {
      lock.unlock();
    }
    next.signal.complete(new Signal.Lead());
  }
}
