package dev.quipu.server;

import dev.quipu.layer.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsResponse;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.Shard;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/** Views in a table of DynamoDB Local, and the records of its stream. */
final class ViewStream {
  static final Instant FIRST = Instant.parse("2026-01-01T00:00:00Z");
  static final long SECONDS_APART = 137;

  private static final int SITES = 7;
  private static final int PAGES = 30;
  private static final int CLIENTS = 97;
  private static final int VALUE_MAX = 600;
  private static final double TWICE = 0.2;
  private static final double WITHOUT_VALUE = 0.2;
  private static final int BATCH = 10;
  private static final int SENDERS = 4;
  private static final StaticCredentialsProvider CREDENTIALS =
      StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret"));

  private ViewStream() {}

  /** Returns distinct events, most of them with a value. */
  static List<ViewEvent> events(long seed, int count) {
    RandomGenerator random = Randomness.seeded(seed);
    List<ViewEvent> events = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String url =
          "https://site%d.example/page%d".formatted(random.nextInt(SITES), random.nextInt(PAGES));
      ViewEvent event =
          new ViewEvent(
              url, FIRST.plusSeconds(i * SECONDS_APART), "client " + random.nextInt(CLIENTS));
      events.add(
          random.nextDouble() < WITHOUT_VALUE ? event : event.with(random.nextLong(VALUE_MAX + 1)));
    }
    return events;
  }

  static String uri(URI endpoint, String table) {
    return "dynamodb://key:secret@us-east-1/%s?endpoint=%s&timeoutMillis=60000"
        .formatted(table, endpoint);
  }

  /** Stores events, every fifth of them twice, and returns all records of the stream. */
  static List<Record> store(URI endpoint, String table, List<ViewEvent> events, long seed)
      throws Exception {
    try (SdkHttpClient http = Apache5HttpClient.create();
        DynamoDbClient client =
            DynamoDbClient.builder()
                .region(Region.US_EAST_1)
                .credentialsProvider(CREDENTIALS)
                .endpointOverride(endpoint)
                .httpClient(http)
                .build();
        DynamoDbStreamsClient streams =
            DynamoDbStreamsClient.builder()
                .region(Region.US_EAST_1)
                .credentialsProvider(CREDENTIALS)
                .endpointOverride(endpoint)
                .httpClient(http)
                .build();
        StoreDriver driver = StoreProvider.open(uri(endpoint, table))) { // creates the table
      String arn =
          client
              .updateTable(request ->
                  request
                      .tableName(table)
                      .streamSpecification(stream ->
                          stream.streamEnabled(true).streamViewType(StreamViewType.NEW_IMAGE)))
              .tableDescription()
              .latestStreamArn();
      send(new ViewCounter(new Store(driver, Clock.system())), events, seed);
      return records(streams, arn, events.size());
    }
  }

  private static void send(ViewCounter views, List<ViewEvent> events, long seed) throws Exception {
    RandomGenerator random = Randomness.seeded(seed);
    List<ViewEvent> sent = new ArrayList<>(events);
    for (ViewEvent event : events) {
      if (random.nextDouble() < TWICE) {
        sent.add(random.nextInt(sent.size()), event);
      }
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(SENDERS)) {
      List<Future<?>> running = new ArrayList<>();
      for (int from = 0; from < sent.size(); from += BATCH) {
        List<ViewEvent> some = sent.subList(from, Math.min(sent.size(), from + BATCH));
        running.add(
            executor.submit(() -> {
              if (!views.addTogether(some)) {
                some.forEach(views::add);
              }
            }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
  }

  /** Reads all shards from their start, until they have delivered the views. */
  private static List<Record> records(DynamoDbStreamsClient streams, String arn, int views)
      throws InterruptedException {
    List<Record> all = new ArrayList<>();
    Set<String> read = new HashSet<>();
    Progress delivered = new Progress("records of the stream", all::size);
    while (all.stream().filter(ViewStream::isView).count() < views) {
      delivered.check();
      all.clear();
      read.clear();
      @Nullable String last = null;
      do {
        String from = last;
        var description =
            streams
                .describeStream(request -> request.streamArn(arn).exclusiveStartShardId(from))
                .streamDescription();
        for (Shard shard : description.shards()) {
          if (read.add(shard.shardId())) {
            read(streams, arn, shard, all);
          }
        }
        last = description.lastEvaluatedShardId();
      } while (last != null);
    }
    return all;
  }

  private static void read(DynamoDbStreamsClient streams, String arn, Shard shard, List<Record> all)
      throws InterruptedException {
    @Nullable String next =
        streams
            .getShardIterator(request ->
                request
                    .streamArn(arn)
                    .shardId(shard.shardId())
                    .shardIteratorType(ShardIteratorType.TRIM_HORIZON))
            .shardIterator();
    while (next != null) {
      String at = next;
      GetRecordsResponse page = streams.getRecords(request -> request.shardIterator(at));
      all.addAll(page.records());
      next = page.records().isEmpty() ? null : page.nextShardIterator();
    }
    Clock.system().sleep(Duration.ofMillis(10));
  }

  static boolean isView(Record change) {
    return key(change, "sk").startsWith("T#");
  }

  /** Returns a part of the key of the item that changed. */
  static String key(Record change, String part) {
    return Objects.requireNonNull(change.dynamodb().keys().get(part), part).s();
  }
}
