package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.server.net.CommandHelp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The page of commands equals the table; {@code -Dquipu.docs.write=true} writes it. */
final class CommandsPageTest {
  private static final Path PAGE = Path.of("../docs/reference/commands.md");
  private static final String HEAD =
      """
      # Commands

      The commands of all ports, as printed by `quipu commands`. All ports share the same counters.
      A write is acknowledged after it is synced to disk, unless `--durability` is weaker.
      """;
  private static final Map<String, String> ABOUT =
      Map.of(
          "HTTP",
          "On port 7080, or `--http PORT`. [Details](http.md).",
          "Redis",
          """
          With `--resp PORT`. Replies, including errors, are byte for byte those of Redis,
          except that a value must be a signed 64-bit integer, and a name UTF-8 without
          control characters, at most 512 bytes. [Guide](../guides/redis.md).\
          """,
          "memcached",
          """
          With `--memcached PORT`. Replies are byte for byte those of memcached 1.6.18.
          [Guide](../guides/memcached.md).\
          """);

  @Test
  void thePageIsTheTable() throws IOException {
    StringBuilder page = new StringBuilder(HEAD);
    for (String port : List.of("HTTP", "Redis", "memcached")) {
      page.append("\n## %s\n\n%s\n\n".formatted(port, ABOUT.get(port)));
      page.append("| command | arguments | description |\n|---|---|---|\n");
      for (CommandHelp each : CommandsCommand.all()) {
        if (each.port().equals(port)) {
          page.append(
              "| `%s` | %s | %s |%n".formatted(each.name(), code(each.usage()), each.summary()));
        }
      }
    }
    page.append("\nGenerated and checked by CommandsPageTest.\n");
    if (Boolean.getBoolean("quipu.docs.write")) {
      Files.writeString(PAGE, page.toString());
    }
    assertEquals(Files.readString(PAGE), page.toString());
  }

  private static String code(String usage) {
    return usage.isEmpty() ? "" : "`" + usage.replace("|", "\\|") + "`";
  }
}
