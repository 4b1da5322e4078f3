package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.cli.store.TechniqueTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The committed pages equal the output of {@code ./dev docs}. */
final class GeneratedDocsTest {
  private static final Path ROOT = Path.of("..");

  /** The class, the page, and, if the class has several essays, the number of the essay. */
  private static final Pattern PAGE = Pattern.compile("\\b([A-Z]\\w+):([a-z-]+)(?::([0-9]))?");

  private static void holds(String file, String text) throws IOException {
    String committed = Files.readString(ROOT.resolve(file));
    assertTrue(committed.contains(text.strip()), file + " is outdated; run ./dev docs");
  }

  @Test
  void theTableOfTechniquesIsCurrent() throws IOException {
    holds("docs/reference/techniques.md", TechniqueTable.markdown());
  }

  @Test
  void theCommandLineIsCurrent() throws IOException {
    CommandLine line = QuipuCommand.commandLine();
    line.setUsageHelpAutoWidth(false);
    holds("docs/reference/cli.md", line.getUsageMessage());
    for (Map.Entry<String, CommandLine> each : line.getSubcommands().entrySet()) {
      holds("docs/reference/cli.md", each.getValue().getUsageMessage());
      for (CommandLine below : each.getValue().getSubcommands().values()) {
        holds("docs/reference/cli.md", below.getUsageMessage());
      }
    }
  }

  private static Path source(String name) throws IOException {
    for (String module : List.of("techniques", "sketches", "ingest")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main"))) {
        Optional<Path> found = files.filter(file -> file.endsWith(name)).findFirst();
        if (found.isPresent()) {
          return found.get();
        }
      }
    }
    throw new AssertionError("no source " + name);
  }

  @Test
  void thePagesOfTechniquesAreCurrent() throws IOException {
    String index = Files.readString(ROOT.resolve("docs/README.md"));
    int pages = 0;
    Matcher page = PAGE.matcher(Files.readString(ROOT.resolve("tools/docs.sh")));
    while (page.find()) {
      String source = Files.readString(source(page.group(1) + ".java"));
      int number = page.group(3) == null ? 1 : Integer.parseInt(page.group(3));
      String essay =
          source.split("(?m)^ \\* <pre>\\{@code$", -1)[number].split("\n \\* }</pre>", 2)[0];
      StringBuilder text = new StringBuilder();
      essay.lines().forEach(each -> text.append(each.replaceFirst("^ \\* ?", "")).append('\n'));
      String path = "concepts/" + page.group(2) + ".md";
      holds("docs/" + path, text.toString());
      assertTrue(index.contains(path), "docs/README.md has no link to " + path);
      pages++;
    }
    assertTrue(pages > 20, pages + " pages are listed in tools/docs.sh");
  }
}
