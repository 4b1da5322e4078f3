package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Bounds;
import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.VersionTree;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.Regions;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.technique.MarkerItem;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The stored parts of counters: together they are the counter, and share its bounds. */
final class PartsTest {
  private static final List<String> NAMES = List.of("ap", "eu", "us");

  private static JsonNode parts(Client client, String counter) {
    Client.Reply reply = client.get("/v1/counters/" + counter + "/parts");
    assertEquals(200, reply.status(), reply.body());
    return reply.json().get("parts");
  }

  private static long sum(JsonNode parts, String field) {
    return StreamSupport.stream(parts.spliterator(), false)
        .mapToLong(each -> Long.parseLong(each.get(field).stringValue()))
        .sum();
  }

  private static void add(Client client, String counter, long delta) {
    Client.Reply reply =
        client.post("/v1/counters/" + counter + "/add", "{\"delta\":%d}".formatted(delta));
    assertEquals(200, reply.status(), reply.body());
  }

  @Test
  void shardsShareTheBounds() throws IOException {
    ShardOptions options = ShardOptions.fixed(4).within(Bounds.between(-10, 100));
    Quipu quipu =
        Backends.on(
            new MemoryDriver(), store -> new Sharded(store, new MarkerItem(store), options));
    Served.on(
        quipu,
        client -> {
          assertEquals(404, client.get("/v1/counters/never/parts").status());
          for (int i = 0; i < 30; i++) {
            add(client, "stock", 1 + i % 3);
          }
          JsonNode found = parts(client, "stock");
          assertEquals(4, found.size());
          assertEquals(60, sum(found, "value"));
          assertEquals(70, sum(found, "below"));
          assertEquals(40, sum(found, "above"));
        });
  }

  @Test
  void shardsWithoutBoundsHaveNoLimits() throws IOException {
    Quipu quipu =
        Backends.on(
            new MemoryDriver(),
            store -> new Sharded(store, new MarkerItem(store), ShardOptions.fixed(3)));
    Served.on(
        quipu,
        client -> {
          add(client, "likes", 5);
          JsonNode found = parts(client, "likes");
          assertEquals(3, found.size());
          assertEquals(5, sum(found, "value"));
          assertFalse(found.get(0).has("below"));
        });
  }

  @Test
  void regionsHaveRightsAndLeases() throws IOException {
    Map<String, Store> replicas = new HashMap<>();
    NAMES.forEach(each -> replicas.put(each, new Store(new MemoryDriver(), Clock.system())));
    Regions regions = new Regions("eu", NAMES, replicas);
    RegionLeases leases = RegionLeases.of(regions, RegionLeases.Terms.DEFAULT);
    RegionOptions options = RegionOptions.DEFAULT.within(Bounds.between(0, 90));
    Quipu quipu = Backends.inRegions(regions, options, leases);
    assertTrue(leases.renew());
    Served.on(
        quipu,
        services -> services.among(leases::status),
        client -> {
          add(client, "tickets", 7);
          JsonNode found = parts(client, "tickets");
          List<String> names = new ArrayList<>();
          found.forEach(each -> names.add(each.get("name").stringValue()));
          assertTrue(names.contains("eu"), names::toString);
          assertEquals(7, sum(found, "value"));
          JsonNode all = client.get("/v1/regions").json().get("regions");
          assertEquals(3, all.size());
          assertEquals("ap", all.get(0).get("name").stringValue());
          assertTrue(all.get(0).get("responds").booleanValue());
        });
  }

  @Test
  void hitsAndVersionsAreShown() throws IOException {
    Served.on(
        Backends.on(new MemoryDriver(), HitLog::new),
        client -> {
          add(client, "page", 2);
          add(client, "page", 3);
          assertEquals(5, sum(parts(client, "page"), "value"));
        });
    Served.on(
        Backends.on(new MemoryDriver(), VersionTree::new),
        client -> {
          add(client, "page", 2);
          add(client, "page", 3);
          JsonNode versions = client.get("/v1/counters/page/parts").json().get("versions");
          long own =
              StreamSupport.stream(versions.spliterator(), false)
                  .filter(each -> each.has("own"))
                  .mapToLong(each -> Long.parseLong(each.get("own").stringValue()))
                  .sum();
          assertEquals(5, own);
        });
  }

  @Test
  void aCounterThatIsStoredAsAWholeHasNoParts() throws IOException {
    Served.on(
        Backends.on(new MemoryDriver()),
        client -> {
          Client.Reply reply = client.get("/v1/counters/a/parts");
          assertEquals(501, reply.status());
          assertTrue(reply.text("detail").contains("marker-item"), reply.body());
          assertEquals(501, client.get("/v1/regions").status());
          assertEquals(400, client.get("/v1/regions?x=1").status());
        });
  }
}
