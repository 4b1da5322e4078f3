package dev.quipu.memcached;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.Reason;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import net.rubyeye.xmemcached.MemcachedClient;
import net.rubyeye.xmemcached.XMemcachedClientBuilder;
import net.rubyeye.xmemcached.exception.MemcachedException;
import net.rubyeye.xmemcached.impl.KetamaMemcachedSessionLocator;
import net.rubyeye.xmemcached.transcoders.SerializingTranscoder;

/** Opens {@code memcached://host:port,host:port}. */
public final class MemcachedProvider implements StoreProvider {
  private static final int PORT = 11_211;
  private static final int CONNECTIONS_MAX = 64;
  private static final long HEAL_MILLIS = 200;

  /** Creates the provider; for the service loader. */
  public MemcachedProvider() {}

  @Override
  public List<String> schemes() {
    return List.of("memcached");
  }

  @Override
  public String usage() {
    return "memcached://HOST:PORT,HOST:PORT?connections=1";
  }

  @Override
  public StoreProfile fullProfile() {
    return MemcachedDriver.PROFILE;
  }

  @Override
  public String schema(URI uri) {
    return "# memcached has no schema\n";
  }

  @Override
  public StoreDriver open(URI uri) {
    return open(uri, MemcachedDriver::clock);
  }

  static StoreDriver open(URI uri, Function<MemcachedClient, Clock> clock) {
    StoreUri parsed = new StoreUri(uri, PORT, Set.of("connections"));
    XMemcachedClientBuilder builder =
        new XMemcachedClientBuilder(
            parsed.hosts().stream()
                .map(host -> new InetSocketAddress(host.name(), host.port()))
                .toList());
    builder.setOpTimeout(parsed.timeout().toMillis());
    builder.setConnectTimeout(parsed.timeout().toMillis());
    builder.setConnectionPoolSize(parsed.parameter("connections", 1, 1, CONNECTIONS_MAX));
    builder.setHealSessionInterval(HEAL_MILLIS);
    builder.setFailureMode(true); // no other server replaces one that is down
    builder.setName(names(parsed.hosts())); // for messages
    builder.setTranscoder(plainTexts());
    builder.setCommandFactory(CountCommand.factory());
    builder.setSessionLocator(new KetamaMemcachedSessionLocator());
    try {
      MemcachedClient client = builder.build();
      requireAll(client, parsed);
      client.setOptimizeGet(false);
      client.setTimeoutExceptionThreshold(
          1); // the second in a row closes the connection, on which others wait
      Clock time = clock.apply(client);
      return MemcachedDriver.ofOwn(client, parsed.timeout(), time, () -> shutdown(client));
    } catch (IOException e) {
      throw new NotAppliedException(
          Reason.UNAVAILABLE,
          "memcached (%s): cannot connect: %s".formatted(names(parsed.hosts()), e.getMessage()),
          e);
    }
  }

  /** Returns a transcoder that never compresses, since appends need plain values. */
  private static SerializingTranscoder plainTexts() {
    SerializingTranscoder texts = new SerializingTranscoder();
    texts.setCompressionThreshold(Integer.MAX_VALUE);
    return texts;
  }

  /** Requires a reply of each server: the client opens even if no server is running. */
  private static void requireAll(MemcachedClient client, StoreUri uri) {
    int answered;
    try {
      answered = client.getVersions().size();
    } catch (TimeoutException | MemcachedException e) {
      answered = 0; // one server that is down fails the call
    } catch (InterruptedException e) {
      shutdown(client);
      throw Failures.of(e, names(uri.hosts()), Outcome.NOT_APPLIED);
    }
    if (answered == uri.hosts().size()) {
      return;
    }
    shutdown(client);
    List<StoreUri.Host> away =
        uri.hosts().stream().filter(host -> !isListening(host, uri.timeout())).toList();
    List<StoreUri.Host> named = away.isEmpty() ? uri.hosts() : away;
    throw new NotAppliedException(
        Reason.UNAVAILABLE,
        "memcached (%s): no reply. Check that each server of the store's URI is running"
            .formatted(names(named)));
  }

  private static String names(List<StoreUri.Host> hosts) {
    return hosts.stream()
        .map(host -> host.name() + ":" + host.port())
        .collect(Collectors.joining(", "));
  }

  private static boolean isListening(StoreUri.Host host, Duration timeout) {
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(host.name(), host.port()), Math.toIntExact(timeout.toMillis()));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static void shutdown(MemcachedClient client) {
    try {
      client.shutdown();
    } catch (IOException e) {
      // it is discarded in any case
    }
  }
}
