package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.http.route.Services;
import dev.quipu.store.Key;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Counters by value and by a part of their names, and namespaces, compared to a sorted map. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before each test
final class RankingTest {
  private static final long SEED = 27;
  private static final List<String> PLACES =
      List.of("", "views/", "views/2026/", "Stock/ü/", "<script>/", "a", "a/", "a//");

  private final TreeMap<String, BigDecimal> expected = new TreeMap<>(Key.ORDER);
  @TempDir Path directory;
  private Quipu quipu;
  private HttpServer server;
  private Client client;

  @BeforeEach
  void start() throws IOException {
    quipu = Backends.on(Engine.open(directory, EngineOptions.defaults()));
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    server = HttpServer.start(options, Services.of(quipu, "engine:"), Clock.system());
    client = new Client(server.address());
  }

  @AfterEach
  void stop() {
    server.close();
    quipu.close();
  }

  /** Many names have equal values; some have digits after the point. */
  private void fill(int count) {
    Random random = new Random(SEED);
    for (int i = 0; i < count; i++) {
      String name = PLACES.get(random.nextInt(PLACES.size())) + "c" + random.nextInt(count);
      long units = random.nextLong(-20, 21);
      if (!expected.containsKey(name)) {
        int scale = random.nextInt(3);
        var unusedScale = quipu.counter(name).fixScale(scale);
        quipu.counter(name).set(units);
        expected.put(name, BigDecimal.valueOf(units, scale));
      }
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** Returns all pages of a listing. */
  private List<JsonNode> all(String path, String field, int limit) {
    List<JsonNode> found = new ArrayList<>();
    String cursor = "";
    do {
      Client.Reply reply =
          client.get(
              path + "&limit=" + limit + (cursor.isEmpty() ? "" : "&cursor=" + encoded(cursor)));
      assertEquals(200, reply.status(), reply.body());
      JsonNode page = reply.json().get(field);
      page.forEach(found::add);
      cursor = reply.text("cursor");
      assertTrue(cursor.isEmpty() || page.size() == limit, "only the last page is short");
    } while (!cursor.isEmpty());
    return found;
  }

  @ParameterizedTest
  @CsvSource({
    "-value, '', '', 7",
    "value, '', '', 1000",
    "-value, views/, '', 100",
    "value, a, C1, 3",
    "name, '', ü, 10",
    "name, views/, 2026/C, 5",
    "-value, nothing/, '', 5",
    "-value, '', SCRIPT, 1",
  })
  void equalsASortedMap(String sort, String prefix, String text, int limit) {
    fill(400);
    Comparator<Map.Entry<String, BigDecimal>> byValue = Map.Entry.comparingByValue();
    Comparator<Map.Entry<String, BigDecimal>> byName = Map.Entry.comparingByKey(Key.ORDER);
    List<String> names =
        expected.entrySet().stream()
            .filter(each ->
                each.getKey().startsWith(prefix)
                    && each.getKey()
                        .toLowerCase(Locale.ROOT)
                        .contains(text.toLowerCase(Locale.ROOT)))
            .sorted(
                switch (sort) {
                  case "value" -> byValue.thenComparing(byName);
                  case "-value" -> byValue.reversed().thenComparing(byName);
                  default -> byName;
                })
            .map(each -> each.getKey() + " " + each.getValue().toPlainString())
            .toList();
    String path =
        "/v1/counters?sort=%s&prefix=%s&q=%s".formatted(sort, encoded(prefix), encoded(text));
    List<String> found =
        all(path, "counters", limit).stream()
            .map(each -> each.get("name").stringValue() + " " + each.get("value").stringValue())
            .toList();
    assertEquals(names, found);
  }

  @ParameterizedTest
  @CsvSource({"'', 2", "'', 1000", "views/, 1", "a, 3", "a/, 10", "Stock/ü/, 4", "no, 1"})
  void namespacesHaveTheSumsOfTheirCounters(String prefix, int limit) {
    fill(400);
    Map<String, List<BigDecimal>> sums = new LinkedHashMap<>();
    expected.forEach((name, value) -> {
      if (name.startsWith(prefix)) {
        int end = name.indexOf('/', prefix.length());
        sums.computeIfAbsent(
                end < 0 ? name : name.substring(0, end + 1), isNew -> new ArrayList<>())
            .add(value);
      }
    });
    List<String> rows = new ArrayList<>();
    sums.forEach((name, values) ->
        rows.add(
            "%s %d %s"
                .formatted(
                    name,
                    values.size(),
                    values.stream()
                        .reduce(BigDecimal.ZERO, BigDecimal::add)
                        .stripTrailingZeros()
                        .toPlainString())));
    List<String> found =
        all("/v1/namespaces?prefix=" + encoded(prefix), "namespaces", limit).stream()
            .map(each ->
                "%s %d %s"
                    .formatted(
                        each.get("name").stringValue(),
                        each.get("counters").intValue(),
                        new BigDecimal(each.get("sum").stringValue())
                            .stripTrailingZeros()
                            .toPlainString()))
            .toList();
    assertEquals(rows, found);
  }

  @ParameterizedTest
  @CsvSource({"sum, '', 3", "-sum, '', 1000", "-sum, views/, 1", "sum, a, 2"})
  void namespacesAreRankedByTheirSums(String sort, String prefix, int limit) {
    fill(400);
    Comparator<Map.Entry<String, BigDecimal>> bySum = Map.Entry.comparingByValue();
    List<Map.Entry<String, BigDecimal>> byName =
        all("/v1/namespaces?prefix=" + encoded(prefix), "namespaces", 1_000).stream()
            .map(each ->
                Map.entry(
                    each.get("name").stringValue(), new BigDecimal(each.get("sum").stringValue())))
            .toList();
    List<String> expectedOrder =
        byName.stream()
            .sorted(sort.equals("sum") ? bySum : bySum.reversed()) // stable: equal ones by name
            .map(Map.Entry::getKey)
            .toList();
    String path = "/v1/namespaces?sort=%s&prefix=%s".formatted(sort, encoded(prefix));
    assertEquals(
        expectedOrder,
        all(path, "namespaces", limit).stream()
            .map(each -> each.get("name").stringValue())
            .toList());
  }

  /** Pages with views, series of records, and series of revisions are no counters, but listed. */
  @Test
  void pagesAndSeriesAreListed() {
    Random random = new Random(SEED);
    Map<String, Long> views = new TreeMap<>(Key.ORDER);
    for (int i = 0; i < 120; i++) {
      String url = "https://blog.example/" + (random.nextBoolean() ? "ü/" : "a?b=") + i % 40;
      client.post(
          "/v1/views",
          "{\"url\":\"%s\",\"time\":\"2026-11-29T10:00:00Z\",\"clientId\":\"c%d\"}"
              .formatted(url, i));
      views.merge(url, 1L, Long::sum);
      String series = "invoices/" + i % 7;
      assertEquals(200, client.post("/v1/sequences/" + encoded(series) + "/next", "{}").status());
      String body = "{\"entity\":\"e%d\",\"kind\":\"insert\"}".formatted(i);
      assertEquals(200, client.post("/v1/revisions/users" + i % 3, body).status());
    }
    assertEquals(views.toString(), listed("/v1/views/pages?sort=url", "pages", "url", "value", 7));
    assertEquals(
        "{invoices/0=18, invoices/1=17, invoices/2=17, invoices/3=17, invoices/4=17,"
            + " invoices/5=17, invoices/6=17}",
        listed("/v1/sequences?prefix=inv", "sequences", "name", "last", 2));
    assertEquals(
        "{users0=40, users1=40, users2=40}",
        listed("/v1/revisions?q=USER", "revisions", "name", "count", 1));
    List<JsonNode> ranked = all("/v1/views/pages?sort=-value&q=%C3%BC", "pages", 5);
    List<String> order =
        views.entrySet().stream()
            .filter(each -> each.getKey().contains("ü"))
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
            .map(Map.Entry::getKey)
            .toList();
    assertEquals(order, ranked.stream().map(each -> each.get("url").stringValue()).toList());
    assertEquals("[]", all("/v1/views/pages?prefix=no", "pages", 5).toString());
    assertEquals("[]", all("/v1/counters?sort=value", "counters", 5).toString());
  }

  /** Pages by the views since an hour, compared to a count of the same views. */
  @Test
  void pagesAreRankedByTheirViewsSinceABoundary() {
    Random random = new Random(SEED);
    Instant hour = Instant.now().truncatedTo(ChronoUnit.HOURS);
    Instant since = hour.minus(5, ChronoUnit.HOURS);
    Map<String, Long> recent = new TreeMap<>(Key.ORDER);
    for (int i = 0; i < 300; i++) {
      String url = "p" + random.nextInt(30);
      Instant time = hour.minus(random.nextInt(600), ChronoUnit.MINUTES);
      client.post(
          "/v1/views",
          "{\"url\":\"%s\",\"time\":\"%s\",\"clientId\":\"c%d\"}".formatted(url, time, i));
      if (!time.isBefore(since)) {
        recent.merge(url, 1L, Long::sum);
      }
    }
    for (String sort : List.of("change", "-change")) {
      Comparator<Map.Entry<String, Long>> byViews = Map.Entry.comparingByValue();
      String path =
          "/v1/views/pages?sort=%s&since=%s".formatted(sort, since.plus(9, ChronoUnit.MINUTES));
      assertEquals(
          recent.entrySet().stream()
              .sorted(sort.equals("change") ? byViews : byViews.reversed())
              .map(each -> each.getKey() + "=" + each.getValue())
              .toList(),
          all(path, "pages", 7).stream()
              .map(each -> each.get("url").stringValue() + "=" + each.get("change").stringValue())
              .toList());
      assertEquals(since.toString(), client.get(path).text("since"));
    }
    String most = ClientCommand.run(server, "pages", "--top", "30", "--since", since.toString());
    for (Map.Entry<String, Long> each : recent.entrySet()) {
      String line = "(?s).*\\b%d\t[0-9]+\t%s\\b.*".formatted(each.getValue(), each.getKey());
      assertTrue(most.matches(line), line + " in " + most);
    }
    assertTrue(most.endsWith("since " + since), most);
    String alone = ClientCommand.run(server, "pages", "--since", "2026-11-01");
    assertTrue(alone.startsWith("2 ") && alone.contains("--since requires --top"), alone);
    String now = "{\"url\":\"p99\",\"time\":\"%s\",\"clientId\":\"c\"}".formatted(Instant.now());
    assertEquals(202, client.post("/v1/views", now).status());
    JsonNode fastest = all("/v1/views/pages?sort=-rate&prefix=p99", "pages", 1).getFirst();
    assertEquals("1", fastest.get("value").stringValue());
    assertTrue(fastest.get("rate").stringValue().matches("0\\.0(0[89]|1\\d)"), fastest::toString);
  }

  private String listed(String path, String field, String name, String number, int limit) {
    Map<String, String> found = new LinkedHashMap<>();
    all(path, field, limit)
        .forEach(each -> found.put(each.get(name).stringValue(), each.get(number).stringValue()));
    return found.toString();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v1/counters?sort=order | query parameter sort is 'order'; it must be name, value, -value, change",
        "/v1/counters?sort=value&cursor=x | malformed query parameter cursor",
        "/v1/counters?sort=value&cursor=eA | malformed query parameter cursor",
        "/v1/counters?sort=value&limit=0 | limit is '0'; it must be an integer from 1 to 1000",
        "/v1/counters?q=a&prefix=b&cursor=YQ | malformed query parameter cursor",
        "/v1/counters?q=a&order=b | unknown query parameter order",
        "/v1/namespaces?prefix=b&cursor=YQ | malformed query parameter cursor",
        "/v1/namespaces?sort=value | query parameter sort is 'value'; it must be name, sum, -sum, change",
        "/v1/namespaces?sort=sum&cursor=eA | malformed query parameter cursor",
        "/v1/views/pages?sort=name | query parameter sort is 'name'; it must be url, value, -value, change, -change, rate or -rate",
        "/v1/views/pages?sort=value&step=day | query parameter step needs sort=change or -change",
        "/v1/views/pages?sort=change&since=2999-01-01T00:00:00Z | since is in the future",
        "/v1/views/pages?sort=change&cursor=LWNoYW5nZSAxIDEgYQ | malformed query parameter cursor",
        "/v1/views/pages?sort=change&cursor=Y2hhbmdlIDAgMSBh&since=2026-11-01 | since is not that of the cursor",
        "/v1/views/pages?sort=value&cursor=LXZhbHVlIDUgYQ | malformed query parameter cursor",
        "/v1/counters?sort=value&cursor=LXZhbHVlIDUgYQ | malformed query parameter cursor",
        "/v1/namespaces?sort=sum&cursor=LXN1bSA1IGE | malformed query parameter cursor",
        "/v1/views/pages?limit=0 | limit is '0'; it must be an integer from 1 to 1000",
        "/v1/sequences?sort=value | query parameter sort is 'value'; it must be name, last or -last",
        "/v1/revisions?prefix=b&cursor=YQ | malformed query parameter cursor",
      })
  void wrongInputIsNamed(String path, String detail) {
    Client.Reply reply = client.get(path);
    assertEquals(400, reply.status(), reply.body());
    assertTrue(reply.text("detail").contains(detail), reply.body());
  }

  @Test
  void sumsExceed64Bits() {
    quipu.counter("big/a").set(Long.MAX_VALUE);
    quipu.counter("big/b").set(Long.MAX_VALUE);
    JsonNode big = client.get("/v1/namespaces").json().get("namespaces").get(0);
    assertEquals("18446744073709551614", big.get("sum").stringValue());
    assertEquals("big/", big.get("name").stringValue());
  }
}
