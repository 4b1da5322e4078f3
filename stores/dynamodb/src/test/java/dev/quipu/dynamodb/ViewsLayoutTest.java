package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.ConcurrentClients;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewOptions;
import dev.quipu.view.ViewPage;
import dev.quipu.view.ViewPage.CountedView;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** {@code layout=views} on a table to which another program writes, {@link ViewsTable}. */
final class ViewsLayoutTest {
  private static final String PAGE = "myblog.com/article1";
  private static final String FIRST = "2022-03-28T13:17:23+00:00";
  private static final String SECOND = "2022-03-28T13:17:38.250000+00:00";
  private static final String THIRD = "2022-03-28T14:36:23+00:00";
  private static final AtomicInteger TABLES = new AtomicInteger();

  private final DynamoDbClient client = ViewsTable.client(Tables.server().endpoint());
  private final ViewsTable other =
      ViewsTable.created(client, "BlogData" + TABLES.incrementAndGet());
  private final ManualClock clock = new ManualClock(Clock.system().epochMillis());
  private Optional<StoreDriver> driver = Optional.empty();

  @BeforeEach
  void anotherProgramCounts() {
    assertTrue(other.count(PAGE, FIRST, "a"));
    assertTrue(other.count(PAGE, SECOND, "b"));
    assertTrue(other.count(PAGE, THIRD, "c"));
    assertTrue(other.count("myblog.com/post23", THIRD, "c"));
  }

  @AfterEach
  void close() {
    driver.ifPresent(StoreDriver::close);
    client.close();
  }

  private ViewCounter open(ViewOptions options) {
    StoreDriver opened = StoreProvider.open(uri("views"));
    driver = Optional.of(opened);
    return new ViewCounter(new Store(opened, clock), options);
  }

  private String uri(String layout) {
    return "dynamodb://key:secret@us-east-1/%s?endpoint=%s&layout=%s"
        .formatted(other.table(), Tables.server().endpoint(), layout);
  }

  private static ViewEvent event(String time, String clientId) {
    return new ViewEvent(PAGE, Instant.parse(time), clientId);
  }

  @Test
  void countsContinueAndRepeatsAreRecognizedInBothDirections() {
    ViewCounter views = open(ViewOptions.EXACT);
    assertEquals(OptionalLong.of(3), views.count(PAGE));
    assertEquals(OptionalLong.of(1), views.count("myblog.com/post23"));
    assertFalse(views.add(event(FIRST, "a")), "counted by the other program");
    assertFalse(views.add(event(SECOND, "b")));
    assertFalse(views.addTogether(List.of(event(THIRD, "c"), event(THIRD, "d"))));
    assertTrue(views.add(event(FIRST, "new")));
    assertTrue(views.add(event("2022-03-28T15:00:00.000000001Z", "new")));
    assertFalse(views.add(event(FIRST, "new")));
    assertEquals(OptionalLong.of(5), other.views(PAGE));
    assertFalse(other.count(PAGE, FIRST, "new"), "counted here");
    assertTrue(other.count(PAGE, FIRST, "newer"));
    assertEquals(OptionalLong.of(6), views.count(PAGE));
    assertEquals(6, other.events(PAGE).size());
    ViewEvent first = new ViewEvent("myblog.com/new", Instant.parse(FIRST), "a");
    assertTrue(views.add(first));
    assertEquals(OptionalLong.of(1), other.views("myblog.com/new"));
    assertFalse(other.count("myblog.com/new", FIRST, "a"));
  }

  @Test
  void theViewsOfAPeriodAreThoseOfBothPrograms() {
    ViewCounter views = open(ViewOptions.EXACT);
    views.add(event("2022-03-28T13:17:38.250000001Z", "d").with(7));
    views.add(event("2022-03-28T13:17:38Z", "e"));
    List<String> clients = List.of("a", "e", "b", "d", "c");
    Optional<Instant> none = Optional.empty();
    assertEquals(5, views.count(PAGE, none, none));
    Optional<String> cursor = Optional.empty();
    for (String each : clients) {
      ViewPage page = views.page(PAGE, none, none, 1, cursor);
      assertEquals(Optional.of(each), page.views().getFirst().clientId());
      cursor = page.cursor();
    }
    assertEquals(Optional.empty(), cursor);
    Optional<Instant> start = Optional.of(Instant.parse("2022-03-28T13:17:38.25Z"));
    Optional<Instant> end = Optional.of(Instant.parse(THIRD));
    List<CountedView> found = views.page(PAGE, start, end, 10, cursor).views();
    assertEquals(List.of("b", "d"), found.stream().map(it -> it.clientId().orElse("")).toList());
    assertEquals(Instant.parse(SECOND), found.getFirst().time());
    assertEquals(OptionalLong.of(7), found.getLast().value());
    assertEquals(2, views.count(PAGE, start, end));
  }

  @Test
  void bothProgramsCountAtTheSameTime() throws Exception {
    ViewCounter views = open(ViewOptions.EXACT);
    List<Integer> counted =
        ConcurrentClients.run(
            8,
            writer -> {
              int own = 0;
              for (int i = 0; i < 10; i++) {
                String time = "2022-03-29T00:00:%02d+00:00".formatted(i);
                boolean isNew =
                    writer % 2 == 0
                        ? views.add(event(time, "both"))
                        : other.count(PAGE, time, "both");
                own += isNew ? 1 : 0;
              }
              return own;
            });
    assertEquals(10, counted.stream().mapToInt(Integer::intValue).sum());
    assertEquals(OptionalLong.of(13), other.views(PAGE));
    assertEquals(OptionalLong.of(13), views.count(PAGE));
  }

  @Test
  void viewsThatTheOtherProgramKeepsForATimeExpireAtTheirTtl() {
    long ttl = Math.floorDiv(clock.epochMillis(), 1_000) + 60;
    assertTrue(other.count(PAGE, "2022-03-30T00:00:00+00:00", "a", Optional.of(ttl)));
    ViewCounter views = open(ViewOptions.EXACT.keeping(Duration.ofDays(7)));
    assertFalse(views.add(event("2022-03-30T00:00:00Z", "a")));
    assertEquals(4, views.count(PAGE, Optional.empty(), Optional.empty()));
    clock.advance(Duration.ofMinutes(1));
    assertEquals(3, views.count(PAGE, Optional.empty(), Optional.empty()));
    assertTrue(views.add(event("2022-03-30T00:00:00Z", "a")), "after its TTL");
    assertFalse(views.add(event("2022-03-30T00:00:00Z", "a")));
    assertEquals(OptionalLong.of(5), other.views(PAGE));
  }

  @Test
  void viewsWithTimesInOtherFormatsAreRejected() {
    for (String time :
        List.of(
            "2022-03-28T13:17:23Z",
            "2022-03-28T13:17:23.123Z",
            "2022-03-28T15:17:23+02:00",
            "2022-03-28T13:17:23.5+00:00",
            "2022-03-28T13:17:23.000000+00:00",
            "1648473443")) {
      String sort = "T#" + time + "#CID#a";
      other.put(PAGE, sort, Map.of());
      QuipuException e = assertThrows(QuipuException.class, () -> open(ViewOptions.EXACT));
      assertEquals(Reason.INVALID, e.reason());
      assertTrue(String.valueOf(e.getMessage()).contains(sort), e.getMessage());
      client.deleteItem(request ->
          request
              .tableName(other.table())
              .key(
                  Map.of(
                      "PK",
                      AttributeValue.fromS("URL#" + PAGE),
                      "SK",
                      AttributeValue.fromS(sort))));
    }
    ViewCounter views = open(ViewOptions.EXACT);
    other.put(PAGE, "T#2022-03-28T13:17:23Z#CID#a", Map.of());
    assertThrows(QuipuException.class, () -> views.count(PAGE, Optional.empty(), Optional.empty()));
    other.put(PAGE, "STATISTICS", Map.of("views", AttributeValue.fromN("1.5")));
    QuipuException e = assertThrows(QuipuException.class, () -> views.count(PAGE));
    assertEquals(Reason.CORRUPT, e.reason());
    assertTrue(String.valueOf(e.getMessage()).contains("views"), e.getMessage());
  }

  @Test
  void aTableIsOpenedInItsOwnLayoutOnly() {
    QuipuException e = assertThrows(QuipuException.class, () -> StoreProvider.open(uri("quipu")));
    assertTrue(String.valueOf(e.getMessage()).contains("PK HASH, SK RANGE"), e.getMessage());
    IllegalArgumentException unknown =
        assertThrows(IllegalArgumentException.class, () -> StoreProvider.open(uri("nothing")));
    assertTrue(
        String.valueOf(unknown.getMessage()).contains("known: quipu, views"), unknown.getMessage());
    URI uri = URI.create(uri("views"));
    String schema = StoreProvider.of(uri).schema(uri);
    assertTrue(schema.contains("AttributeName=PK,KeyType=HASH"), schema);
  }
}
