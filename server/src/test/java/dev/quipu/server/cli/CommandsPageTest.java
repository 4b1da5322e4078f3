package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.server.net.CommandHelp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The page of commands is the table of commands; {@code -Dquipu.docs.write=true} writes it. */
final class CommandsPageTest {
  private static final Path PAGE = Path.of("../docs/reference/commands.md");
  private static final String HEAD =
      """
      # What the ports take

      One table for all ports, which `quipu commands` prints too. A counter is the same on each of
      them. The answer to a write leaves when it is on the disk, unless `--durability` says
      otherwise.
      """;
  private static final Map<String, String> ABOUT =
      Map.of(
          "HTTP",
          "Always. [Details](http.md).",
          "Redis",
          """
          With `--resp PORT`. What Redis has too is answered byte for byte as Redis
          answers it, errors among them; but a counter is set to nothing but a signed
          64-bit integer, and its name is UTF-8 without control characters, at most 512
          bytes. [Guide](../guides/redis.md).\
          """,
          "memcached",
          """
          With `--memcached PORT`. What memcached has too is answered byte for byte as
          memcached 1.6.18 answers it. [Guide](../guides/memcached.md).\
          """);

  @Test
  void thePageIsTheTable() throws IOException {
    StringBuilder page = new StringBuilder(HEAD);
    for (String port : List.of("HTTP", "Redis", "memcached")) {
      page.append("\n## %s\n\n%s\n\n".formatted(port, ABOUT.get(port)));
      page.append("| command | arguments | what it does |\n|---|---|---|\n");
      for (CommandHelp each : CommandsCommand.all()) {
        if (each.port().equals(port)) {
          page.append(
              "| `%s` | %s | %s |%n".formatted(each.name(), code(each.usage()), each.summary()));
        }
      }
    }
    page.append("\nMade by a test (CommandsPageTest), which compares it.\n");
    if (Boolean.getBoolean("quipu.docs.write")) {
      Files.writeString(PAGE, page.toString());
    }
    assertEquals(Files.readString(PAGE), page.toString());
  }

  private static String code(String usage) {
    return usage.isEmpty() ? "" : "`" + usage.replace("|", "\\|") + "`";
  }
}
