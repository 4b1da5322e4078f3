package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.CounterItems;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.DynamoDbReplica;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Two regions count likes over replicated DynamoDB Local instances, each with its own server: while
 * nothing is replicated, and while the servers merge what has arrived.
 */
final class RegionalCollectionIT {
  private static final List<String> NAMES = List.of("eu", "us");
  private static final String TABLE = "likes";
  private static final String LIKES = "/v1/counters/likes";

  @TempDir Path directory;

  private final Deque<AutoCloseable> closing = new ArrayDeque<>();
  private final List<DynamoDbServer> stores = new ArrayList<>();
  private final List<StoreDriver> drivers = new ArrayList<>();
  private final List<QuipuProcess> servers = new ArrayList<>();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void close() throws Exception {
    while (!closing.isEmpty()) {
      closing.pop().close();
    }
  }

  private static String uri(DynamoDbServer store) {
    return "dynamodb://key:secret@us-east-1/%s?endpoint=%s&timeoutMillis=5000"
        .formatted(TABLE, store.endpoint());
  }

  private Path topology(String more) throws Exception {
    String text =
        "{\"initial\": [\"eu\", \"us\"], \"regions\": {\"eu\": \"%s\", \"us\": \"%s\"}%s}"
            .formatted(uri(stores.get(0)), uri(stores.get(1)), more);
    return Files.writeString(Files.createTempFile(directory, "regions", ".json"), text);
  }

  private GlobalTable<?, ?> start() throws Exception {
    List<DynamoDbReplica> replicas = new ArrayList<>();
    for (int i = 0; i < NAMES.size(); i++) {
      Optional<DynamoDbServer> store = DynamoDbServer.start();
      assumeTrue(store.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
      stores.add(store.get());
      closing.push(store.get());
      replicas.add(new DynamoDbReplica(store.get().endpoint(), store.get().endpoint(), TABLE));
      closing.push(replicas.getLast());
      StoreDriver driver = StoreProvider.open(uri(store.get()));
      drivers.add(driver);
      closing.push(driver);
    }
    GlobalTable<Map<String, AttributeValue>, Map<String, AttributeValue>> table =
        new GlobalTable<>(replicas, Clock.system(), Randomness.seeded(1), Duration.ofMillis(200));
    String file = topology(", \"technique\": \"regional-collection\"").toString();
    for (String name : NAMES) {
      QuipuProcess server =
          QuipuProcess.serve(
              directory.resolve(name), "--region", name, "--topology", file, "--window", "1s");
      servers.add(server);
      closing.push(server);
    }
    return table;
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest.Builder request(int region, String path) {
    URI uri = servers.get(region).uri().resolve(path);
    return HttpRequest.newBuilder(uri).timeout(Duration.ofMinutes(5));
  }

  private HttpResponse<String> add(int region, String body, String id) throws Exception {
    return send(
        request(region, LIKES + "/add")
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", id)
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private JsonNode read(int region) throws Exception {
    HttpResponse<String> reply = send(request(region, LIKES));
    assertEquals(200, reply.statusCode(), reply.body());
    return JsonMapper.shared().readTree(reply.body());
  }

  private void isExactly(int value) throws Exception {
    for (int region = 0; region < NAMES.size(); region++) {
      JsonNode reading = read(region);
      for (String field : List.of("value", "low", "high")) {
        assertEquals(Integer.toString(value), reading.path(field).asString(""), reading.toString());
      }
    }
  }

  private long stored(int region) {
    Scan changes = Scan.range(CounterItems.partition("likes"), "change/", "change0");
    return ScanDriver.of(drivers.get(region)).count(changes);
  }

  @Test
  void bothRegionsCountAndTheirServersMerge() throws Exception {
    GlobalTable<?, ?> table = start();
    int total = 0;
    for (int i = 1; i <= 10; i++) { // while nothing is replicated
      int region = i % 2;
      String body = "{\"delta\":%d}".formatted(i);
      assertEquals(200, add(region, body, "like-" + i).statusCode());
      total += i;
    }
    assertEquals(200, add(0, "{\"delta\":7}", "both").statusCode());
    assertEquals(200, add(1, "{\"delta\":7}", "both").statusCode()); // repeated elsewhere
    total += 7;
    assertEquals(List.of(6L, 6L), List.of(stored(0), stored(1)));
    isExactly(total);

    assertEquals(501, add(0, "{\"delta\":1,\"floor\":0}", "bounded").statusCode());
    assertEquals(501, send(request(0, "/v1/sequences/invoices")).statusCode());

    int expected = total;
    Progress.await(
        "all changes merged",
        () -> {
          table.pass();
          isExactly(expected); // at each step of the merges
          return stored(0) == 0 && stored(1) == 0;
        });
    assertEquals(200, add(1, "{\"delta\":-3}", "later").statusCode());
    table.settle();
    isExactly(total - 3);
    otherConfigurationsAreRejected();

    stores.get(1).close(); // its adds are unknown from now on
    JsonNode reading = read(0);
    assertEquals("silent", reading.path("uncertainty").path(0).path("cause").asString(""));
    assertNotEquals(reading.path("low"), reading.path("high"));
    assertEquals(200, add(0, "{\"delta\":2}", "alone").statusCode());
    assertEquals(Integer.toString(total - 1), read(0).path("value").asString(""));
  }

  private void otherConfigurationsAreRejected() throws Exception {
    Path out = directory.resolve("out");
    String other = topology("").toString();
    String[] regional = {"serve", "--http", "0", "--region", "eu", "--topology", other};
    assertEquals(2, QuipuProcess.run(out, regional).waitFor());
    String[] single = {"serve", "--http", "0", "--store", uri(stores.get(0))};
    assertEquals(2, QuipuProcess.run(out, single).waitFor());
    String same = topology(", \"technique\": \"regional-collection\"").toString();
    String[] retire = {"regions", "--region", "eu", "--topology", same, "--retire", "us"};
    assertEquals(2, QuipuProcess.run(out, retire).waitFor());
    assertTrue(Files.exists(out));
  }
}
