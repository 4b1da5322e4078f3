package dev.quipu.server.memcache;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.memcache.Line.Refused;
import io.netty.buffer.ByteBuf;
import java.util.List;

/** Commands about the server. */
final class ServerCommands {
  private static final int WORDS_MAX = 64;

  private ServerCommands() {}

  static List<MemcacheCommand> all() {
    return List.of(
        MemcacheCommand.of(
            "version",
            1,
            WORDS_MAX, // what follows is ignored, as memcached does
            "",
            "Returns the version.",
            (turn, request, out) ->
                Request.line(out, "VERSION 1.6.18-quipu-" + request.hub().version())),
        MemcacheCommand.quiet(
            "verbosity",
            1,
            3,
            "number",
            "Is taken, and changes nothing.",
            (turn, request, out) -> {
              if (request.size() > 1) {
                request.line().unsigned(1, Line.BAD_FORMAT);
              }
              Request.line(out, request.size() > 1 ? "OK" : "ERROR");
            }),
        MemcacheCommand.of(
            "stats",
            1,
            2,
            "[reset | items | slabs | settings | sizes]",
            "Returns statistics.",
            ServerCommands::figures),
        MemcacheCommand.quiet(
            "flush_all",
            1,
            2,
            "[0]",
            "Removes everything, if the server was started so that it may.",
            ServerCommands::flush));
  }

  private static void figures(CounterAccess turn, Request request, ByteBuf out) {
    MemcacheHub hub = request.hub();
    if (request.size() == 2) {
      switch (request.line().text(1)) {
        case "reset" -> Request.line(out, "RESET");
        case "items", "slabs", "settings", "sizes" -> Request.line(out, "END");
        default -> throw new Refused("CLIENT_ERROR no such figures");
      }
      return;
    }
    stat(out, "pid", Long.toString(ProcessHandle.current().pid()));
    stat(out, "uptime", Long.toString(hub.upSeconds()));
    stat(out, "time", Long.toString(turn.nowMillis() / 1_000));
    stat(out, "version", "1.6.18-quipu-" + hub.version());
    stat(out, "pointer_size", "64");
    stat(out, "curr_connections", Integer.toString(hub.connected().get()));
    stat(out, "total_connections", Long.toString(hub.accepted().sum()));
    stat(out, "commands", Long.toString(hub.commands().sum()));
    stat(out, "curr_items", Integer.toString(turn.size()));
    Request.line(out, "END");
  }

  private static void stat(ByteBuf out, String name, String value) {
    Request.line(out, "STAT " + name + " " + value);
  }

  /** Done by a step of its own, in parts: see {@link MemcacheFront}. */
  private static void flush(CounterAccess turn, Request request, ByteBuf out) {
    throw new Refused("CLIENT_ERROR flush_all is off: it needs --allow-flush");
  }
}
