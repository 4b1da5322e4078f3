package dev.quipu.server.cli.store;

import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.Limits;
import dev.quipu.engine.Inspection;
import dev.quipu.engine.backup.BackupFiles;
import dev.quipu.server.archive.BackupTarget;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.Access.Movers;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.access.Mover;
import dev.quipu.server.cli.access.PastPeriod;
import dev.quipu.server.cli.access.StoredViewsCommand;
import dev.quipu.server.cli.input.SinceFlags;
import dev.quipu.server.cli.input.Times;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.server.rank.Ranking;
import dev.quipu.server.rank.Selection;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.view.ViewIdentity;
import dev.quipu.view.ViewPage;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands about views, data directories and techniques. */
public final class DataCommands {
  private DataCommands() {}

  @Command(
      name = "pages",
      description = "Print viewed pages ordered by URL, or by their unique views.",
      footer = {
        "",
        "A page is printed as its views, a tab, and its URL; with --since, the views",
        "since then and a tab come first.",
        "",
        "Examples:",
        "  quipu pages https://blog.example/",
        "  quipu pages --top 10",
        "  quipu pages --top 10 --since 2026-11-01 --step day"
      })
  public static final class PagesCommand extends AccessCommand {
    @Parameters(
        paramLabel = "PREFIX",
        arity = "0..1",
        description = "Print only URLs that start with this.")
    private String prefix = "";

    @Option(
        names = "--top",
        paramLabel = "N",
        description = "Print the N pages with the most views, 1 to 1000.")
    private @Nullable Integer top;

    @Mixin private SinceFlags changes = new SinceFlags();

    @Override
    public Integer call() {
      Integer most = top;
      if (most != null && (most < 1 || most > Limits.PAGE_COUNTERS_MAX)) {
        throw new IllegalArgumentException(
            "--top is %d; it must be from 1 to %d".formatted(most, Limits.PAGE_COUNTERS_MAX));
      }
      Optional<PastPeriod> period = PastPeriod.since(changes);
      if (period.isPresent() && most == null) {
        throw new IllegalArgumentException("--since requires --top");
      }
      try (Access access = target.openToRead()) {
        Selection selection = new Selection(prefix, "");
        if (period.isPresent() && most != null) {
          Mover.print(
              output, Movers.PAGES, access.movers(Movers.PAGES, prefix, period.get(), true, most));
        } else if (most == null) {
          selection.forEach(access.pages(), "", () -> true, this::print);
        } else {
          new Ranking(selection, true)
              .page(access.pages(), Optional.empty(), most, () -> true)
              .counters()
              .forEach(this::print);
        }
      }
      return ExitCode.OK;
    }

    private boolean print(CounterPage.Entry each) {
      String views = Long.toString(each.reading().value());
      output.print(
          views + "\t" + Output.oneLine(each.name()),
          Output.members("url", each.name(), "value", views));
      return true;
    }
  }

  @Command(
      name = "views",
      description = {
        "Print the exact number of unique views of a page, or the views themselves.",
        "",
        "A view is printed as its time, a tab, and its client, or its identity if it",
        "is not identified by time and client; --json prints all of them."
      },
      footer = {
        "",
        "Times have the format 2022-03-28T13:17:23+00:00.",
        "",
        "Examples:",
        "  quipu views myblog.com/a",
        "  quipu views myblog.com/a --events --from 2022-03-28T00:00:00+00:00",
        "  quipu views myblog.com/a --store 'dynamodb://eu-west-1/Blog?layout=views'"
      })
  public static final class ViewsCommand extends StoredViewsCommand {
    @Parameters(paramLabel = "URL", description = "The URL of the page, as in its views.")
    private String url = "";

    @Option(names = "--from", paramLabel = "TIME", description = "Count views from this time on.")
    private @Nullable String from;

    @Option(names = "--until", paramLabel = "TIME", description = "Count views before this time.")
    private @Nullable String until;

    @Option(
        names = "--identity",
        paramLabel = "RULE",
        description =
            "With --data or --store: the --identity under which the views were counted, for"
                + " --from, --until and --events (default: event).")
    private @Nullable String identity;

    @Option(names = "--events", description = "Print the views, not their number.")
    private boolean events;

    @Option(
        names = "--limit",
        paramLabel = "N",
        description = "With --events: print at most this number of views (default: all).")
    private @Nullable Long limit;

    @Override
    public Integer call() {
      Optional<Instant> start = Optional.ofNullable(from).map(Times::time);
      Optional<Instant> end = Optional.ofNullable(until).map(Times::time);
      if (limit != null && (!events || limit < 1)) {
        throw new IllegalArgumentException(
            "--limit is %d; it requires --events, and the minimum is 1".formatted(limit));
      }
      try (Access access =
          target.openToRead(store, Optional.ofNullable(identity).map(ViewIdentity::named))) {
        if (events) {
          printEvents(access, start, end);
          return ExitCode.OK;
        }
        OptionalLong views = access.views(url, start, end);
        if (views.isEmpty()) {
          output.failed("never viewed: " + url);
          return ExitCode.FAILED;
        }
        String text = Long.toString(views.getAsLong());
        output.print(text, Output.members("url", url, "value", text));
        return ExitCode.OK;
      }
    }

    private void printEvents(Access access, Optional<Instant> start, Optional<Instant> end) {
      long most = limit == null ? Long.MAX_VALUE : limit;
      Optional<String> cursor = Optional.empty();
      do {
        int size = (int) Math.min(most, ViewPage.VIEWS_MAX);
        ViewPage page = access.viewPage(url, start, end, size, cursor);
        output.together(() -> page.views().forEach(this::print));
        most -= page.views().size();
        cursor = page.cursor();
      } while (most > 0 && cursor.isPresent());
    }

    private void print(ViewPage.CountedView view) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("url", view.url());
      members.put("identity", view.identity());
      members.put("time", view.time().toString());
      view.clientId().ifPresent(client -> members.put("clientId", client));
      view.value().ifPresent(value -> members.put("value", Long.toString(value)));
      String who = Output.oneLine(view.clientId().orElse(view.identity()));
      output.print(view.time() + "\t" + who, members);
    }
  }

  @Command(
      name = "check",
      description = "Check a backup, or a data directory that no server uses.",
      footer = {"", "Of a backup, prints the positions that can be restored."})
  public static final class CheckCommand extends ResultCommand {
    @Option(
        names = "--data",
        paramLabel = "DIR|URI",
        required = true,
        description = "The directory, or the backup, or its bucket: s3://BUCKET/PREFIX.")
    private String data = "";

    @Override
    public Integer call() {
      Inspection.Report report = BackupTarget.withFiles(data, Path.of("check"), this::check);
      int code = print(output, report);
      if (!report.sound()) {
        output.note(
            BackupTarget.isBucket(data) || BackupFiles.isBackup(Path.of(data))
                ? "the backup cannot be continued; back up to a new directory"
                : "restore a backup, or keep what is before the damage: quipu salvage --data %s"
                    .formatted(data));
      }
      return code;
    }

    /** Names the backup as the user does, also if it was copied from a bucket for the check. */
    private Inspection.Report check(Path files) {
      Inspection.Report report = Inspection.check(files);
      return new Inspection.Report(
          report.sound(),
          report.lines().stream().map(line -> line.replace(files.toString(), data)).toList());
    }
  }

  @Command(
      name = "salvage",
      description = "Repair a damaged data directory, keeping the data before the damage.",
      footer = {
        "",
        "The old files are moved to the subdirectory 'damaged'. Adds after the damage",
        "may be lost, even if acknowledged, and where request ids are lost, a repeat",
        "counts again; the report states how far the data is intact. A backup that is",
        "restored has neither gap."
      })
  public static final class SalvageCommand extends ResultCommand {
    @Option(names = "--data", paramLabel = "DIR", required = true, description = "The directory.")
    private Path data = Path.of("");

    @Override
    public Integer call() {
      return print(output, Inspection.salvage(data));
    }
  }

  private static int print(Output output, Inspection.Report report) {
    output.print(
        String.join(System.lineSeparator(), report.lines()),
        Output.members("sound", report.sound(), "lines", report.lines()));
    return report.sound() ? ExitCode.OK : ExitCode.DAMAGED;
  }

  @Command(name = "techniques", description = "Print the techniques.")
  public static final class TechniquesCommand extends ResultCommand {
    @Option(names = "--markdown", description = "Print a Markdown table.")
    private boolean markdown;

    @Override
    public Integer call() {
      if (markdown) {
        output.printText(TechniqueTable.markdown());
        return ExitCode.OK;
      }
      for (TechniqueSpec spec : Techniques.ALL) {
        output.print(text(spec), members(spec));
      }
      return ExitCode.OK;
    }

    private static String text(TechniqueSpec spec) {
      String guarantees =
          spec.guarantees().stream()
              .sorted()
              .map(guarantee -> "  - " + guarantee.sentence())
              .collect(Collectors.joining(System.lineSeparator()));
      return "%s: %s%n%s%n  works on %s%n  after a lost reply: %s%n  an add: %s%n  a read: %s"
          .formatted(
              spec.name(),
              spec.summary(),
              guarantees,
              String.join(", ", TechniqueTable.stores(spec)),
              spec.afterLostReply(),
              TechniqueTable.cost(spec.perAdd()),
              TechniqueTable.cost(spec.perRead()));
    }

    private static Map<String, Object> members(TechniqueSpec spec) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("name", spec.name());
      members.put("summary", spec.summary());
      members.put("stores", TechniqueTable.stores(spec));
      members.put("afterLostReply", spec.afterLostReply());
      members.put("needs", spec.needs().stream().sorted().map(Enum::name).toList());
      members.put("guarantees", spec.guarantees().stream().sorted().map(Guarantee::name).toList());
      members.put("perAdd", spec.perAdd());
      members.put("perRead", spec.perRead());
      members.put("source", spec.source());
      return members;
    }
  }
}
