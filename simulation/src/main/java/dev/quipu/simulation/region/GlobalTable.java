package dev.quipu.simulation.region;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * A table with a replica in each region, like DynamoDB's global tables. A region reads and writes
 * its own replica; conditions, batches and strong reads apply to that replica only. Each written
 * item is replicated as a whole, each with its own lag, in any order, batches item by item. If two
 * regions write an item, the last writer wins everywhere, and the other change is lost.
 * Thread-safe: one call at a time, over all regions, so that writes are ordered.
 *
 * @param <K> the key of an item
 * @param <I> an item as a whole
 */
public final class GlobalTable<K, I> {
  private final Clock clock;
  private final RandomGenerator random;
  private final long lagMillis;
  private final List<Region> regions = new ArrayList<>();
  private final PriorityQueue<Change<K, I>> underWay =
      new PriorityQueue<>(
          Comparator.comparingLong((Change<K, I> change) -> change.dueMillis)
              .thenComparingLong(change -> change.number));
  private final List<Change<K, I>> waiting = new ArrayList<>(); // due, but cut off or delayed
  private final Set<Integer> cut = new HashSet<>();
  private final Set<Integer> lost = new HashSet<>();
  private final Set<Set<Integer>> separate = new HashSet<>();
  private Predicate<K> isHeld = key -> false;
  private long writes;
  private long conflicts;
  private long overtakings;

  /**
   * A change on its way to a region.
   *
   * @param number number of the write, over all regions, since there is one clock
   */
  private record Change<K, I>(
      int from, int to, Replica.Written<K, I> written, long number, long dueMillis) {}

  /**
   * Creates a table of empty replicas.
   *
   * @param lagMax the maximum replication lag
   */
  public GlobalTable(
      List<? extends Replica<K, I>> replicas,
      Clock clock,
      RandomGenerator random,
      Duration lagMax) {
    this.clock = clock;
    this.random = random;
    this.lagMillis = lagMax.toMillis();
    for (Replica<K, I> replica : replicas) {
      regions.add(new Region(regions.size(), replica));
    }
  }

  /** Creates a table of in-memory replicas. */
  public static GlobalTable<Key, Item> inMemory(
      int regions, Clock clock, RandomGenerator random, Duration lagMax) {
    List<MemoryReplica> replicas = new ArrayList<>();
    for (int i = 0; i < regions; i++) {
      replicas.add(new MemoryReplica());
    }
    return new GlobalTable<>(replicas, clock, random, lagMax);
  }

  /** Returns the table as seen by a region. */
  public StoreDriver region(int number) {
    return seenFrom(number, number);
  }

  /**
   * Returns the replica of a region as seen from another region: unreachable while either is cut
   * off.
   */
  public StoreDriver seenFrom(int from, int number) {
    Region region = regions.get(number);
    return new InterceptingDriver(region.replica.driver(), new Seen(from, region));
  }

  /** Cuts a region off the others: changes in both directions wait. */
  public synchronized void cutOff(int region) {
    cut.add(region);
  }

  /** Cuts two regions off each other; others reach both. */
  public synchronized void separate(int one, int other) {
    separate.add(Set.of(one, other));
  }

  private boolean isCutBetween(int from, int to) {
    return from != to && (isAway(from) || isAway(to) || separate.contains(Set.of(from, to)));
  }

  private boolean isAway(int region) {
    return cut.contains(region) || lost.contains(region);
  }

  /** Returns whether a region is cut off. */
  public synchronized boolean isCutOff(int region) {
    return cut.contains(region);
  }

  /** Delays changes of some items until {@link #heal}: changes of two items are not ordered. */
  public synchronized void hold(Predicate<K> items) {
    isHeld = items;
    retry();
  }

  /** Reconnects all regions: waiting changes arrive. */
  public synchronized void heal() {
    cut.clear();
    separate.clear();
    isHeld = key -> false;
    retry();
  }

  /**
   * Lets waiting changes arrive with the next delivery, unless they are still cut off or delayed.
   */
  private void retry() {
    underWay.addAll(waiting);
    waiting.clear();
  }

  /** Loses a region permanently, with its writes that have not arrived anywhere. */
  public synchronized void lose(int region) {
    lost.add(region);
    retry();
    underWay.removeIf(change -> change.from == region || change.to == region);
  }

  /** Delivers all changes under way immediately, except those of regions that are cut off. */
  public synchronized void settle() {
    regions.forEach(Region::collect);
    deliver(Long.MAX_VALUE);
  }

  /** Delivers due changes: for replicas that are written without {@link #region}. */
  public synchronized void pass() {
    regions.forEach(Region::collect);
    deliver(clock.epochMillis());
  }

  /** Returns how often the later of two writes won, and the other was lost. */
  public synchronized long conflicts() {
    return conflicts;
  }

  /** Returns how often a change arrived before an earlier one of the same region. */
  public synchronized long overtakings() {
    return overtakings;
  }

  private void deliver(long untilMillis) {
    while (!underWay.isEmpty() && underWay.peek().dueMillis <= untilMillis) {
      Change<K, I> change = underWay.poll();
      if (isCutBetween(change.from, change.to) || isHeld.test(change.written.key())) {
        waiting.add(change);
      } else {
        regions.get(change.to).receive(change);
      }
    }
  }

  /** The newest write of an item that a replica has, and its writer. */
  private record Newest(long number, int writer) {}

  private final class Region {
    private final int number;
    private final Replica<K, I> replica;
    private final Map<K, Newest> newest = new HashMap<>();
    private final Map<Integer, Long> lastFrom = new HashMap<>();

    Region(int number, Replica<K, I> replica) {
      this.number = number;
      this.replica = replica;
    }

    void receive(Change<K, I> change) {
      long last = lastFrom.merge(change.from, change.number, Math::max);
      overtakings += last > change.number ? 1 : 0;
      K key = change.written.key();
      Newest here = newest.getOrDefault(key, new Newest(0, change.from));
      conflicts += here.writer == number ? 1 : 0;
      if (here.number < change.number) {
        newest.put(key, new Newest(change.number, change.from));
        replica.receive(change.written);
      }
    }

    void collect() {
      for (Replica.Written<K, I> written : replica.written()) {
        long next = ++writes;
        newest.put(written.key(), new Newest(next, number));
        for (Region other : regions) {
          if (other.number != number && !lost.contains(number) && !lost.contains(other.number)) {
            long due = clock.epochMillis() + random.nextLong(lagMillis + 1);
            underWay.add(new Change<>(number, other.number, written, next, due));
          }
        }
      }
    }
  }

  private final class Seen implements InterceptingDriver.Interceptor {
    private final int from;
    private final Region region;

    Seen(int from, Region region) {
      this.from = from;
      this.region = region;
    }

    @Override
    public <T> T call(Supplier<T> call) {
      synchronized (GlobalTable.this) {
        if (isCutBetween(from, region.number)) {
          throw new NotAppliedException(Reason.UNAVAILABLE, "simulated: the region is cut off");
        }
        deliver(clock.epochMillis());
        return call.get();
      }
    }

    @Override
    public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      synchronized (GlobalTable.this) {
        try {
          return call(call);
        } finally {
          region.collect(); // whatever the result was
        }
      }
    }
  }
}
