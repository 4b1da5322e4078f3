package dev.quipu.memcached;

import dev.quipu.Outcome;
import dev.quipu.time.Clock;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.rubyeye.xmemcached.MemcachedClient;

/**
 * Detects when a server of a cluster last lost values, by its uptime, flushes and evictions. Losses
 * before the first check count as of that check. Thread-safe.
 */
final class LossDetector {
  private static final List<String> COUNTS =
      List.of(
          "cmd_flush", "evictions", "slab_reassign_evictions_nomem", "slab_reassign_busy_deletes");
  private static final Duration COARSENESS = Duration.ofSeconds(3); // of timestamps in seconds

  private final MemcachedClient client;
  private final Clock clock;
  private final int servers;
  private final Map<InetSocketAddress, Seen> seen = new HashMap<>();

  /**
   * The last reported statistics of a server.
   *
   * @param started its process id and start time, which a restart changes
   * @param losses counted by the server
   * @param lost time of its last loss or start
   */
  private record Seen(String started, long losses, Instant lost) {}

  LossDetector(MemcachedClient client, Clock clock) {
    this.client = client;
    this.clock = clock;
    this.servers = client.getServersDescription().size();
  }

  Instant intactSince() {
    Map<InetSocketAddress, Map<String, String>> all =
        MemcachedDriver.call(client, Outcome.NOT_APPLIED, client::getStats);
    Instant now = Instant.ofEpochMilli(clock.epochMillis());
    Instant latest = all.size() < servers ? Instant.MAX : Instant.MIN;
    synchronized (seen) {
      for (Map.Entry<InetSocketAddress, Map<String, String>> each : all.entrySet()) {
        Instant lost = lost(each.getKey(), each.getValue(), now);
        latest = lost.isAfter(latest) ? lost : latest;
      }
    }
    return latest;
  }

  private Instant lost(InetSocketAddress server, Map<String, String> stats, Instant now) {
    if (!stats.containsKey("uptime")) {
      return Instant.MAX; // no reply
    }
    long uptime = number(stats, "uptime");
    String started = stats.get("pid") + " " + (number(stats, "time") - uptime);
    long losses = COUNTS.stream().mapToLong(name -> number(stats, name)).sum();
    Seen before = seen.get(server);
    Instant lost = now.plus(COARSENESS);
    if (before == null && losses == 0) {
      lost = now.minusSeconds(uptime).plus(COARSENESS);
    } else if (before != null && before.started.equals(started) && losses == before.losses) {
      lost = before.lost;
    }
    seen.put(server, new Seen(started, losses, lost));
    return lost;
  }

  private static long number(Map<String, String> stats, String name) {
    return Long.parseLong(stats.getOrDefault(name, "0"));
  }
}
