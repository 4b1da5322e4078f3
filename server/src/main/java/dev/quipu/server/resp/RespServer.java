package dev.quipu.server.resp;

import dev.quipu.engine.Engine;
import dev.quipu.server.net.CommandPort;
import dev.quipu.server.net.Listed;
import dev.quipu.server.net.PortOptions;
import dev.quipu.server.resp.command.RespCommands;
import dev.quipu.server.resp.session.Hub;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Serves the counters of an engine over the Redis protocol. */
public final class RespServer implements AutoCloseable {
  private final CommandPort port;

  private RespServer(PortOptions options, Hub hub) throws IOException {
    this.port =
        CommandPort.start(
            options, hub.engine(), (remote, memory) -> new RespFront(hub, remote, memory));
    hub.listensAt(CommandPort.text(port.address()));
  }

  /**
   * Starts to serve.
   *
   * @param version what INFO tells
   * @throws IOException if the address cannot be bound
   */
  public static RespServer start(PortOptions options, Engine engine, String version, Clock clock)
      throws IOException {
    return new RespServer(
        options, new Hub(engine, options.token(), options.mayFlush(), version, clock));
  }

  /** All commands, in order of name. */
  public static List<Listed> commands() {
    return RespCommands.all().stream()
        .map(each ->
            new Listed("Redis", each.name().toUpperCase(Locale.ROOT), each.usage(), each.summary()))
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
