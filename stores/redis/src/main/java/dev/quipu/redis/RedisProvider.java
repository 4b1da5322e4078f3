package dev.quipu.redis;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Opens {@code redis://} and {@code redis-cluster://}, and the same with TLS. */
public final class RedisProvider implements StoreProvider {
  private static final int PORT = 6_379;
  private static final String PREFIX = "quipu";

  /** Creates the provider; for the service loader. */
  public RedisProvider() {}

  @Override
  public List<String> schemes() {
    return List.of("redis", "rediss", "redis-cluster", "rediss-cluster");
  }

  @Override
  public String usage() {
    return "redis://USER:PASSWORD@HOST:PORT/DATABASE?prefix=quipu&durability=fsync&combine=on,"
        + " or redis-cluster://HOST:PORT,HOST:PORT;"
        + " with TLS: rediss, rediss-cluster";
  }

  @Override
  public StoreProfile fullProfile() {
    return RedisDriver.profile(true, Atomicity.STORE);
  }

  @Override
  public String schema(URI uri) {
    return Script.library();
  }

  @Override
  public StoreDriver open(URI uri) {
    StoreUri parsed =
        new StoreUri(uri, PORT, Set.of("prefix", StoreUri.DURABILITY_NAME, StoreUri.COMBINE_NAME));
    String prefix = parsed.parameter("prefix").orElse(PREFIX);
    if (!prefix.matches("[A-Za-z0-9_.:-]{1,64}")) {
      throw new IllegalArgumentException(
          "prefix is '%s'; it must be 1 to 64 letters, digits or _.:-".formatted(prefix));
    }
    parsed.durability(); // reports a wrong value before connecting
    parsed.combines();
    return parsed.scheme().endsWith("-cluster")
        ? openCluster(parsed, prefix)
        : openServer(parsed, prefix);
  }

  private static StoreDriver openServer(StoreUri uri, String prefix) {
    RedisClient client = RedisClient.create(redisUri(uri, uri.host()));
    client.setOptions(options(ClientOptions.builder().autoReconnect(false), uri.timeout()));
    return open(uri, prefix, client, () -> RedisConnection.to(client, where(uri), uri.timeout()));
  }

  private static StoreDriver openCluster(StoreUri uri, String prefix) {
    // The client of a cluster must reconnect to nodes itself, as slots move.
    RedisClusterClient client =
        RedisClusterClient.create(uri.hosts().stream().map(host -> redisUri(uri, host)).toList());
    client.setOptions(
        (ClusterClientOptions) options(ClusterClientOptions.builder(), uri.timeout()));
    return open(uri, prefix, client, () -> RedisConnection.to(client, where(uri), uri.timeout()));
  }

  private static StoreDriver open(
      StoreUri uri, String prefix, AbstractRedisClient client, Supplier<RedisConnection> link) {
    try {
      return RedisDriver.open(
          link.get(), prefix, uri.durability(), uri.combines(), () -> shutdown(client));
    } catch (RuntimeException e) {
      shutdown(client);
      throw e;
    }
  }

  private static String where(StoreUri uri) {
    return uri.hosts().stream()
        .map(host -> host.name() + ":" + host.port())
        .collect(Collectors.joining(", "));
  }

  private static void shutdown(AbstractRedisClient client) {
    RedisConnection.awaitClosed(client.shutdownAsync(0, 2, TimeUnit.SECONDS));
  }

  /** Returns options that never resend the commands that were pending when a connection broke. */
  private static ClientOptions options(ClientOptions.Builder builder, Duration timeout) {
    return builder
        .replayFilter(command -> true)
        .socketOptions(SocketOptions.builder().connectTimeout(timeout).keepAlive(true).build())
        .build();
  }

  private static RedisURI redisUri(StoreUri uri, StoreUri.Host host) {
    RedisURI.Builder builder =
        RedisURI.builder()
            .withHost(host.name())
            .withPort(host.port())
            .withSsl(uri.scheme().startsWith("rediss"))
            .withTimeout(uri.timeout())
            .withClientName("quipu");
    uri.password()
        .ifPresent(password -> {
          if (uri.user().isPresent()) {
            builder.withAuthentication(uri.user().get(), password.toCharArray());
          } else {
            builder.withPassword(password.toCharArray());
          }
        });
    if (!uri.path().isEmpty()) {
      if (!uri.path().matches("[0-9]{1,5}")) {
        throw new IllegalArgumentException(
            "the database in the store's URI is '%s'; it must be a number from 0 to 99999"
                .formatted(uri.path()));
      }
      builder.withDatabase(Integer.parseInt(uri.path()));
    }
    return builder.build();
  }
}
