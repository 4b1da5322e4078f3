package dev.quipu.server.cli;

import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.memcache.MemcacheServer;
import dev.quipu.server.net.CommandHelp;
import dev.quipu.server.resp.RespServer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code quipu commands}. */
@Command(
    name = "commands",
    description = "List the commands of the HTTP, Redis and memcached ports of a server.",
    footer = {"", "Examples:", "  quipu commands redis", "  quipu commands memcached --json"})
final class CommandsCommand extends ResultCommand {
  @Parameters(
      paramLabel = "PORT",
      arity = "0..1",
      description = "http, redis or memcached (default: all).")
  private @Nullable String port;

  /** Returns the commands of all ports. */
  static List<CommandHelp> all() {
    List<CommandHelp> all = new ArrayList<>(HttpServer.commands());
    all.addAll(RespServer.commands());
    all.addAll(MemcacheServer.commands());
    return all;
  }

  @Override
  public Integer call() {
    String wanted = port;
    boolean isFound = false;
    for (CommandHelp each : all()) {
      if (wanted == null || each.port().equalsIgnoreCase(wanted)) {
        isFound = true;
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("port", each.port());
        members.put("name", each.name());
        members.put("usage", each.usage());
        members.put("summary", each.summary());
        output.print(
            "%-9s  %s %s%n           %s"
                .formatted(each.port(), each.name(), each.usage(), each.summary()),
            members);
      }
    }
    if (!isFound) {
      throw new IllegalArgumentException(
          "PORT is '%s'; it must be http, redis or memcached".formatted(wanted));
    }
    return ExitCode.OK;
  }
}
