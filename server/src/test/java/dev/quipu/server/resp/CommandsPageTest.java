package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** The page of commands is the table of commands; {@code -Dquipu.docs.write=true} writes it. */
final class CommandsPageTest {
  private static final Path PAGE = Path.of("../docs/reference/commands.md");
  private static final String HEAD =
      """
      # Redis commands

      What `quipu serve --resp PORT` answers. Every answer to a write leaves when it is on the disk.
      Commands on counters that Redis has too are answered byte for byte as Redis answers them,
      errors among them; but a counter is set to nothing but a signed 64-bit integer, and its name
      is UTF-8 without control characters, at most 512 bytes.

      | command | arguments | what it does |
      |---|---|---|
      """;

  @Test
  void thePageIsTheTable() throws IOException {
    StringBuilder page = new StringBuilder(HEAD);
    for (RespCommand command : RespCommands.all()) {
      page.append(
          "| `%s` | %s | %s |%n"
              .formatted(
                  command.name().toUpperCase(Locale.ROOT),
                  command.usage().isEmpty() ? "" : "`" + command.usage().replace("|", "\\|") + "`",
                  command.summary()));
    }
    page.append("\nMade by a test (CommandsPageTest), which compares it.\n");
    if (Boolean.getBoolean("quipu.docs.write")) {
      Files.writeString(PAGE, page.toString());
    }
    assertEquals(Files.readString(PAGE), page.toString());
  }
}
