package dev.quipu.testservers;

import dev.quipu.simulation.region.Replica;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsResponse;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.Shard;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/**
 * A table in its own DynamoDB Local, as one replica of a global table: its stream contains local
 * writes, and writes of other replicas are put unchanged. Used by one thread at a time.
 */
public final class DynamoDbReplica
    implements Replica<Map<String, AttributeValue>, Map<String, AttributeValue>>, AutoCloseable {
  private final String table;
  private final StoreDriver driver;
  private final DynamoDbClient client;
  private final DynamoDbStreamsClient streams;
  private final String stream;
  private final Map<String, String> iterators = new HashMap<>(); // by shard
  private final Map<Map<String, AttributeValue>, Deque<Map<String, AttributeValue>>> received =
      new HashMap<>();

  /**
   * Creates a table.
   *
   * @param endpoint of the server, without faults
   * @param seen endpoint for the driver: the same, or a proxy in front of it
   */
  public DynamoDbReplica(URI endpoint, URI seen, String table) {
    this.table = table;
    StaticCredentialsProvider credentials =
        StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret"));
    this.client =
        DynamoDbClient.builder()
            .region(Region.US_EAST_1)
            .endpointOverride(endpoint)
            .credentialsProvider(credentials)
            .build();
    this.streams =
        DynamoDbStreamsClient.builder()
            .region(Region.US_EAST_1)
            .endpointOverride(endpoint)
            .credentialsProvider(credentials)
            .build();
    try (StoreDriver first = StoreProvider.open(uri(endpoint, table))) {
      first.profile(); // which creates the table
    }
    client.updateTable(request ->
        request
            .tableName(table)
            .streamSpecification(
                spec -> spec.streamEnabled(true).streamViewType(StreamViewType.NEW_IMAGE)));
    this.stream = client.describeTable(each -> each.tableName(table)).table().latestStreamArn();
    this.driver = StoreProvider.open(uri(seen, table));
  }

  /** Returns the URI of the store of a table. */
  public static String uri(URI endpoint, String table) {
    return "dynamodb://key:secret@us-east-1/%s?endpoint=%s&timeoutMillis=60000"
        .formatted(table, endpoint);
  }

  @Override
  public StoreDriver driver() {
    return driver;
  }

  @Override
  public List<Written<Map<String, AttributeValue>, Map<String, AttributeValue>>> written() {
    List<Written<Map<String, AttributeValue>, Map<String, AttributeValue>>> written =
        new ArrayList<>();
    List<Shard> shards =
        streams.describeStream(each -> each.streamArn(stream)).streamDescription().shards();
    for (Shard shard : shards) {
      String from =
          iterators.computeIfAbsent(
              shard.shardId(),
              id ->
                  streams
                      .getShardIterator(request ->
                          request
                              .streamArn(stream)
                              .shardId(id)
                              .shardIteratorType(ShardIteratorType.TRIM_HORIZON))
                      .shardIterator());
      GetRecordsResponse page = streams.getRecords(request -> request.shardIterator(from));
      page.records().forEach(each -> note(each, written));
      if (page.nextShardIterator() != null) {
        iterators.put(shard.shardId(), page.nextShardIterator());
      }
    }
    return written;
  }

  private void note(
      Record each,
      List<Written<Map<String, AttributeValue>, Map<String, AttributeValue>>> written) {
    Map<String, AttributeValue> key = each.dynamodb().keys();
    Map<String, AttributeValue> item =
        each.dynamodb().hasNewImage() ? each.dynamodb().newImage() : Map.of();
    Deque<Map<String, AttributeValue>> echoes = received.get(key);
    if (echoes != null && item.equals(echoes.peek())) {
      echoes.poll(); // it came from another region
    } else {
      written.add(new Written<>(key, item.isEmpty() ? Optional.empty() : Optional.of(item)));
    }
  }

  @Override
  public void receive(Written<Map<String, AttributeValue>, Map<String, AttributeValue>> change) {
    received
        .computeIfAbsent(change.key(), any -> new ArrayDeque<>())
        .add(change.item().orElse(Map.of()));
    if (change.item().isPresent()) {
      client.putItem(request -> request.tableName(table).item(change.item().get()));
    } else {
      client.deleteItem(request -> request.tableName(table).key(change.key()));
    }
  }

  @Override
  public void close() {
    driver.close();
    client.close();
    streams.close();
  }
}
