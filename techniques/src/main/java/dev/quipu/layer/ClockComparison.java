package dev.quipu.layer;

import dev.quipu.QuipuException;
import dev.quipu.store.Condition;
import dev.quipu.store.FreshTokens;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.time.Periodic;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the clocks of the servers on a store that does not expose its own time. Each server
 * writes its time to its own item every minute and reads those of the others. If another server's
 * item changed between two reads, it was written between them, so its time must lie between them
 * too. While another clock differs by more than {@link Sweeper#KEPT}, which is how long items are
 * kept after their expiry, nothing expires for this server and it sweeps nothing. The same holds
 * until the others have been read twice. Times that arrive from another region with a replication
 * lag above that look like those of a slow clock, and have the same effect.
 *
 * <p>Not covered: a lone server with a wrong clock, and expiry by the store itself (TTL of
 * DynamoDB), which follows the clock of the server that wrote the item.
 */
public final class ClockComparison implements AutoCloseable {
  /** Time between two comparisons. */
  public static final Duration INTERVAL = Duration.ofMinutes(1);

  private static final Logger LOGGER = LoggerFactory.getLogger(ClockComparison.class);
  private static final Set<String> LOCAL = Set.of("engine", "memory"); // one server each
  private static final Duration KEPT =
      Duration.ofDays(7); // the item of a server that no longer runs
  private static final String PARTITION = "clocks";
  private static final String AT = "at";

  private final Store store;
  private final String server;
  private final Map<String, Long> seen = new HashMap<>();
  private long lastLookMillis;
  private boolean hasLooked;
  private Optional<Periodic> running = Optional.empty();

  /**
   * Creates a comparison that is not running yet.
   *
   * @param server a unique name of this server
   */
  public ClockComparison(Store store, String server) {
    this.store = store;
    this.server = server;
  }

  /** Compares immediately, and then every minute until it is closed. */
  static ClockComparison start(Store store) {
    ClockComparison comparison = new ClockComparison(store, new FreshTokens().next());
    if (!LOCAL.contains(store.profile().name()) && store.profile().has(Capability.ORDERED_SCAN)) {
      comparison.round();
      Runnable round = comparison::round;
      comparison.running = Optional.of(new Periodic("quipu-clocks", INTERVAL, round));
    }
    return comparison;
  }

  private void round() {
    try {
      if (store.barrier().time().isEmpty()) {
        compare();
      }
    } catch (RuntimeException e) {
      store.pauseExpiry(true);
      LOGGER.warn("Clock comparison failed; expiry paused, will retry", e);
    }
  }

  /**
   * Compares once.
   *
   * @throws QuipuException if the store gave no definite answer
   */
  public void compare() {
    Map<String, Field> time = Map.of(AT, new Field.Number(store.clock().epochMillis()));
    Key own = new Key(PARTITION, server);
    Optional<Instant> expiry = Optional.of(store.now().plus(KEPT));
    store.pauseExpiry(true); // also read items that a wrong clock would consider expired
    store.write(new Write.Put(own, time, expiry, Condition.always()));
    Map<String, Long> others = new HashMap<>();
    store.scanAll(
        Scan.all(PARTITION),
        page -> page.forEach(item -> others.put(item.key().sort(), item.number(AT))));
    long now = store.clock().epochMillis();
    others.remove(server);
    long difference = 0;
    for (Map.Entry<String, Long> each : others.entrySet()) {
      Long before = seen.get(each.getKey());
      boolean isFresh = hasLooked && !each.getValue().equals(before);
      if (isFresh) {
        difference = Math.max(difference, difference(each.getValue(), lastLookMillis, now));
      }
    }
    boolean isUnknown = !hasLooked && !others.isEmpty();
    boolean differs = difference > Sweeper.KEPT.toMillis();
    if (differs) {
      LOGGER.warn(
          "Server clocks differ; expiry paused: differenceMillis={} limitMillis={}",
          difference,
          Sweeper.KEPT.toMillis());
    }
    store.pauseExpiry(isUnknown || differs);
    seen.clear();
    seen.putAll(others);
    lastLookMillis = now;
    hasLooked = true;
  }

  /** Returns by how many milliseconds a time lies outside the interval between two reads. */
  private static long difference(long at, long from, long until) {
    return Math.max(0, Math.max(from - at, at - until));
  }

  @Override
  public void close() {
    running.ifPresent(Periodic::close);
  }
}
