package dev.quipu.server.memcache;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.memcache.Line.Rejected;
import io.netty.buffer.ByteBuf;
import java.util.List;

/** Commands about the server. */
final class ServerCommands {
  private static final int WORDS_MAX = 64;

  private ServerCommands() {}

  static List<MemcacheCommand> all() {
    return List.of(
        MemcacheCommand.of(
                "version", // what follows is ignored, as memcached does
                "")
            .summary("Returns the version.")
            .words(1, WORDS_MAX)
            .runs((counters, request, out) ->
                Request.line(out, "VERSION " + request.shared().version())),
        MemcacheCommand.of("verbosity", "number")
            .summary("Accepted for compatibility; has no effect.")
            .words(1, 3)
            .mayBeQuiet()
            .runs((counters, request, out) -> {
              if (request.size() > 1) {
                request.line().unsigned(1, Line.BAD_FORMAT);
              }
              Request.line(out, request.size() > 1 ? "OK" : "ERROR");
            }),
        MemcacheCommand.of("stats", "[reset | items | slabs | settings | sizes]")
            .summary("Returns statistics.")
            .words(1, 2)
            .runs(ServerCommands::statistics),
        MemcacheCommand.of("flush_all", "[0]")
            .summary("Removes all counters and texts; requires --allow-flush.")
            .words(1, 2)
            .mayBeQuiet()
            .runs(ServerCommands::flush));
  }

  private static void statistics(CounterAccess counters, Request request, ByteBuf out) {
    MemcacheState shared = request.shared();
    if (request.size() == 2) {
      switch (request.line().text(1)) {
        case "reset" -> Request.line(out, "RESET");
        case "items", "slabs", "settings", "sizes" -> Request.line(out, "END");
        default -> throw new Rejected("CLIENT_ERROR unknown statistics");
      }
      return;
    }
    stat(out, "pid", Long.toString(ProcessHandle.current().pid()));
    stat(out, "uptime", Long.toString(shared.upSeconds()));
    stat(out, "time", Long.toString(counters.nowMillis() / 1_000));
    stat(out, "version", shared.version());
    stat(out, "pointer_size", "64");
    stat(out, "curr_connections", Integer.toString(shared.connected.get()));
    stat(out, "total_connections", Long.toString(shared.accepted.sum()));
    stat(out, "commands", Long.toString(shared.commands.sum()));
    stat(out, "curr_items", Integer.toString(counters.size()));
    Request.line(out, "END");
  }

  private static void stat(ByteBuf out, String name, String value) {
    Request.line(out, "STAT " + name + " " + value);
  }

  /** Rejects the command; if enabled, {@link MemcacheDecoder} executes it in parts. */
  private static void flush(CounterAccess counters, Request request, ByteBuf out) {
    throw new Rejected("CLIENT_ERROR flush_all is disabled; start the server with --allow-flush");
  }
}
