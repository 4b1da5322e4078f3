package dev.quipu.redis;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.StoreProfile.Atomicity;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to a server or a cluster: one multiplexed connection a node. The next call
 * reconnects after it has closed, and after a timeout, since the other calls on it would wait after
 * that one.
 */
final class RedisConnection implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(RedisConnection.class);

  private final Supplier<Opened> opener;
  private final Atomicity atomicity;
  private final Duration timeout;
  private final String server;
  private final ReentrantLock opening = new ReentrantLock();
  private volatile Opened opened;
  private volatile int attempts;
  private volatile boolean isClosed;

  private RedisConnection(
      Supplier<Opened> opener, Atomicity atomicity, Duration timeout, String server) {
    this.opener = opener;
    this.atomicity = atomicity;
    this.timeout = timeout;
    this.server = server;
    this.opened = open(opener);
    warnIfItRepeats(opened.connection.getOptions());
  }

  /** One command. */
  interface Call<T> {
    RedisFuture<T> on(RedisClusterAsyncCommands<String, String> commands);
  }

  private record Opened(
      StatefulConnection<String, String> connection,
      RedisClusterAsyncCommands<String, String> commands,
      Supplier<List<RedisClusterAsyncCommands<String, String>>> masters) {}

  /**
   * Returns a connection to one server.
   *
   * @param server where it is, for messages; empty if that is not known
   */
  static RedisConnection to(RedisClient client, Duration timeout, String server) {
    return new RedisConnection(
        () -> {
          StatefulRedisConnection<String, String> connection = client.connect(StringCodec.UTF8);
          return new Opened(connection, connection.async(), () -> List.of(connection.async()));
        },
        Atomicity.STORE,
        timeout,
        server);
  }

  /** Returns a connection to a cluster. */
  static RedisConnection to(RedisClusterClient client, Duration timeout, String server) {
    return new RedisConnection(
        () -> {
          StatefulRedisClusterConnection<String, String> connection =
              client.connect(StringCodec.UTF8);
          return new Opened(connection, connection.async(), () -> masters(connection));
        },
        Atomicity.PARTITION, // a script works in one slot
        timeout,
        server);
  }

  private static List<RedisClusterAsyncCommands<String, String>> masters(
      StatefulRedisClusterConnection<String, String> connection) {
    List<RedisClusterAsyncCommands<String, String>> masters = new ArrayList<>();
    for (RedisClusterNode node : connection.getPartitions()) {
      if (node.getRole().isUpstream() && !node.getSlots().isEmpty()) {
        masters.add(connection.getConnection(node.getNodeId()).async());
      }
    }
    return masters;
  }

  private static void warnIfItRepeats(ClientOptions options) {
    if (repeats(options)) {
      LOGGER.warn(
          "The Redis client repeats commands by itself, without limit, after it has connected again:"
              + " an add may count twice. Give it a replayFilter that drops every command, or"
              + " autoReconnect(false).");
    }
  }

  /** Whether a client sends again what was under way when its connection broke. */
  static boolean repeats(ClientOptions options) {
    return options.isAutoReconnect()
        && options.getReplayFilter().equals(ClientOptions.DEFAULT_REPLAY_FILTER);
  }

  private static Opened open(Supplier<Opened> opener) {
    try {
      return opener.get();
    } catch (RedisException e) {
      throw Failures.ofConnect(e, Outcome.NOT_APPLIED);
    }
  }

  /** The connection; a new one if it has closed. Nothing was sent if this fails. */
  private Opened opened() {
    Opened now = opened;
    if (now.connection.isOpen()) {
      return now;
    }
    int seen = attempts;
    opening.lock();
    try {
      boolean triedMeanwhile = attempts != seen;
      if (!opened.connection.isOpen()) {
        if (triedMeanwhile || isClosed) {
          throw new NotAppliedException(
              Reason.UNAVAILABLE, Failures.named(server) + "not connected");
        }
        attempts = seen + 1; // whoever waits for the lock need not try once more
        opened.connection.closeAsync();
        opened = open(opener);
      }
      return opened;
    } finally {
      opening.unlock();
    }
  }

  /** A command without an effect. */
  <T> T read(Call<T> call) {
    Opened on = opened();
    return await(call, on, on.commands, true);
  }

  /** A command with an effect: if its answer does not come, that is unknown. */
  <T> T write(Call<T> call) {
    Opened on = opened();
    return await(call, on, on.commands, false);
  }

  /** The same on every master; it must be harmless to repeat. */
  <T> List<T> onEachMaster(Call<T> call) {
    Opened on = opened();
    return on.masters.get().stream().map(master -> await(call, on, master, true)).toList();
  }

  /** How far a script reaches. */
  Atomicity atomicity() {
    return atomicity;
  }

  private <T> T await(
      Call<T> call,
      Opened connection,
      RedisClusterAsyncCommands<String, String> on,
      boolean isRead) {
    Outcome lost = isRead ? Outcome.NOT_APPLIED : Outcome.UNKNOWN;
    RedisFuture<T> answer;
    try {
      answer = call.on(on);
    } catch (RedisException e) {
      throw Failures.of(e, server, lost);
    }
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw Failures.of(e.getCause() == null ? e : e.getCause(), server, lost);
    } catch (TimeoutException e) {
      answer.cancel(true);
      connection.connection.closeAsync();
      String late = Failures.named(server) + "no answer in " + timeout;
      throw QuipuException.of(lost, Reason.TIMEOUT, late, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw QuipuException.of(lost, Reason.UNAVAILABLE, "Redis: interrupted", e);
    }
  }

  @Override
  public void close() {
    opening.lock();
    try {
      isClosed = true;
      opened.connection.close();
    } finally {
      opening.unlock();
    }
  }
}
