package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.server.http.route.Services;
import dev.quipu.simulation.time.ManualClock;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The page that {@code quipu report} writes. */
final class ReportTest {
  private static final String START = "2026-11-28T12:00:00Z";

  @TempDir Path directory;
  private final ManualClock clock = new ManualClock(Instant.parse(START).toEpochMilli());
  private final StringWriter errors = new StringWriter();

  private HttpServer serve(Quipu quipu) throws IOException {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    return HttpServer.start(options, Services.of(quipu, "test"), clock);
  }

  private int run(HttpServer server, String... arguments) {
    CommandLine line = QuipuCommand.commandLine();
    line.setOut(new PrintWriter(new StringWriter())).setErr(new PrintWriter(errors));
    String[] all = new String[arguments.length + 5];
    all[0] = "report";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    all[arguments.length + 1] = "--server";
    all[arguments.length + 2] = "http://127.0.0.1:" + server.address().getPort();
    all[arguments.length + 3] = "--out";
    all[arguments.length + 4] = directory.resolve("report.html").toString();
    return line.execute(all);
  }

  private String page() throws IOException {
    return Files.readString(directory.resolve("report.html"));
  }

  @Test
  void itHasTheGreatestAndThoseThatChangedMost() throws IOException {
    HistoryRules rules = HistoryRules.parse("*=hour:90d");
    EngineOptions options = EngineOptions.defaults().withClock(clock).withHistory(rules);
    try (Quipu quipu = Backends.on(Engine.open(directory.resolve("data"), options));
        HttpServer server = serve(quipu)) {
      clock.advance(Duration.ofHours(1));
      quipu.counter("views/<script>\u202e'").set(1_000);
      var unusedB = quipu.counter("views/b").add(40);
      clock.advance(Duration.ofHours(2));
      var unusedMore = quipu.counter("views/b").add(2);
      var unusedLess = quipu.counter("views/<script>\u202e'").add(-7);
      var unusedOther = quipu.counter("other").add(9);
      clock.advance(Duration.ofMinutes(30));
      assertEquals(0, run(server, "views/", "--from", "2026-11-28T14:00:00Z"), errors::toString);
      String page = page();
      assertTrue(page.contains("<td>views/&lt;script&gt;⟨U+202E⟩&#39;</td>"), page);
      assertFalse(page.contains("<script"), page);
      assertTrue(page.contains("<th scope=\"row\">sum</th><td>1035</td>"), page);
      assertTrue(page.contains("all values are exact"), page);
      assertTrue(
          page.contains(
              "<td>2026-11-28T15:00:00Z</td><td class=\"n\">1035</td><td class=\"n\">-5</td>"),
          page);
      assertTrue(page.contains("<title>2026-11-28T15:00:00Z: -5</title>"), page);
      String increased = page.substring(page.indexOf("Increased"), page.indexOf("Decreased"));
      assertTrue(
          increased.contains("<td>views/b</td><td class=\"n\">42</td><td class=\"n\">2</td>"),
          increased);
      assertFalse(increased.contains("U+202E"), increased);
      assertTrue(page.substring(page.indexOf("Decreased")).contains("<td class=\"n\">-7</td>"));
      assertFalse(page.contains("other"), page);
      assertEquals(0, run(server, "--from", "2026-11-28T10:00:00Z"), errors::toString);
      assertFalse(page().contains("not known"), page()); // since the recording began
      assertTrue(page().contains("<td class=\"n\">1044</td>"), page());
      assertTrue(page().contains("from 2026-11-28T12:00:00Z to now"), page());
      assertEquals(0, run(server, "views/", "--to", "2026-11-28T15:00:00Z"), errors::toString);
      assertTrue(page().contains("known only for periods until now"), page());
    }
  }

  @Test
  void withoutThePastItSaysWhy() throws IOException {
    try (Quipu quipu = Backends.on(new MemoryDriver());
        HttpServer server = serve(quipu)) {
      var unused = quipu.counter("a").add(1);
      assertEquals(0, run(server), errors::toString);
      assertTrue(page().contains("neither this store nor its technique keeps the past"), page());
      assertTrue(page().contains("<td>a</td><td class=\"n\">1</td>"), page());
      assertEquals(2, run(server, "--step", "week"));
      assertEquals(2, run(server, "--from", "x"));
      assertEquals(2, run(server, "--top", "0"));
      assertTrue(errors.toString().contains("--top is 0; it must be from 1 to 100"));
    }
  }
}
