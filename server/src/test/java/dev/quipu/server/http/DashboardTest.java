package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Each query of the dashboard selects series that a running server returns. There is no Prometheus
 * here: a strict parser of the part of PromQL that the dashboard uses finds the selectors.
 */
final class DashboardTest {
  private static final Path DASHBOARD = Path.of("../samples/grafana/quipu.json");
  private static final int QUERIES_MIN = 30;

  @TempDir private Path directory;

  private static List<String> queries() throws IOException {
    JsonNode dashboard = JsonMapper.shared().readTree(Files.readString(DASHBOARD));
    List<String> queries = new ArrayList<>();
    for (JsonNode panel : dashboard.path("panels")) {
      for (JsonNode target : panel.path("targets")) {
        queries.add(target.path("expr").asString());
      }
    }
    return queries;
  }

  @Test
  void eachQuerySelectsSeriesOfARunningServer() throws IOException {
    Exposition metrics = AllMetrics.of(directory);
    List<String> queries = queries();
    assertTrue(queries.size() >= QUERIES_MIN, "queries: " + queries.size());
    List<String> wrong = new ArrayList<>();
    for (String each : queries) {
      for (PromQuery.Selector selector : PromQuery.selectors(each)) {
        if (!selects(metrics, selector)) {
          wrong.add(selector + " in " + each);
        }
      }
    }
    assertEquals(List.of(), wrong);
  }

  private static boolean selects(Exposition metrics, PromQuery.Selector selector) {
    return metrics.series().stream()
        .filter(series -> series.name().equals(selector.name()))
        .anyMatch(series ->
            series.has(selector.labels())
                && series.labels().keySet().containsAll(selector.grouping()));
  }

  @Test
  void aWrongQueryIsFound() throws IOException {
    Exposition metrics = AllMetrics.of(directory);
    for (String wrong :
        List.of(
            "rate(quipu_nothing_total[5m])",
            "quipu_adds_total{outcome=\"gone\"}",
            "sum by (port) (rate(quipu_adds_total[5m]))",
            "sum by (le) (quipu_calls_seconds_count)")) {
      PromQuery.Selector selector = PromQuery.selectors(wrong).getFirst();
      assertFalse(selects(metrics, selector), wrong);
    }
    for (String malformed :
        List.of("rate(a)", "rate(a[5m]", "unknown(a)", "a{b=c}", "sum by port (a)", "a b")) {
      assertThrows(IllegalArgumentException.class, () -> PromQuery.selectors(malformed), malformed);
    }
    assertEquals(
        List.of(new PromQuery.Selector("a", Map.of("b", "c"), List.of("d"))),
        PromQuery.selectors("sum by (d) (rate(a{b=\"c\"}[5m])) / 2"));
  }
}
