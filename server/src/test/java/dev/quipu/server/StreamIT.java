package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.StreamRecord;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Reason;
import dev.quipu.ingest.StreamHandler;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.driver.InterceptingDriver.Interceptor;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import dev.quipu.view.ViewAggregates;
import dev.quipu.view.ViewAggregates.Aggregate;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.net.URI;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import software.amazon.awssdk.services.dynamodb.model.Record;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The aggregates of views from a stream of DynamoDB Local equal a recount of the sent events,
 * although shards are split, batches are repeated and reordered, and replies of the store are lost.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class StreamIT {
  private static final long SEED = Long.getLong("seed", 20_261_125L);
  private static final int EVENTS = Integer.getInteger("aggregates.events", 1_000);
  private static final String HANDLER = "dev.quipu.ingest.StreamHandler::handleRequest";
  private static final Optional<Duration> KEEP = Optional.of(Duration.ofDays(7));
  private static final int WORKERS = 4;
  private static final double REPLY_LOST = 0.15;
  private static final double REQUEST_LOST = 0.1;
  private static final RetryPolicy TWO_ATTEMPTS =
      new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(10), Duration.ofSeconds(10));
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final List<ViewEvent> events = ViewStream.events(SEED, EVENTS);
  private Optional<DynamoDbServer> server = Optional.empty();
  private List<Record> records = List.of();

  @BeforeAll
  void storeViews() throws Exception {
    server = DynamoDbServer.start();
    assumeTrue(server.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    records = ViewStream.store(endpoint(), "views", events, SEED);
  }

  @AfterAll
  void stop() {
    server.ifPresent(DynamoDbServer::close);
  }

  private URI endpoint() {
    return server.orElseThrow().endpoint();
  }

  @Test
  void aggregatesEqualARecount() throws Exception {
    try (StoreDriver driver = StoreProvider.open(ViewStream.uri(endpoint(), "aggregates"))) {
      ReshardedStream stream = deliver(new InterceptingDriver(driver, new LossyLink()), false);
      check(new ViewAggregates(new Store(driver, Clock.system()), KEEP));
      assertTrue(stream.replays() > 0, "no batch was replayed");
      assertTrue(stream.failures() > 0, "no failure was reported");
      System.out.printf(
          "StreamIT: %d events, %d records, %s: equal to a recount%n",
          events.size(), records.size(), stream);
    }
  }

  @Test
  void aHandlerWithoutMarkersIsCaught() throws Exception {
    MemoryDriver memory = new MemoryDriver();
    Interceptor withoutMarkers =
        new Interceptor() {
          @Override
          public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
            List<Write> numbers = writes.stream().filter(it -> it instanceof Write.Update).toList();
            return BatchDriver.of(memory).writeAll(numbers, null);
          }
        };
    deliver(new InterceptingDriver(memory, withoutMarkers), false);
    assertFalse(equalsRecount(new ViewAggregates(new Store(memory, Clock.system()), KEEP)));
  }

  @Test
  void aHandlerThatConfirmsFailuresIsCaught() throws Exception {
    MemoryDriver memory = new MemoryDriver();
    deliver(new InterceptingDriver(memory, new LossyLink()), true);
    assertFalse(equalsRecount(new ViewAggregates(new Store(memory, Clock.system()), KEEP)));
  }

  /** A record that is delivered with its parent and its child, and removals, add nothing. */
  @Test
  void removalsChangeNothing() {
    MemoryDriver memory = new MemoryDriver();
    ViewAggregates aggregates = new ViewAggregates(new Store(memory, Clock.system()), KEEP);
    StreamHandler handler = new StreamHandler(aggregates);
    Record view = records.stream().filter(ViewStream::isView).findFirst().orElseThrow();
    Record removed =
        view.toBuilder()
            .eventName("REMOVE")
            .userIdentity(it -> it.type("Service").principalId("dynamodb.amazonaws.com"))
            .dynamodb(view.dynamodb().toBuilder().newImage(null).build())
            .build();
    handler.handleRequest(event(List.of(removed)), null);
    assertEquals(Map.of(), read(aggregates));
    handler.handleRequest(event(List.of(view, removed, view)), null);
    String url = ViewStream.key(view, "pk").substring("views/".length());
    assertEquals(1, aggregates.ofPage(url).orElseThrow().views());
  }

  /** The function with the runtime of AWS, which is killed between two of its batches. */
  @Test
  void aggregatesEqualARecountInTheRealRuntime() throws Exception {
    System.setProperty("aws.accessKeyId", "key");
    System.setProperty("aws.secretAccessKey", "secret");
    String uri = ViewStream.uri(endpoint(), "aggregates-of-lambda");
    try (StoreDriver driver = StoreProvider.open(uri);
        LambdaService lambda =
            new LambdaService(HANDLER, Map.of("QUIPU_STORE", uri, "QUIPU_KEEP", "P7D"))) {
      ReshardedStream stream = new ReshardedStream(records, SEED);
      int[] calls = {0};
      stream.deliverTo(
          batch -> {
            if (++calls[0] == 10) {
              lambda.crash();
            }
            return lambda.invoke(json(batch)).map(StreamIT::failed);
          },
          1);
      check(new ViewAggregates(new Store(driver, Clock.system()), KEEP));
      assertEquals(2, lambda.starts());
      System.out.printf(
          "StreamIT: %d events in the Lambda runtime, %s: equal to a recount%n",
          events.size(), stream);
    }
  }

  private ReshardedStream deliver(StoreDriver driver, boolean confirmsFailures) throws Exception {
    Store store = new Store(driver, Clock.system(), Randomness.seeded(SEED), TWO_ATTEMPTS);
    StreamHandler handler = new StreamHandler(new ViewAggregates(store, KEEP));
    ReshardedStream stream = new ReshardedStream(records, SEED);
    stream.deliverTo(
        batch -> {
          Set<String> failed =
              handler.handleRequest(event(batch), null).getBatchItemFailures().stream()
                  .map(StreamsEventResponse.BatchItemFailure::getItemIdentifier)
                  .collect(Collectors.toSet());
          return Optional.of(confirmsFailures ? Set.of() : failed);
        },
        WORKERS);
    return stream;
  }

  /** Loses requests and replies. */
  private static final class LossyLink implements Interceptor {
    private final RandomGenerator random = Randomness.seeded(SEED);

    @Override
    public <T> T call(Supplier<T> call) {
      double drawn;
      synchronized (this) {
        drawn = random.nextDouble();
      }
      if (drawn < REQUEST_LOST) {
        throw lost();
      }
      T result = call.get();
      if (drawn < REQUEST_LOST + REPLY_LOST) {
        throw lost();
      }
      return result;
    }

    private static OutcomeUnknownException lost() {
      return new OutcomeUnknownException(Reason.TIMEOUT, "lost", null);
    }
  }

  /** Counts the sent events, without any code of the aggregates. */
  private Map<String, Aggregate> recount() {
    Map<String, long[]> counts = new TreeMap<>();
    for (ViewEvent event : events) {
      String site = event.url().split("/", 4)[2];
      for (String of : List.of(event.url(), site, site + " " + day(event))) {
        long[] numbers = counts.computeIfAbsent(of, key -> new long[3]);
        numbers[0]++;
        numbers[1] += event.value().isPresent() ? 1 : 0;
        numbers[2] += event.value().orElse(0);
      }
    }
    Map<String, Aggregate> all = new TreeMap<>();
    counts.forEach((of, numbers) -> all.put(of, new Aggregate(numbers[0], numbers[1], numbers[2])));
    return all;
  }

  private static LocalDate day(ViewEvent event) {
    return event.time().atOffset(ZoneOffset.UTC).toLocalDate();
  }

  private void check(ViewAggregates aggregates) {
    Map<String, Aggregate> expected = recount();
    Map<String, Aggregate> found = read(aggregates);
    assertEquals(expected.size(), found.size());
    expected.forEach((of, numbers) -> assertEquals(numbers, found.get(of), of));
  }

  private boolean equalsRecount(ViewAggregates aggregates) {
    return read(aggregates).equals(recount());
  }

  private Map<String, Aggregate> read(ViewAggregates aggregates) {
    Map<String, Aggregate> all = new TreeMap<>();
    Set<String> days = new HashSet<>();
    for (ViewEvent event : events) {
      String site = ViewCounter.site(event.url());
      if (!all.containsKey(event.url())) {
        aggregates.ofPage(event.url()).ifPresent(it -> all.put(event.url(), it));
      }
      if (!all.containsKey(site)) {
        aggregates.ofSite(site).ifPresent(it -> all.put(site, it));
      }
      if (days.add(site + " " + day(event))) {
        aggregates.ofDay(site, day(event)).ifPresent(it -> all.put(site + " " + day(event), it));
      }
    }
    return all;
  }

  private static DynamodbEvent event(List<Record> batch) {
    List<DynamodbStreamRecord> all = new ArrayList<>();
    for (Record each : batch) {
      StreamRecord change = new StreamRecord();
      change.setSequenceNumber(each.dynamodb().sequenceNumber());
      if (each.dynamodb().hasNewImage()) {
        Map<String, AttributeValue> image = new LinkedHashMap<>();
        each.dynamodb()
            .newImage()
            .forEach((name, value) ->
                image.put(name, new AttributeValue().withS(value.s()).withN(value.n())));
        change.setNewImage(image);
      }
      DynamodbStreamRecord converted = new DynamodbStreamRecord();
      converted.setEventName(each.eventNameAsString());
      converted.setDynamodb(change);
      all.add(converted);
    }
    DynamodbEvent event = new DynamodbEvent();
    event.setRecords(all);
    return event;
  }

  /** Returns the batch in the form that the function receives. */
  private static String json(List<Record> batch) {
    List<Map<String, Object>> all = new ArrayList<>();
    for (Record each : batch) {
      all.add(
          Map.of(
              "eventID", each.eventID(),
              "eventName", each.eventNameAsString(),
              "eventVersion", "1.1",
              "eventSource", "aws:dynamodb",
              "awsRegion", "us-east-1",
              "eventSourceARN", "arn:aws:dynamodb:us-east-1:1:table/views/stream/1",
              "dynamodb",
                  Map.of(
                      "SequenceNumber", each.dynamodb().sequenceNumber(),
                      "SizeBytes", 100,
                      "StreamViewType", "NEW_IMAGE",
                      "Keys", attributes(each.dynamodb().keys()),
                      "NewImage", attributes(each.dynamodb().newImage()))));
    }
    return MAPPER.writeValueAsString(Map.of("Records", all));
  }

  private static Map<String, Map<String, String>> attributes(
      Map<String, software.amazon.awssdk.services.dynamodb.model.AttributeValue> image) {
    Map<String, Map<String, String>> all = new LinkedHashMap<>();
    image.forEach((name, value) ->
        all.put(name, value.n() == null ? Map.of("S", value.s()) : Map.of("N", value.n())));
    return all;
  }

  private static Set<String> failed(String answer) {
    Set<String> failed = new HashSet<>();
    for (JsonNode each : MAPPER.readTree(answer).path("batchItemFailures")) {
      failed.add(each.path("itemIdentifier").asString());
    }
    return failed;
  }
}
