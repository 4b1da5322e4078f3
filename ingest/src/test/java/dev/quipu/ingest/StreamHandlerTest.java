package dev.quipu.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.StreamRecord;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewAggregates;
import dev.quipu.view.ViewAggregates.Aggregate;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The stream of a table in which another program counts views, too. */
final class StreamHandlerTest {
  private static final String PAGE = "myblog.com/a";
  private static final LocalDate DAY = LocalDate.parse("2022-03-28");

  private final ViewAggregates aggregates =
      new ViewAggregates(new Store(new MemoryDriver(), Clock.system()), Optional.empty());
  private final StreamHandler handler = new StreamHandler(aggregates);

  private static DynamodbStreamRecord stored(String sort, Map<String, Long> numbers) {
    Map<String, AttributeValue> image = new HashMap<>();
    image.put("PK", new AttributeValue("URL#" + PAGE));
    image.put("SK", new AttributeValue(sort));
    numbers.forEach(
        (name, number) -> image.put(name, new AttributeValue().withN(number.toString())));
    StreamRecord change = new StreamRecord();
    change.setSequenceNumber("1");
    change.setNewImage(image);
    DynamodbStreamRecord converted = new DynamodbStreamRecord();
    converted.setEventName("INSERT");
    converted.setDynamodb(change);
    return converted;
  }

  private void deliver(DynamodbStreamRecord... records) {
    DynamodbEvent event = new DynamodbEvent();
    event.setRecords(new ArrayList<>(List.of(records)));
    assertEquals(List.of(), handler.handleRequest(event, null).getBatchItemFailures());
  }

  private void assertViews(long ofPage, long ofDay) {
    assertEquals(ofPage, aggregates.ofPage(PAGE).map(Aggregate::views).orElse(0L));
    assertEquals(ofDay, aggregates.ofDay("myblog.com", DAY).map(Aggregate::views).orElse(0L));
  }

  @Test
  void viewsOfAnotherProgramAreAddedOnce() {
    String first = "T#2022-03-28T13:17:23+00:00#CID#a";
    deliver(stored(first, Map.of()), stored("STATISTICS", Map.of("views", 1L)));
    deliver(stored(first, Map.of()), stored("T#2022-03-28T13:17:38+00:00#CID#b#CID#", Map.of()));
    assertViews(2, 2);
    deliver(stored("T#2022-03-28T23:59:59-02:00#CID#a", Map.of())); // the next day, in UTC
    deliver(stored("T#yesterday#CID#a", Map.of()));
    assertViews(3, 2);
  }

  @Test
  void aViewThatAnotherProgramCountedAgainAfterItsTtlIsAddedAgain() {
    String sort = "T#2022-03-28T13:17:23+00:00#CID#a";
    deliver(stored(sort, Map.of("ttl", 1_648_473_443L)));
    deliver(stored(sort, Map.of("ttl", 1_648_473_443L)));
    assertViews(1, 1);
    deliver(stored(sort, Map.of("ttl", 1_648_559_843L)));
    assertViews(2, 2);
  }

  @Test
  void viewsOfQuipuInItsTableHaveTheirOwnNumber() {
    String sort = "T#2022-03-28T13:17:23+00:00#CID#a";
    deliver(stored(sort, Map.of("ttl", 7L, "f:call", 5L, "f:value", 3L)));
    deliver(stored(sort, Map.of("ttl", 8L, "f:call", 5L, "f:value", 3L))); // a repeat
    assertEquals(Optional.of(new Aggregate(1, 1, 3)), aggregates.ofPage(PAGE));
    deliver(stored(sort, Map.of("ttl", 8L, "f:call", 6L)));
    assertEquals(Optional.of(new Aggregate(2, 1, 3)), aggregates.ofPage(PAGE));
  }
}
