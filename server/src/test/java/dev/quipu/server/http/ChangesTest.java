package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.technique.ItemCollection;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;

/** Item collection on DynamoDB Local: recent values with their age, and changes by time. */
final class ChangesTest {
  private static final String ONE = "{\"delta\":1}";
  private static final String STOCK = "/v1/counters/stock";
  private static final String CHANGES = "/v1/changes/stock";

  private static OnDynamoDb start() throws Exception {
    return OnDynamoDb.start("", "--technique", "item-collection");
  }

  @Test
  void aRecentValueHasItsAge() throws Exception {
    try (OnDynamoDb server = start()) {
      assertEquals(404, server.client.get(STOCK + "?maxAgeSeconds=60").status());
      server.client.add("stock", ONE);
      Client.Reply first = server.client.get(STOCK + "?maxAgeSeconds=3600");
      assertEquals("1", first.text("value"), first.body());
      server.client.add("stock", ONE);
      Progress.await(
          "an age of 20 ms",
          () -> {
            Client.Reply old = server.client.get(STOCK + "?maxAgeSeconds=3600");
            assertEquals("1", old.text("value"));
            return old.json().path("ageMillis").asLong() >= 20;
          });
      Client.Reply now = server.client.get(STOCK + "?maxAgeSeconds=0");
      assertEquals("2", now.text("value"), now.body());
      assertEquals("2", server.client.get(STOCK).text("value"));
      for (String bad : List.of("-1", "86401", "soon", "")) {
        Client.Reply reply = server.client.get(STOCK + "?maxAgeSeconds=" + bad);
        assertEquals(400, reply.status(), reply.body());
        assertTrue(reply.body().contains("from 0 to 86400"), reply.body());
      }
    }
  }

  @Test
  void changesAreListedByTimeInPages() throws Exception {
    try (OnDynamoDb server = start()) {
      for (int i = 1; i <= 23; i++) {
        server.client.add("stock", "{\"delta\":%d}".formatted(i));
        Clock.system().sleep(Duration.ofMillis(2)); // so that no two have the same time
      }
      List<Integer> found = new ArrayList<>();
      String cursor = "";
      for (int page = 0; page < 3; page++) {
        JsonNode reply = server.client.get(CHANGES + "?limit=10" + cursor).json();
        reply.path("changes").forEach(change -> found.add(change.path("added").asInt()));
        cursor = "&cursor=" + reply.path("cursor").asString("");
        assertEquals(page < 2, reply.has("cursor"));
      }
      List<Integer> expected = new ArrayList<>();
      for (int i = 1; i <= 23; i++) {
        expected.add(i);
      }
      assertEquals(expected, found);
      assertEquals(400, server.client.get(CHANGES + "?cursor=x").status());
      assertEquals(400, server.client.get(CHANGES + "?limit=1001").status());

      List<String> lines = command(server, "changes", "stock", "--limit", "5").lines().toList();
      assertEquals(5, lines.size(), lines.toString());
      assertEquals("3", lines.get(2).split("\t", -1)[1]);
      assertEquals(23, command(server, "changes", "stock").lines().count());

      ItemCollection counters = server.counters().as(ItemCollection.class).orElseThrow();
      assertEquals(23, counters.compact("stock", Duration.ZERO));
      assertEquals("", command(server, "changes", "stock"));
      assertEquals("276", server.client.get(STOCK).text("value"));
    }
  }

  private static String command(OnDynamoDb server, String... words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line =
        QuipuCommand.commandLine(
            directory -> Quipu.builder().directory(directory).build(), Clock.system());
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    List<String> all = new ArrayList<>(List.of(words));
    all.add("--server=" + server.uri());
    assertEquals(0, line.execute(all.toArray(String[]::new)), err.toString());
    return out.toString();
  }

  @Test
  void otherTechniquesHaveNeither() throws Exception {
    try (OnDynamoDb server = OnDynamoDb.start("")) {
      server.client.add("stock", ONE);
      for (String path : List.of(CHANGES, STOCK + "?maxAgeSeconds=1")) {
        Client.Reply reply = server.client.get(path);
        assertEquals(501, reply.status(), reply.body());
        assertTrue(reply.body().contains("item-collection"), reply.body());
      }
    }
  }
}
