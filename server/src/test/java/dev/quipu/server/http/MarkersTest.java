package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.cli.serve.CountingFlags;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.ParameterException;

/** Placement and attributes of the markers of marker-item, over HTTP on DynamoDB Local. */
final class MarkersTest {
  private static final String[] ORDER = {"Idempotency-Key", "\"order 981\""};
  private static final String STOCK = "/v1/counters/stock";
  private static final String OUTCOME = "/v1/requests/order%20981?counter=stock";

  @Test
  void markersAreInThePartitionOfTheCounterOrApart() throws Exception {
    assertPlaced("counter", "counter/stock");
    assertPlaced("partition", "markers/%s/stock");
    assertPlaced("table:orders-markers", "table:orders-markers/%s/stock");
  }

  private static void assertPlaced(String placement, String partition) throws Exception {
    try (OnDynamoDb server = OnDynamoDb.start("", "--markers", placement)) {
      assertEquals(200, server.client.add("stock", "{\"delta\":5}", ORDER).status());
      server.loseReplies(1);
      Client.Reply sale = server.client.add("stock", "{\"delta\":-2,\"floor\":0}");
      assertEquals(200, sale.status(), sale.body()); // the marker resolved it
      assertEquals("true", server.client.add("stock", "{\"delta\":5}", ORDER).text("replayed"));
      assertEquals(409, server.client.add("stock", "{\"delta\":-4,\"floor\":0}").status());
      assertEquals(422, server.client.add("stock", "{\"delta\":6}", ORDER).status());
      assertEquals("3", server.client.get(STOCK).text("value"));
      assertEquals("applied", server.client.get(OUTCOME).text("outcome"));

      String bits = RequestId.of("order 981").bits();
      Key marker = new Key(partition.formatted(bits), "request/" + bits);
      assertTrue(server.store().get(marker).isPresent(), placement);
      List<String> beside = new ArrayList<>();
      server
          .store()
          .scanAll(
              Scan.all("counter/stock"),
              page -> page.forEach(item -> beside.add(item.key().sort())));
      assertEquals(placement.equals("counter") ? 3 : 1, beside.size(), beside.toString());
    }
  }

  @Test
  void aMalformedPlacementIsRejected() {
    String unknown =
        assertThrows(ParameterException.class, () -> OnDynamoDb.parse("--markers", "elsewhere"))
            .getMessage();
    assertTrue(String.valueOf(unknown).contains("use counter, partition or table:NAME"), unknown);
    for (String placement : List.of("table:", "table:a/b", "table:ab")) {
      CountingFlags flags = OnDynamoDb.parse("--markers", placement);
      Store store = new Store(new MemoryDriver(), Clock.system());
      String said =
          assertThrows(IllegalArgumentException.class, () -> flags.guard(store)).getMessage();
      assertTrue(String.valueOf(said).contains("must be partition, or table:"), said);
    }
  }

  @Test
  void theMarkerHasTheAttributesOfTheRequest() throws Exception {
    for (String[] options :
        List.of(new String[] {}, new String[] {"--technique", "item-collection"})) {
      try (OnDynamoDb server = OnDynamoDb.start("", options)) {
        String body = "{\"delta\":5,\"attributes\":{\"order\":\"981\",\"customer\":\"Ada\"}}";
        server.loseReplies(1);
        assertEquals(200, server.client.add("stock", body, ORDER).status());
        Client.Reply again =
            server.client.add("stock", "{\"delta\":5,\"attributes\":{\"order\":\"7\"}}", ORDER);
        assertEquals("true", again.text("replayed"));
        String stored = "\"attributes\":{\"customer\":\"Ada\",\"order\":\"981\"}";
        Client.Reply outcome = server.client.get(OUTCOME);
        assertTrue(outcome.body().contains(stored), outcome.body());

        server.client.add("stock", "{\"delta\":1}", "Idempotency-Key", "\"2\"");
        Client.Reply plain = server.client.get("/v1/requests/2?counter=stock");
        assertFalse(plain.body().contains("attributes"), plain.body());
      }
    }
  }

  @Test
  void attributesHaveLimits() throws Exception {
    try (OnDynamoDb server = OnDynamoDb.start("")) {
      StringBuilder many = new StringBuilder();
      for (int i = 0; i < 17; i++) {
        many.append(i == 0 ? "" : ",").append("\"a%d\":\"x\"".formatted(i));
      }
      for (String bad :
          List.of(
              many.toString(),
              "\"a\":1",
              "\"a\":\"\"",
              "\"a\":\"" + "x".repeat(1_025) + "\"",
              "\"" + "n".repeat(65) + "\":\"x\"")) {
        Client.Reply reply =
            server.client.add("stock", "{\"delta\":1,\"attributes\":{" + bad + "}}");
        assertEquals(400, reply.status(), reply.body());
      }
      assertEquals(404, server.client.get(STOCK).status());
    }
    try (OnDynamoDb server = OnDynamoDb.start("", "--technique", "token-set")) {
      Client.Reply reply = server.client.add("stock", "{\"delta\":1,\"attributes\":{\"a\":\"b\"}}");
      assertEquals(501, reply.status(), reply.body());
      assertTrue(reply.body().contains("marker-item and item-collection"), reply.body());
    }
  }
}
