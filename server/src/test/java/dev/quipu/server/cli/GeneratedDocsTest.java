package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.cli.store.TechniqueTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The committed pages equal the output of {@code ./dev docs}. */
final class GeneratedDocsTest {
  private static final Path ROOT = Path.of("..");

  private static final List<String> PAGES =
      List.of(
          "AtomicAdd:atomic-add",
          "Optimistic:optimistic",
          "Optimistic:optimistic-with-history:2",
          "RequestTokens:request-token",
          "MarkerItem:marker-item",
          "ItemCollection:item-collection",
          "TokenSet:token-set",
          "Sharded:sharded",
          "Locks:locks",
          "CacheFirst:cache-first",
          "DurableFirst:durable-first",
          "OnlineRing:online-ring",
          "OnlineExact:online-exact",
          "OnlineApproximate:online-approximate",
          "ViewCounter:unique-views",
          "SqsConsumer:sqs-consumer",
          "HitLog:hit-log",
          "VersionTree:version-tree",
          "SequenceOfRecords:sequence-of-records",
          "UniqueValues:unique-values",
          "RevisionLog:revision-log",
          "RangeJob:range-job",
          "RegionalCounters:regional-counters",
          "RegionalCollection:regional-collection");

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
    for (String name : PAGES) {
      String[] parts = name.split(":", -1);
      String source = Files.readString(source(parts[0] + ".java"));
      int number = parts.length > 2 ? Integer.parseInt(parts[2]) : 1;
      String essay = source.split("(?m)^/\\*$", -1)[number].split("\n \\*/", 2)[0];
      StringBuilder text = new StringBuilder();
      essay.lines().forEach(each -> text.append(each.replaceFirst("^ \\* ?", "")).append('\n'));
      holds("docs/concepts/" + parts[1] + ".md", text.toString());
    }
  }
}
