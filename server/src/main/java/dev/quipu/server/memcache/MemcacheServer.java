package dev.quipu.server.memcache;

import dev.quipu.engine.Engine;
import dev.quipu.server.net.CommandPort;
import dev.quipu.server.net.Listed;
import dev.quipu.server.net.PortOptions;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Serves the counters of an engine over the memcached protocol. */
public final class MemcacheServer implements AutoCloseable {
  private final CommandPort port;

  private MemcacheServer(PortOptions options, MemcacheHub hub) throws IOException {
    this.port =
        CommandPort.start(
            options, hub.engine(), (remote, memory) -> new MemcacheFront(hub, memory));
  }

  /**
   * Starts to serve.
   *
   * @param unsigned beginnings of the names of counters that have no sign, and begin again at 0
   *     behind 2^64 - 1, as memcached counts; empty for none, which is to say that no counter may
   *     leave 0 to 2^63 - 1 over this port
   * @param version what it tells
   * @throws IOException if the address cannot be bound
   */
  public static MemcacheServer start(
      PortOptions options, Engine engine, List<String> unsigned, String version, Clock clock)
      throws IOException {
    return new MemcacheServer(
        options,
        MemcacheHub.of(engine, options.token(), options.mayFlush(), unsigned, version, clock));
  }

  /** All commands, in order of name. */
  public static List<Listed> commands() {
    return MemcacheCommands.all().stream()
        .map(each ->
            new Listed(
                "memcached",
                each.name(),
                each.usage() + (each.knowsNoReply() ? " [noreply]" : ""),
                each.summary()))
        .toList();
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return port.address();
  }

  /** Whether new connections are accepted. */
  public boolean isListening() {
    return port.isListening();
  }

  /** Returns why it cannot be served, after this long at most; empty if it can. */
  public Optional<String> impediment(Duration patience) {
    return port.impediment(patience);
  }

  /** Stops accepting, and closes all connections. */
  @Override
  public void close() {
    port.close();
  }
}
