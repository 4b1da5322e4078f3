package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.record.RecordGuard;
import dev.quipu.server.cli.serve.CountingFlags;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.ParameterException;

/** Options of single techniques, over HTTP on DynamoDB Local. */
final class TechniqueFlagsTest {
  private static final String ONE = "{\"delta\":1}";
  private static final String LIKES = "/v1/counters/likes";

  @Test
  void afterAnUnknownOutcomeTheServerGivesUpOrRetries() throws Exception {
    for (List<String> action : List.of(List.<String>of(), List.of("--after-unknown", "give-up"))) {
      try (OnDynamoDb server = atomicAdd(action)) {
        server.loseReplies(1);
        Client.Reply reply = server.client.add("likes", ONE);
        assertEquals(503, reply.status(), reply.body());
        assertEquals("unknown", reply.text("outcome"), reply.body());
        assertEquals("1", server.client.get(LIKES).text("value"));
      }
    }
    try (OnDynamoDb server = atomicAdd(List.of("--after-unknown", "retry"))) {
      server.loseReplies(1);
      Client.Reply reply = server.client.add("likes", ONE);
      assertEquals(200, reply.status(), reply.body());
      assertEquals("2", server.client.get(LIKES).text("value")); // once too often
      assertEquals(501, server.client.add("likes", "{\"delta\":1,\"floor\":0}").status());
    }
  }

  private static OnDynamoDb atomicAdd(List<String> action) throws Exception {
    List<String> options = new ArrayList<>(List.of("--technique", "atomic-add"));
    options.addAll(action);
    return OnDynamoDb.start("", options.toArray(String[]::new));
  }

  @Test
  void theNumberOfSlotsIsAnOption() throws Exception {
    try (OnDynamoDb server = OnDynamoDb.start("", "--technique", "token-set", "--slots", "2")) {
      String[] first = {"Idempotency-Key", "\"1\""};
      assertEquals(200, server.client.add("likes", ONE, first).status());
      assertEquals(200, server.client.add("likes", ONE).status());
      Client.Reply full = server.client.add("likes", ONE);
      assertTrue(full.body().contains("has used its 2 slots"), full.body());
      assertEquals("not-applied", full.text("outcome"), full.body());
      assertEquals("true", server.client.add("likes", ONE, first).text("replayed"));
      assertEquals("2", server.client.get(LIKES).text("value"));
    }
  }

  @Test
  void anOptionOfAnotherTechniqueIsRejected() {
    assertRejected("option slots is not supported by technique marker-item", "--slots", "5");
    assertRejected(
        "option after-unknown is not supported by technique token-set; use technique atomic-add",
        "--technique",
        "token-set",
        "--after-unknown",
        "retry");
    assertRejected("from 1 to 2000", "--technique", "token-set", "--slots", "2001");
    assertRejected("from 1 to 2000", "--technique", "token-set", "--slots", "0");
    assertRejected("does not support bounds", atomicAddRetries("--floor", "0"));
    ParameterException unknown =
        assertThrows(
            ParameterException.class, () -> OnDynamoDb.parse("--after-unknown", "perhaps"));
    assertTrue(
        String.valueOf(unknown.getMessage()).contains("use give-up or retry"), unknown.toString());
  }

  private static String[] atomicAddRetries(String... more) {
    List<String> options = new ArrayList<>(List.of("--technique", "atomic-add"));
    options.addAll(List.of("--after-unknown", "retry"));
    options.addAll(List.of(more));
    return options.toArray(String[]::new);
  }

  private static void assertRejected(String message, String... options) {
    CountingFlags flags = OnDynamoDb.parse(options);
    Store store = new Store(new MemoryDriver(), Clock.system());
    RuntimeException rejected = assertThrows(RuntimeException.class, () -> flags.guard(store));
    assertTrue(String.valueOf(rejected.getMessage()).contains(message), rejected.toString());
  }

  @Test
  void serversWithOtherOptionsDoNotWrite() throws Exception {
    Store store = new Store(new MemoryDriver(), new ManualClock(Clock.system().epochMillis()));
    CountingFlags five = OnDynamoDb.parse("--technique", "token-set", "--slots", "5");
    CountingFlags usual = OnDynamoDb.parse("--technique", "token-set");
    assertTrue(five.counters(store).add(new Add("likes", 1, null)).isApplied());
    assertTrue(five.guard(store).check().orElseThrow().contains("--technique token-set --slots 5"));
    RecordGuard.adopt(store, five.record(store.profile()));
    String said = usual.guard(store).check().orElseThrow();
    assertTrue(said.contains("slots: record 5, this process 1000"), said);
    assertEquals(Optional.empty(), five.guard(store).check());
  }
}
