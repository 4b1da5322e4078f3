package dev.quipu.simulation.driver;

import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A driver whose eventual reads are served by lagging replicas: each item as of a random moment,
 * drawn for each read, so that a later read may see less than an earlier one. Thread-safe.
 */
public final class LaggingDriver implements BatchDriver, ScanDriver {
  private final StoreDriver driver;
  private final Clock clock;
  private final RandomGenerator random;
  private final long lagMillis;
  private final NavigableMap<Key, Deque<State>> states = new TreeMap<>();
  private long stale;

  private record State(long sinceMillis, Optional<Item> item) {}

  /**
   * Wraps a driver.
   *
   * @param lagMax the maximum lag of a replica
   */
  public LaggingDriver(StoreDriver driver, Clock clock, RandomGenerator random, Duration lagMax) {
    this.driver = driver;
    this.clock = clock;
    this.random = random;
    this.lagMillis = lagMax.toMillis();
  }

  /** Returns the number of outdated items that readers saw. */
  public synchronized long stale() {
    return stale;
  }

  @Override
  public StoreProfile profile() {
    return driver.profile();
  }

  @Override
  public synchronized Optional<Item> get(Key key, Consistency consistency) {
    return consistency == Consistency.STRONG ? driver.get(key, consistency) : seen(key);
  }

  private Optional<Item> seen(Key key) {
    Deque<State> known = states.get(key);
    if (known == null) {
      return Optional.empty();
    }
    long moment = clock.epochMillis() - random.nextLong(lagMillis + 1);
    Optional<Item> found = Optional.empty();
    for (State state : known) {
      if (state.sinceMillis <= moment) {
        found = state.item;
      }
    }
    stale += found.equals(known.getLast().item) ? 0 : 1;
    return found;
  }

  @Override
  public synchronized WriteResult write(Write write) {
    WriteResult result = driver.write(write);
    if (result instanceof WriteResult.Applied) {
      note(write.key());
    }
    return result;
  }

  @Override
  public synchronized WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    WriteResult result = BatchDriver.of(driver).writeAll(writes, token);
    if (result instanceof WriteResult.Applied) {
      writes.forEach(write -> note(write.key()));
    }
    return result;
  }

  /** Replicas lag on removals as they do on writes. */
  @Override
  public synchronized int removeExpired(Instant before, int itemsMax) {
    int removed = driver.removeExpired(before, itemsMax);
    if (removed > 0) {
      List<Key> expired =
          states.entrySet().stream()
              .filter(each ->
                  each.getValue().getLast().item.filter(i -> i.isExpired(before)).isPresent())
              .map(Map.Entry::getKey)
              .toList();
      expired.forEach(this::note);
    }
    return removed;
  }

  @Override
  public synchronized List<Optional<Item>> getAll(List<Key> keys) {
    return BatchDriver.of(driver).getAll(keys);
  }

  @Override
  public Instant intactSince() {
    return driver.intactSince();
  }

  /** Records the new state of an item. */
  private void note(Key key) {
    long now = clock.epochMillis();
    Deque<State> known = states.computeIfAbsent(key, each -> new ArrayDeque<>());
    known.addLast(new State(now, driver.get(key, Consistency.STRONG)));
    while (known.size() > 1 && isForgotten(known, now - lagMillis)) {
      known.removeFirst();
    }
  }

  /** Returns whether no replica still has the first state. */
  private static boolean isForgotten(Deque<State> known, long moment) {
    return known.stream().skip(1).findFirst().orElseThrow().sinceMillis <= moment;
  }

  @Override
  public synchronized Page scan(Scan scan) {
    if (scan.consistency() == Consistency.STRONG) {
      return ScanDriver.of(driver).scan(scan);
    }
    List<Item> found = new ArrayList<>();
    for (Key key : states.keySet()) {
      if (key.partition().equals(scan.partition()) && isWithin(scan, key.sort())) {
        seen(key).ifPresent(found::add);
      }
    }
    return Page.of(scan, scan.descending() ? found.reversed() : found);
  }

  private static boolean isWithin(Scan scan, String sort) {
    return Key.ORDER.compare(sort, scan.from()) >= 0
        && scan.until().map(until -> Key.ORDER.compare(sort, until) < 0).orElse(true);
  }

  @Override
  public void close() {
    driver.close();
  }
}
