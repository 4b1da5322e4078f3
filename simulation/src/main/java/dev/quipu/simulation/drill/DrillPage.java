package dev.quipu.simulation.drill;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** Renders a report as a self-contained HTML page: tables, and plots as SVG. */
public final class DrillPage {
  private static final int WIDTH = 640;
  private static final int HEIGHT = 200;
  private static final String HEAD =
      """
      <!doctype html>
      <html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <title>Quipu drill</title>
      <style>
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto }
      table { border-collapse: collapse } td, th { padding: .2rem .8rem; text-align: left }
      td + td { text-align: right; font-variant-numeric: tabular-nums }
      svg { width: 100%; height: auto } .exact { color: #176b2c } .drift { color: #b3261e }
      polyline { fill: none; stroke: #3367d6; stroke-width: 2 } rect { fill: #3367d6 }
      text { font-size: 12px; fill: currentColor }
      </style>
      """;

  private DrillPage() {}

  /** Returns the page. */
  public static String html(DrillReport report) {
    String title = "%s on %s".formatted(escape(report.technique()), escape(report.store()));
    String verdict =
        report.isExact()
            ? "<p class=\"exact\">Exact.</p>\n"
            : "<p class=\"drift\">Over by %d, under by %d.</p>\n"
                .formatted(report.over(), report.under());
    StringBuilder page = new StringBuilder(HEAD);
    page.append("<h1>").append(title).append("</h1>\n").append(verdict);
    page.append("<h2>Figures</h2>\n").append(table(figures(report)));
    page.append("<h2>Latency of adds in milliseconds, by percentile</h2>\n").append(bars(report));
    page.append("<h2>Adds per second</h2>\n").append(line(report.addsEachSecond()));
    return page.append("</html>\n").toString();
  }

  /** Returns the figures with their names, in display order. */
  public static List<Map.Entry<String, String>> figures(DrillReport report) {
    DrillOptions options = report.options();
    return List.of(
        Map.entry("seed", Long.toString(options.seed())),
        Map.entry("clients", Integer.toString(options.clients())),
        Map.entry("counters", Integer.toString(options.keys())),
        Map.entry("seconds", decimal(report.time().toMillis() / 1000.0)),
        Map.entry("faults", fired(report)),
        Map.entry("expected", Long.toString(report.expected())),
        Map.entry("found", Long.toString(report.found())),
        Map.entry("over", Long.toString(report.over())),
        Map.entry("under", Long.toString(report.under())),
        Map.entry("unknown outcomes of calls", Long.toString(report.unknown())),
        Map.entry("unknown outcomes resolved", Long.toString(report.unknownResolved())),
        Map.entry("adds with unknown outcome", Long.toString(report.unknownLeft())),
        Map.entry("adds", Long.toString(report.adds())),
        Map.entry("adds that found the counter full", Long.toString(report.fullAdds())),
        Map.entry("attempts", Long.toString(report.attempts())),
        Map.entry("adds per second", decimal(report.addsPerSecond())),
        Map.entry("round trips per add", each(report.roundTrips(), report)),
        Map.entry("read units per add", each(report.readUnits(), report)),
        Map.entry("write units per add", each(report.writeUnits(), report)),
        Map.entry("add latency p50, ms", decimal(report.millis(50.0))),
        Map.entry("add latency p99, ms", decimal(report.millis(99.0))));
  }

  private static String fired(DrillReport report) {
    StringJoiner words = new StringJoiner(", ");
    report.fired().entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(each -> words.add("%s %d".formatted(each.getKey().word(), each.getValue())));
    return words.length() == 0 ? "none" : words.toString();
  }

  private static String each(long count, DrillReport report) {
    return decimal(report.eachAdd(count));
  }

  private static String decimal(double number) {
    return String.format(Locale.ROOT, "%.2f", number);
  }

  private static String table(List<Map.Entry<String, String>> rows) {
    StringBuilder table = new StringBuilder("<table>\n");
    for (Map.Entry<String, String> row : rows) {
      table.append(
          "<tr><td>%s</td><td>%s</td></tr>\n"
              .formatted(escape(row.getKey()), escape(row.getValue())));
    }
    return table.append("</table>\n").toString();
  }

  private static String bars(DrillReport report) {
    double most = Math.max(1e-9, report.millis(100.0));
    StringBuilder svg = new StringBuilder(open());
    int step = WIDTH / DrillReport.PERCENTILES.size();
    int x = 0;
    for (double percentile : DrillReport.PERCENTILES) {
      double millis = report.millis(percentile);
      long height = Math.round((HEIGHT - 40) * millis / most);
      svg.append(
          "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
              .formatted(x + 10, HEIGHT - 20 - height, step - 20, height));
      svg.append(text(x + 10, HEIGHT - 4, percentile == 100.0 ? "max" : "p" + percentile));
      svg.append(text(x + 10, HEIGHT - 24 - height, decimal(millis)));
      x += step;
    }
    return svg.append("</svg>\n").toString();
  }

  private static String line(List<Long> seconds) {
    long most = Math.max(1, seconds.stream().mapToLong(Long::longValue).max().orElse(1));
    StringJoiner points = new StringJoiner(" ");
    for (int i = 0; i < seconds.size(); i++) {
      long x = Math.round(WIDTH * (i + 0.5) / seconds.size());
      long y = HEIGHT - 20 - Math.round((HEIGHT - 40.0) * seconds.get(i) / most);
      points.add(x + "," + y);
    }
    return "%s<polyline points=\"%s\"/>%s</svg>\n"
        .formatted(open(), points, text(0, 12, "most: " + most));
  }

  private static String open() {
    return "<svg viewBox=\"0 0 %d %d\" role=\"img\">".formatted(WIDTH, HEIGHT);
  }

  private static String text(long x, long y, String text) {
    return "<text x=\"%d\" y=\"%d\">%s</text>".formatted(x, y, escape(text));
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
