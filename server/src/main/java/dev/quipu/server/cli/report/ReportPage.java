package dev.quipu.server.cli.report;

import dev.quipu.server.cli.access.Mover;
import dev.quipu.server.cli.access.PastValue;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Renders a report as a self-contained HTML page without scripts: tables, and bars as SVG. */
public final class ReportPage {
  /** Characters that change the direction of the text after them. */
  private static final String DIRECTIONS =
      "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069";

  private static final int BARS_MAX = 240;
  private static final int BARS_IN_A_ROW_MAX = 48;
  private static final int BAR_HEIGHT = 100;
  private static final int BAR_WIDTH = 8;
  private static final String HEAD =
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <title>TITLE</title>
      <style>
      :root { color-scheme: light dark }
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto }
      body { padding: 0 1rem }
      table { border-collapse: collapse; width: 100% }
      td, th { padding: .25rem .75rem .25rem 0; text-align: left }
      td { overflow-wrap: anywhere } th { white-space: nowrap }
      td:first-child { min-width: 7rem }
      .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
      svg { display: block; width: 100%; height: 6rem } td svg { width: 10rem; height: 1.5rem }
      @media (max-width: 40rem) { td svg { width: 4rem } }
      rect { fill: #3367d6 } rect.down { fill: #c5362c }
      </style>
      </head>
      <body>
      """;

  private ReportPage() {}

  /** Returns the page. */
  public static String html(Report report) {
    String title =
        report.prefix().isEmpty() ? "All counters" : "Counters that start with " + report.prefix();
    StringBuilder page = new StringBuilder(HEAD.replace("TITLE", text(title)));
    page.append("<h1>").append(text(title)).append("</h1>\n");
    facts(page, report);
    past(page, report);
    top(page, report);
    report
        .noMovers()
        .ifPresent(why -> page.append("<h2>Changed most</h2>%n<p>%s</p>%n".formatted(text(why))));
    movers(page, "Increased most", report.increases());
    movers(page, "Decreased most", report.decreases());
    return page.append("</body>\n</html>\n").toString();
  }

  private static void facts(StringBuilder page, Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("counters", Long.toString(report.counters())));
    rows.add(List.of("sum", report.sum().toPlainString()));
    rows.add(List.of("technique", report.technique()));
    rows.add(List.of("values of", report.made().toString()));
    if (!report.past().isEmpty()) {
      rows.add(
          List.of(
              "changes",
              "from %s to %s".formatted(begin(report.past()), report.period().to().orElse("now"))));
    }
    rows.add(
        List.of(
            "exactness",
            report.inexact() == 0
                ? "all values are exact, each at some moment while this report was made"
                : "%d values are not certain, by %s in all"
                    .formatted(report.inexact(), report.uncertain().toPlainString())));
    page.append("<table>\n");
    for (List<String> each : rows) {
      page.append(
          "<tr><th scope=\"row\">%s</th><td>%s</td></tr>%n"
              .formatted(each.getFirst(), text(each.getLast())));
    }
    page.append("</table>\n");
  }

  /** Returns when the known changes begin, or the period if none are known. */
  private static String begin(List<PastValue> past) {
    return past.stream()
        .filter(each -> each.change().isPresent())
        .findFirst()
        .map(each -> each.since().orElse(each.from()))
        .orElse(past.getFirst().from());
  }

  private static void past(StringBuilder page, Report report) {
    page.append("<h2>Changes of the sum, by %s</h2>%n".formatted(text(report.period().step())));
    if (report.noPast().isPresent()) {
      page.append("<p>Not known: %s</p>%n".formatted(text(report.noPast().get())));
      return;
    }
    page.append(bars(report.past(), BARS_MAX));
    page.append(axis(report.past()));
    page.append(
        "<details><summary>As a table</summary><table>\n<tr><th>from</th>"
            + "<th class=\"n\">sum at the end</th><th class=\"n\">change</th></tr>\n");
    List<PastValue> known = report.past().stream().dropWhile(ReportPage::isUnknown).toList();
    for (PastValue each : known) {
      page.append(
          "<tr><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>%n"
              .formatted(
                  text(each.from() + each.since().map(since -> ", since " + since).orElse("")),
                  text(each.value().orElse("unknown")),
                  text(each.change().orElse(""))));
    }
    page.append("</table></details>\n");
  }

  /** States what the bars span, for there is no room for numbers at each. */
  private static String axis(List<PastValue> past) {
    BigDecimal most =
        parts(past, BARS_MAX).stream()
            .flatMap(each -> each.change().stream())
            .map(change -> new BigDecimal(change).abs())
            .max(BigDecimal::compareTo)
            .orElse(BigDecimal.ZERO);
    return "<p>%s to %s; the highest bar is %s</p>%n"
        .formatted(text(past.getFirst().from()), text(past.getLast().from()), most.toPlainString());
  }

  private static boolean isUnknown(PastValue each) {
    return each.value().isEmpty() && each.change().isEmpty();
  }

  private static void top(StringBuilder page, Report report) {
    page.append(
        "<h2>Greatest values</h2>\n<table>\n<tr><th>counter</th><th class=\"n\">value now</th>"
            + "<th class=\"n\">change</th><th>course</th></tr>\n");
    for (Report.Row each : report.top()) {
      page.append(
          "<tr><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td>%s</td></tr>%n"
              .formatted(
                  text(each.name()),
                  each.reading().text(each.reading().value()),
                  each.past().isEmpty() ? "" : knownChange(each.past(), report),
                  each.past().isEmpty() ? "" : bars(each.past(), BARS_IN_A_ROW_MAX)));
    }
    page.append("</table>\n");
  }

  /** Returns the change, and since when it is known, if the changes of the sum begin otherwise. */
  private static String knownChange(List<PastValue> past, Report report) {
    if (past.stream().noneMatch(each -> each.change().isPresent())) {
      return "unknown";
    }
    String begin = begin(past);
    boolean isOfAll = !report.past().isEmpty() && begin.equals(begin(report.past()));
    return isOfAll || begin.equals(past.getFirst().from())
        ? change(past)
        : change(past) + "<br>since " + text(begin);
  }

  private static String change(List<PastValue> past) {
    BigDecimal sum = BigDecimal.ZERO;
    for (PastValue each : past) {
      sum = sum.add(each.change().map(BigDecimal::new).orElse(BigDecimal.ZERO));
    }
    return sum.toPlainString();
  }

  private static void movers(StringBuilder page, String title, List<Mover> movers) {
    if (movers.isEmpty()) {
      return;
    }
    page.append(
        "<h2>%s since %s</h2>%n<table>%n<tr><th>counter</th><th class=\"n\">value</th><th class=\"n\">change</th></tr>%n"
            .formatted(title, text(movers.getFirst().since())));
    for (Mover each : movers) {
      page.append(
          "<tr><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>%n"
              .formatted(
                  text(each.name()), text(each.value().orElse("removed")), text(each.change())));
    }
    page.append("</table>\n");
  }

  /** Returns the known changes of up to a number of parts of the period. */
  private static List<PastValue> parts(List<PastValue> past, int most) {
    int together = (past.size() + most - 1) / most;
    List<PastValue> parts = new ArrayList<>();
    for (int i = 0; i < past.size(); i += together) {
      List<PastValue> some = past.subList(i, Math.min(past.size(), i + together));
      boolean isKnown = some.stream().anyMatch(each -> each.change().isPresent());
      parts.add(
          new PastValue(
              some.getFirst().from(),
              some.getLast().value(),
              isKnown ? Optional.of(change(some)) : Optional.empty(),
              Optional.empty(),
              some.getLast().isComplete()));
    }
    return parts;
  }

  /** Draws the change in each part: up above the line, down below it, nothing if not known. */
  private static String bars(List<PastValue> all, int partsMax) {
    List<PastValue> past = parts(all, partsMax);
    double most = 0;
    for (PastValue each : past) {
      most = Math.max(most, Math.abs(each.change().map(Double::parseDouble).orElse(0.0)));
    }
    StringBuilder svg =
        new StringBuilder(
            "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"changes\">"
                .formatted(BAR_WIDTH * past.size(), 2 * BAR_HEIGHT));
    for (int i = 0; i < past.size() && most > 0; i++) {
      double change = past.get(i).change().map(Double::parseDouble).orElse(0.0);
      long height = Math.round(BAR_HEIGHT * Math.abs(change) / most);
      svg.append(
          "<rect%s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>%s</title></rect>"
              .formatted(
                  change < 0 ? " class=\"down\"" : "",
                  i * BAR_WIDTH + 1,
                  change < 0 ? BAR_HEIGHT : BAR_HEIGHT - height,
                  BAR_WIDTH - 2,
                  height,
                  text(past.get(i).from() + ": " + past.get(i).change().orElse("unknown"))));
    }
    return svg.append("</svg>\n").toString();
  }

  /** Escapes a text for HTML; characters that change the direction of text become visible. */
  static String text(String text) {
    StringBuilder escaped = new StringBuilder();
    text.codePoints()
        .forEach(c -> {
          switch (c) {
            case '<' -> escaped.append("&lt;");
            case '>' -> escaped.append("&gt;");
            case '&' -> escaped.append("&amp;");
            case '"' -> escaped.append("&quot;");
            case '\'' -> escaped.append("&#39;");
            default ->
                escaped.append(
                    DIRECTIONS.indexOf(c) >= 0 ? "⟨U+%04X⟩".formatted(c) : Character.toString(c));
          }
        });
    return escaped.toString();
  }
}
