package dev.quipu.server.resp;

import dev.quipu.engine.Engine;
import dev.quipu.server.net.CommandHelp;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.command.RespCommands;
import dev.quipu.server.resp.session.SharedState;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/** Serves the counters of an engine over the Redis protocol. */
public final class RespServer {
  private RespServer() {}

  /**
   * Starts to serve.
   *
   * @param version what INFO returns
   * @throws IOException if the address cannot be bound
   */
  public static CommandPort start(PortOptions options, Engine engine, String version, Clock clock)
      throws IOException {
    SharedState shared =
        new SharedState(engine, options.token(), options.mayFlush(), version, clock);
    CommandPort port =
        CommandPort.start(
            options, engine, (remote, memory) -> new RespDecoder(shared, remote, memory));
    shared.listensAt(CommandPort.text(port.address()));
    return port;
  }

  /** Returns all commands, in order of name. */
  public static List<CommandHelp> commands() {
    return RespCommands.all().stream()
        .map(each ->
            new CommandHelp(
                "Redis", each.name().toUpperCase(Locale.ROOT), each.usage(), each.summary()))
        .toList();
  }
}
