package dev.quipu.server.memcache;

import dev.quipu.engine.Engine;
import dev.quipu.server.net.CommandHelp;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.util.List;

/** Serves the counters of an engine over the memcached protocol. */
public final class MemcacheServer {
  private MemcacheServer() {}

  /**
   * Starts to serve.
   *
   * @param unsigned beginnings of the names of counters that have no sign, and begin again at 0
   *     behind 2^64 - 1, as memcached counts; empty for none, which is to say that no counter may
   *     leave 0 to 2^63 - 1 over this port
   * @param version what {@code version} returns
   * @throws IOException if the address cannot be bound
   */
  public static CommandPort start(
      PortOptions options, Engine engine, List<String> unsigned, String version, Clock clock)
      throws IOException {
    MemcacheState shared = MemcacheState.of(options, engine, unsigned, version, clock);
    return CommandPort.start(
        options, engine, (remote, memory) -> new MemcacheDecoder(shared, memory));
  }

  /** Returns all commands, in order of name. */
  public static List<CommandHelp> commands() {
    return MemcacheCommands.all().stream()
        .map(each ->
            new CommandHelp(
                "memcached",
                each.name(),
                each.usage() + (each.knowsNoReply() ? " [noreply]" : ""),
                each.summary()))
        .toList();
  }
}
