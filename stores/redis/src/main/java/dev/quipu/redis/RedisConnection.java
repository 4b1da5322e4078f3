package dev.quipu.redis;

import dev.quipu.Outcome;
import dev.quipu.Reason;
import dev.quipu.store.StoreProfile.Atomicity;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to a server or a cluster: one multiplexed connection per node. After it has closed,
 * and after a timeout, the next call reconnects: other calls on it would queue after the one that
 * timed out.
 */
final class RedisConnection implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(RedisConnection.class);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  private final Failures failures;
  private final Supplier<Opened> opener;
  private final Atomicity atomicity;
  private final Duration timeout;
  private final ReentrantLock opening = new ReentrantLock();
  private volatile Opened opened;
  private volatile int attempts;
  private volatile boolean isClosed;

  private RedisConnection(
      Supplier<Opened> opener, String where, Atomicity atomicity, Duration timeout) {
    this.failures = new Failures(where);
    this.opener = opener;
    this.atomicity = atomicity;
    this.timeout = timeout;
    this.opened = open(opener, failures);
    warnIfItRepeats(opened.connection.getOptions());
  }

  /** A command. */
  interface Call<T> {
    RedisFuture<T> on(RedisClusterAsyncCommands<String, String> commands);
  }

  /**
   * What a client has opened.
   *
   * @param isToOneServer otherwise to a cluster, whose client reconnects to each node by itself
   * @param isLost whether a call has failed on it. After a handshake that was cut off, the client
   *     may say that a connection is open which rejects every command
   */
  private record Opened(
      StatefulConnection<String, String> connection,
      RedisClusterAsyncCommands<String, String> commands,
      Supplier<List<RedisClusterAsyncCommands<String, String>>> masters,
      boolean isToOneServer,
      AtomicBoolean isLost) {
    boolean isUsable() {
      return connection.isOpen() && !isLost.get();
    }

    /** Closes it, once: the client logs a warning for each further time. */
    void closeAsync() {
      if (!isLost.getAndSet(true)) {
        connection.closeAsync();
      }
    }

    /** Notes the failure of a call, unless the server has replied or may still reply. */
    void failed(Throwable why) {
      boolean isReply = why instanceof RedisCommandExecutionException;
      boolean isLate = why instanceof RedisCommandTimeoutException;
      if (isToOneServer && !isReply && !isLate) {
        closeAsync();
      }
    }
  }

  static RedisConnection to(RedisClient client, String where, Duration timeout) {
    return new RedisConnection(
        () -> {
          StatefulRedisConnection<String, String> connection = client.connect(StringCodec.UTF8);
          return new Opened(
              connection,
              connection.async(),
              () -> List.of(connection.async()),
              true,
              new AtomicBoolean());
        },
        where,
        Atomicity.STORE,
        timeout);
  }

  static RedisConnection to(RedisClusterClient client, String where, Duration timeout) {
    return new RedisConnection(
        () -> {
          StatefulRedisClusterConnection<String, String> connection =
              client.connect(StringCodec.UTF8);
          return new Opened(
              connection,
              connection.async(),
              () -> masters(connection),
              false,
              new AtomicBoolean());
        },
        where,
        Atomicity.PARTITION, // a script accesses one slot
        timeout);
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
          "The Redis client resends commands after each reconnect: an add may count twice. Set a"
              + " replayFilter that drops every command, or autoReconnect(false)");
    }
  }

  /** Returns whether a client resends the commands that were pending when its connection broke. */
  static boolean repeats(ClientOptions options) {
    return options.isAutoReconnect()
        && options.getReplayFilter().equals(ClientOptions.DEFAULT_REPLAY_FILTER);
  }

  private static Opened open(Supplier<Opened> opener, Failures failures) {
    try {
      return opener.get();
    } catch (RedisException e) {
      throw failures.ofConnect(e, Outcome.NOT_APPLIED);
    }
  }

  /** Returns the connection; reopens it if it has closed. If this fails, nothing was sent. */
  private Opened opened() {
    Opened now = opened;
    if (now.isUsable()) {
      return now;
    }
    int seen = attempts;
    opening.lock();
    try {
      boolean triedMeanwhile = attempts != seen;
      if (!opened.isUsable()) {
        if (triedMeanwhile || isClosed) {
          throw failures.failure(
              Outcome.NOT_APPLIED,
              Reason.UNAVAILABLE,
              "not connected; the next call reconnects",
              null);
        }
        attempts = seen + 1; // callers that wait for the lock need not try again
        opened.closeAsync();
        opened = open(opener, failures);
      }
      return opened;
    } finally {
      opening.unlock();
    }
  }

  /** Executes a command without an effect. */
  <T> T read(Call<T> call) {
    Opened on = opened();
    return await(call, on, on.commands, true);
  }

  /** Executes a command with an effect: without a reply, its outcome is unknown. */
  <T> T write(Call<T> call) {
    Opened on = opened();
    return await(call, on, on.commands, false);
  }

  /** Executes a command on every master; it must be idempotent. */
  <T> List<T> onEachMaster(Call<T> call) {
    Opened on = opened();
    return on.masters.get().stream().map(master -> await(call, on, master, true)).toList();
  }

  /** Returns the mapping of errors to exceptions. */
  Failures failures() {
    return failures;
  }

  /** Returns the largest scope that one script call can change atomically. */
  Atomicity atomicity() {
    return atomicity;
  }

  /** Returns the longest wait for one reply. */
  Duration timeout() {
    return timeout;
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
      connection.failed(e);
      throw failures.of(e, lost);
    }
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      Throwable why = e.getCause() == null ? e : e.getCause();
      connection.failed(why);
      throw failures.of(why, lost);
    } catch (TimeoutException e) {
      answer.cancel(true);
      connection.closeAsync();
      throw failures.failure(
          lost,
          Reason.TIMEOUT,
          "no reply within %d ms. Check the server, or raise 'timeoutMillis' in the store's URI"
              .formatted(timeout.toMillis()),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failures.failure(lost, Reason.UNAVAILABLE, "interrupted while waiting for a reply", e);
    }
  }

  @Override
  public void close() {
    opening.lock();
    try {
      isClosed = true;
      awaitClosed(opened.connection.closeAsync());
    } finally {
      opening.unlock();
    }
  }

  /** Waits until something has closed, but not forever: the client itself has no deadline here. */
  static void awaitClosed(CompletableFuture<Void> closing) {
    try {
      closing.get(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      LOGGER.warn("The Redis client did not close within {} ms", CLOSE_TIMEOUT.toMillis(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
