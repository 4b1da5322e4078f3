package dev.quipu.redis;

import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
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
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection to a server or a cluster: one multiplexed connection a node. */
final class Link implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(Link.class);

  private final StatefulConnection<String, String> connection;
  private final RedisClusterAsyncCommands<String, String> commands;
  private final Supplier<List<RedisClusterAsyncCommands<String, String>>> masters;
  private final Duration timeout;

  private Link(
      StatefulConnection<String, String> connection,
      RedisClusterAsyncCommands<String, String> commands,
      Supplier<List<RedisClusterAsyncCommands<String, String>>> masters,
      Duration timeout) {
    this.connection = connection;
    this.commands = commands;
    this.masters = masters;
    this.timeout = timeout;
    warnIfItRepeats(connection.getOptions());
  }

  /** One command. */
  interface Call<T> {
    RedisFuture<T> on(RedisClusterAsyncCommands<String, String> commands);
  }

  static Link to(RedisClient client, Duration timeout) {
    StatefulRedisConnection<String, String> connection =
        connected(() -> client.connect(StringCodec.UTF8));
    return new Link(connection, connection.async(), () -> List.of(connection.async()), timeout);
  }

  static Link to(RedisClusterClient client, Duration timeout) {
    StatefulRedisClusterConnection<String, String> connection =
        connected(() -> client.connect(StringCodec.UTF8));
    return new Link(
        connection,
        connection.async(),
        () ->
            connection.getPartitions().stream()
                .filter(node -> node.getRole().isUpstream() && !node.getSlots().isEmpty())
                .map(RedisClusterNode::getNodeId)
                .<RedisClusterAsyncCommands<String, String>>map(
                    node -> connection.getConnection(node).async())
                .toList(),
        timeout);
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

  private static <T> T connected(Supplier<T> connect) {
    try {
      return connect.get();
    } catch (RedisException e) {
      throw Failures.ofRead(e);
    }
  }

  /** A command without an effect. */
  <T> T read(Call<T> call) {
    return await(call, commands, true);
  }

  /** A command with an effect: if its answer does not come, that is unknown. */
  <T> T write(Call<T> call) {
    return await(call, commands, false);
  }

  /** The same on every master; it must be harmless to repeat. */
  <T> void onEachMaster(Call<T> call) {
    masters.get().forEach(master -> await(call, master, true));
  }

  /** Whether every master syncs its log before it answers. */
  boolean isDurable() {
    try {
      return masters.get().stream()
          .allMatch(master -> {
            Map<String, String> log = await(each -> each.configGet("append*"), master, true);
            return "yes".equals(log.get("appendonly")) && "always".equals(log.get("appendfsync"));
          });
    } catch (StoreException e) {
      return false; // those who run it for others do not let one look
    }
  }

  private <T> T await(Call<T> call, RedisClusterAsyncCommands<String, String> on, boolean isRead) {
    if (!connection.isOpen()) {
      throw StoreException.notApplied(Reason.UNAVAILABLE, "Redis: not connected");
    }
    Outcome lost = isRead ? Outcome.NOT_APPLIED : Outcome.UNKNOWN;
    RedisFuture<T> answer;
    try {
      answer = call.on(on);
    } catch (RedisException e) {
      throw Failures.of(e, lost);
    }
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw Failures.of(e.getCause() == null ? e : e.getCause(), lost);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new StoreException(lost, Reason.TIMEOUT, "Redis: no answer in " + timeout, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreException(lost, Reason.UNAVAILABLE, "Redis: interrupted", e);
    }
  }

  @Override
  public void close() {
    connection.close();
  }
}
