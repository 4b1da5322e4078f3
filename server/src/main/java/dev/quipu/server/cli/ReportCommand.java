package dev.quipu.server.cli;

import dev.quipu.engine.history.HistoryStep;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.access.PastPeriod;
import dev.quipu.server.cli.input.PeriodFlags;
import dev.quipu.server.cli.input.Times;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.report.Report;
import dev.quipu.server.cli.report.ReportPage;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes counters of a period as a page. */
@Command(
    name = "report",
    description = {
      "Write an HTML file of the greatest counters and their changes.",
      "",
      "It has the values of now, how they changed in a period, and whether all are",
      "exact. The file is self-contained, and has no scripts. Changes are in it if the",
      "server keeps the past (serve --history)."
    },
    footer = {
      "",
      "Examples:",
      "  quipu report --out all.html",
      "  quipu report views/ --step day --from 2026-11-01 --out november.html"
    })
final class ReportCommand extends AccessCommand {
  private static final int TOP_MAX = 100;

  @Parameters(
      paramLabel = "PREFIX",
      arity = "0..1",
      description = "Only counters whose names start with this.")
  private String prefix = "";

  @Option(
      names = "--out",
      paramLabel = "FILE",
      required = true,
      description = "Write the page to this file, which is replaced.")
  private Path out = Path.of("report.html");

  @Mixin private PeriodFlags period = new PeriodFlags();

  @Option(
      names = "--top",
      paramLabel = "N",
      description = "Counters in each list, 1 to 100 (default 20).")
  private int top = 20;

  @Override
  public Integer call() {
    if (top < 1 || top > TOP_MAX) {
      throw new IllegalArgumentException(
          "--top is %d; it must be from 1 to %d".formatted(top, TOP_MAX));
    }
    HistoryStep unusedStep = HistoryStep.parse(period.step());
    Optional<Instant> unusedFrom = period.from().map(Times::time);
    Optional<Instant> unusedTo = period.to().map(Times::time);
    try (Access access = target.openToRead()) {
      PastPeriod past = new PastPeriod(period.step(), period.from(), period.to());
      Report report = Report.of(access, prefix, past, top, Clock.system());
      Files.writeString(out, ReportPage.html(report));
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("file", out.toString());
      members.put("counters", report.counters());
      String counters = report.counters() == 1 ? "counter" : "counters";
      output.print("%d %s in %s".formatted(report.counters(), counters, out), members);
    } catch (IOException e) {
      String why = e instanceof NoSuchFileException ? "there is no such directory" : e.toString();
      throw new UncheckedIOException("cannot write %s: %s".formatted(out, why), e);
    }
    return ExitCode.OK;
  }
}
