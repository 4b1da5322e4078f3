package dev.quipu.verify.simulate;

import dev.quipu.store.Condition;
import dev.quipu.store.Consistency;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.MemoryDriver;
import dev.quipu.store.Page;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
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
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A table with a replica in each region, as DynamoDB's global tables are. A region reads and writes
 * its own replica; conditions, batches and strong reads are about that alone. Each item that was
 * written goes to the others as a whole, each by a lag of its own, in any order, batches item by
 * item. Of an item that two regions wrote, the later write wins everywhere, and what the other one
 * changed is lost. Thread-safe.
 */
public final class GlobalTable {
  private final Clock clock;
  private final RandomGenerator random;
  private final long lagMillis;
  private final List<Region> regions = new ArrayList<>();
  private final PriorityQueue<Change> underWay =
      new PriorityQueue<>(
          Comparator.comparingLong(Change::dueMillis).thenComparingLong(Change::written));
  private final Set<Integer> cut = new HashSet<>();
  private long writes;

  /**
   * On its way to a region.
   *
   * @param written when: how many writes there were, over all regions, since there is one clock
   */
  private record Change(
      int from, int to, Key key, Optional<Item> item, long written, long dueMillis) {}

  /**
   * Empty replicas.
   *
   * @param lagMax the most that a change takes to another region
   */
  public GlobalTable(int regions, Clock clock, RandomGenerator random, Duration lagMax) {
    this.clock = clock;
    this.random = random;
    this.lagMillis = lagMax.toMillis();
    for (int i = 0; i < regions; i++) {
      this.regions.add(new Region(i));
    }
  }

  /** The table as one region has it. */
  public StoreDriver region(int number) {
    return regions.get(number);
  }

  /** Cuts a region off the others: what it writes and what they write waits. */
  public synchronized void cutOff(int region) {
    cut.add(region);
  }

  /** All regions can talk again: what waited arrives after a lag from now. */
  public synchronized void heal() {
    cut.clear();
  }

  /** All that is under way arrives, at once; what is cut off stays away. */
  public synchronized void settle() {
    deliver(Long.MAX_VALUE);
  }

  private void deliver(long untilMillis) {
    List<Change> waiting = new ArrayList<>();
    while (!underWay.isEmpty() && underWay.peek().dueMillis <= untilMillis) {
      Change change = underWay.poll();
      if (cut.contains(change.from) || cut.contains(change.to)) {
        waiting.add(change);
      } else {
        regions.get(change.to).receive(change);
      }
    }
    underWay.addAll(waiting);
  }

  private final class Region implements StoreDriver {
    private final int number;
    private final MemoryDriver replica = new MemoryDriver();
    private final Map<Key, Long> newest = new HashMap<>();

    Region(int number) {
      this.number = number;
    }

    void receive(Change change) {
      if (newest.getOrDefault(change.key, 0L) < change.written) {
        newest.put(change.key, change.written);
        replica.write(
            change
                .item
                .<Write>map(item ->
                    new Write.Put(item.key(), item.fields(), item.expiresAt(), Condition.always()))
                .orElse(new Write.Delete(change.key, Condition.always())));
      }
    }

    private void send(Key key) {
      long written = ++writes;
      newest.put(key, written);
      Optional<Item> item = replica.get(key, Consistency.STRONG);
      for (Region other : regions) {
        if (other.number != number) {
          long due = clock.epochMillis() + random.nextLong(lagMillis + 1);
          underWay.add(new Change(number, other.number, key, item, written, due));
        }
      }
    }

    @Override
    public StoreProfile profile() {
      return replica.profile();
    }

    @Override
    public Optional<Item> get(Key key, Consistency consistency) {
      synchronized (GlobalTable.this) {
        deliver(clock.epochMillis());
        return replica.get(key, consistency);
      }
    }

    @Override
    public List<Optional<Item>> getAll(List<Key> keys) {
      synchronized (GlobalTable.this) {
        deliver(clock.epochMillis());
        return replica.getAll(keys);
      }
    }

    @Override
    public WriteResult write(Write write) {
      synchronized (GlobalTable.this) {
        deliver(clock.epochMillis());
        WriteResult result = replica.write(write);
        if (result instanceof WriteResult.Applied) {
          send(write.key());
        }
        return result;
      }
    }

    @Override
    public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
      synchronized (GlobalTable.this) {
        deliver(clock.epochMillis());
        WriteResult result = replica.writeAll(writes, token);
        if (result instanceof WriteResult.Applied) {
          writes.forEach(write -> send(write.key()));
        }
        return result;
      }
    }

    @Override
    public Page scan(Scan scan) {
      synchronized (GlobalTable.this) {
        deliver(clock.epochMillis());
        return replica.scan(scan);
      }
    }

    /** The region stays. */
    @Override
    public void close() {}
  }
}
