package dev.quipu.simpledb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.layer.Store;
import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Hits and summaries in domains of their own, as a third-party client sees them. */
@SuppressWarnings("CheckReturnValue") // adds before the measured ones
final class PlacementTest {
  private static final String PAGE = "page";

  private final ShiftedClock clock = new ShiftedClock();
  private final SimpleDbServer server =
      SimpleDbServer.start(SimpleDbOptions.DEFAULT, Clock.system());
  private final ForeignClient foreign =
      new SdkClient(server.endpoint().toString(), ForeignClients.KEY, ForeignClients.SECRET);

  @AfterEach
  void close() {
    foreign.close();
    server.close();
  }

  private StoreDriver open(String domains) {
    return StoreProvider.open(
        "simpledb://key:secret@us-east-1/%sendpoint=%s".formatted(domains, server.endpoint()));
  }

  /** Returns the sorts of the items of a domain that belong to the counter. */
  private Set<String> sorts(String domain, String partition) throws Exception {
    String select = "select s from `%s` where p = '%s'".formatted(domain, partition);
    JsonNode answer =
        foreign.call(
            "Select",
            ForeignClient.JSON.valueToTree(
                Map.of("SelectExpression", select, "ConsistentRead", true)));
    Set<String> sorts = new TreeSet<>();
    for (JsonNode item : answer.path("result").path("Items")) {
      sorts.add(item.path("Attributes").get(0).path("Value").asString());
    }
    return sorts;
  }

  @Test
  void hitsAndSummariesAreInDomainsOfTheirOwn() throws Exception {
    try (StoreDriver driver = open("rest?hits=hits1,hits2,hits3&summaries=sums&")) {
      HitLog hits = new HitLog(new Store(driver, clock), HitLogOptions.DEFAULT);
      for (int i = 0; i < 30; i++) {
        hits.add(new Add(PAGE, 1 + i % 2, RequestId.of("hit " + i)));
      }
      clock.advance(HitLogOptions.DEFAULT.settle());
      assertTrue(hits.rollUp(PAGE).isStored());
      hits.add(new Add(PAGE, 1, null));
      assertEquals(Reading.exact(46), hits.read(PAGE).orElseThrow());
      assertEquals(PAGE, hits.list("", "", 9).counters().getFirst().name());
    }
    assertEquals(Set.of("summary"), sorts("sums", "counter/" + PAGE));
    Map<String, Integer> stored = new HashMap<>();
    for (String domain : Set.of("hits1", "hits2", "hits3", "sums", "rest")) {
      int items = sorts(domain, "hits/" + PAGE).size() + sorts(domain, "amounts/" + PAGE).size();
      stored.merge(domain.replaceAll("[0-9]", ""), items, Integer::sum);
      assertEquals(domain.startsWith("hits"), items > 0, domain);
    }
    assertEquals(Map.of("hits", 31, "sums", 0, "rest", 0), stored);
    Set<String> rest = sorts("rest", "counter/" + PAGE);
    assertEquals(30, rest.stream().filter(sort -> sort.startsWith("request/")).count());
    assertEquals(false, rest.contains("summary"));
  }

  @Test
  void withoutOptionsAllItemsAreInAllDomains() throws Exception {
    try (StoreDriver driver = open("only?")) {
      HitLog hits = new HitLog(new Store(driver, clock), HitLogOptions.DEFAULT);
      hits.add(new Add(PAGE, 1, null));
      clock.advance(HitLogOptions.DEFAULT.settle());
      assertTrue(hits.rollUp(PAGE).isStored());
    }
    assertEquals(1, sorts("only", "hits/" + PAGE).size());
    assertTrue(sorts("only", "counter/" + PAGE).contains("summary"));
  }

  @Test
  void namesAreValidated() {
    for (String bad : new String[] {"rest?hits=a,b&", "rest?summaries=one,one&", "rest?hits=&"}) {
      assertThrows(IllegalArgumentException.class, () -> open(bad), bad);
    }
  }
}
