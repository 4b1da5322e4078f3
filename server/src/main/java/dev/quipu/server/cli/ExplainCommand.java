package dev.quipu.server.cli;

import dev.quipu.hits.HitLog;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTrees;
import dev.quipu.layer.Store;
import dev.quipu.server.cli.access.OpenedStore;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.server.cli.output.TreePicture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows the stored parts of a counter. */
@Command(
    name = "explain",
    description = {
      "Show the stored parts of a counter, without changing it.",
      "",
      "For version-tree, the tree of versions; for hit-log, the summary and the hits",
      "after it."
    },
    footer = {
      "",
      "Each line is a version: its count, its id (number, start of the branch,",
      "process), and, for the last version of a branch, what it adds to the value.",
      "It is indented below its parent, or follows ... if the parent was removed.",
      "",
      "Example:",
      "  quipu explain page --store simpledb://us-east-1/counters --svg page.svg"
    })
final class ExplainCommand extends ResultCommand {
  @Parameters(paramLabel = "KEY", description = "The counter.")
  private String counter = "";

  @Option(
      names = "--store",
      paramLabel = "URI",
      required = true,
      description = "The store, as for serve.")
  private String store = "";

  @Option(names = "--svg", paramLabel = "FILE", description = "Write the tree to this file.")
  private @Nullable Path svg;

  @Override
  public Integer call() throws IOException {
    try (OpenedStore opened = OpenedStore.of(store)) {
      Store on = opened.store();
      Map<Integer, VersionTrees> trees = new VersionTree(on).trees(counter);
      if (!trees.isEmpty()) {
        return tree(new TreePicture(counter, trees));
      }
      HitLog.Stored hits = new HitLog(on).stored(counter);
      if (hits.end().isEmpty() && hits.stored() == 0) {
        output.failed("counter %s has neither versions nor hits".formatted(counter));
        return ExitCode.FAILED;
      }
      int code = hits(hits);
      if (svg == null) {
        return code;
      }
      output.note(
          "%s was not written: --svg draws the tree of technique version-tree, and %s is counted by"
                  .formatted(svg, counter)
              + " hit-log");
      return ExitCode.FAILED;
    }
  }

  private int tree(TreePicture picture) throws IOException {
    if (svg != null) {
      Files.writeString(svg, picture.svg());
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", counter);
    members.put("value", Long.toString(picture.value()));
    members.put("tree", picture.text());
    output.print(picture.text(), members);
    return ExitCode.OK;
  }

  private int hits(HitLog.Stored hits) {
    long value = hits.count() + hits.sumAfter();
    String end = hits.end().map(Object::toString).orElse("never");
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", counter);
    members.put("value", Long.toString(value));
    members.put("summary", Long.toString(hits.count()));
    members.put("until", end);
    members.put("swept", Long.toString(hits.swept()));
    members.put("hitsStored", hits.stored());
    members.put("hitsAfter", hits.hitsAfter());
    members.put("sumAfter", Long.toString(hits.sumAfter()));
    output.print(
        """
        %s = %d
          summary until %s: %d
          hits after it: %d, sum %d
          hits stored: %d; %d of the summary is from hits that were removed\
        """
            .formatted(
                counter,
                value,
                end,
                hits.count(),
                hits.hitsAfter(),
                hits.sumAfter(),
                hits.stored(),
                hits.swept()),
        members);
    return ExitCode.OK;
  }
}
