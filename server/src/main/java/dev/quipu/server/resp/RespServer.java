package dev.quipu.server.resp;

import dev.quipu.engine.Engine;
import dev.quipu.server.net.CommandHelp;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.command.RespCommand;
import dev.quipu.server.resp.command.RespCommands;
import dev.quipu.server.resp.session.SharedState;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.util.List;

/** The Redis port of an engine. */
public final class RespServer {
  private RespServer() {}

  /**
   * Starts the port.
   *
   * @param version the product version
   * @throws IOException if the address cannot be bound
   */
  public static CommandPort start(PortOptions options, Engine engine, String version, Clock clock)
      throws IOException {
    SharedState shared = new SharedState(engine, options, version, clock);
    CommandPort port =
        new CommandPort(
            options, engine, (remote, memory) -> new RespDecoder(shared, remote, memory));
    shared.listensAt(CommandPort.text(port.address()));
    return port;
  }

  /** Returns all commands, ordered by name. */
  public static List<CommandHelp> commands() {
    return RespCommands.all().stream().map(RespCommand::help).toList();
  }
}
