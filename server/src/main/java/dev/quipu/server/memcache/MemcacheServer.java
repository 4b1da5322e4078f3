package dev.quipu.server.memcache;

import dev.quipu.engine.Engine;
import dev.quipu.server.net.CommandHelp;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.util.List;

/** The memcached port of an engine. */
public final class MemcacheServer {
  private MemcacheServer() {}

  /**
   * Starts the port.
   *
   * @param unsigned name prefixes of counters that are unsigned and wrap at 2^64, as in memcached;
   *     all other counters are limited to 0 to 2^63 - 1 on this port
   * @param version the product version
   * @throws IOException if the address cannot be bound
   */
  public static CommandPort start(
      PortOptions options, Engine engine, List<String> unsigned, String version, Clock clock)
      throws IOException {
    MemcacheState shared = new MemcacheState(options, unsigned, version, clock);
    return new CommandPort(
        options, engine, (remote, memory) -> new MemcacheDecoder(shared, memory));
  }

  /** Returns all commands, ordered by name. */
  public static List<CommandHelp> commands() {
    return MemcacheCommands.all().stream().map(MemcacheCommand::help).toList();
  }
}
