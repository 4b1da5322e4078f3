package dev.quipu.server.cli;

import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.StoredViewsCommand;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.view.ViewAggregates.Aggregate;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints sums and averages of views. */
@Command(
    name = "aggregates",
    description = "Print views, sum and average of their values, of a page or a site.",
    footer = {
      "",
      "They are maintained from a stream by the Lambda function StreamHandler, so",
      "they follow the views with a delay. The output is: views, views with a",
      "value, sum of the values, average; - if no view has a value.",
      "",
      "Examples:",
      "  quipu aggregates myblog.com/a",
      "  quipu aggregates --site myblog.com --day 2026-11-24"
    })
final class AggregatesCommand extends StoredViewsCommand {
  @Parameters(
      paramLabel = "URL",
      arity = "0..1",
      description = "The URL of the page, as in its views.")
  private @Nullable String url;

  @Option(names = "--site", paramLabel = "SITE", description = "Instead of URL: all of a site.")
  private @Nullable String site;

  @Option(names = "--day", paramLabel = "DATE", description = "With --site: one day, in UTC.")
  private @Nullable LocalDate day;

  @Override
  public Integer call() {
    String page = url;
    String host = site;
    if ((page == null) == (host == null) || (host == null && day != null)) {
      throw new IllegalArgumentException("specify either URL, or --site with or without --day");
    }
    try (Access access = target.openToRead(store, Optional.empty())) {
      Optional<Aggregate> found =
          host == null
              ? access.aggregate(String.valueOf(page))
              : access.aggregate(host, Optional.ofNullable(day));
      if (found.isEmpty()) {
        output.failed("no views were aggregated for " + (host == null ? page : host));
        return ExitCode.FAILED;
      }
      Aggregate numbers = found.get();
      String average =
          numbers.average().isPresent() ? Double.toString(numbers.average().getAsDouble()) : "-";
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("views", Long.toString(numbers.views()));
      members.put("values", Long.toString(numbers.values()));
      members.put("sum", Long.toString(numbers.sum()));
      numbers.average().ifPresent(it -> members.put("average", it));
      output.print(
          "%d\t%d\t%d\t%s".formatted(numbers.views(), numbers.values(), numbers.sum(), average),
          members);
      return ExitCode.OK;
    }
  }
}
