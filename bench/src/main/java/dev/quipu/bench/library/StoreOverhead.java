package dev.quipu.bench.library;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.rubyeye.xmemcached.MemcachedClient;
import net.rubyeye.xmemcached.XMemcachedClientBuilder;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * Compares adds to one hot number through {@link Store} and its driver with the same call by the
 * raw client, in turns of a second, so that noise of the machine affects both.
 */
public final class StoreOverhead {
  private static final int WARM_UP_TURNS = 3;
  private static final int TURNS = 21;
  private static final Duration TURN = Duration.ofSeconds(1);
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Key KEY = new Key("counter/hot", "value");
  private static final Write ADD =
      new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, 1)), Condition.always());
  private static final Pattern FUNCTION = Pattern.compile("quipu_write_[0-9a-f]+");

  private final StringBuilder table = new StringBuilder();

  private StoreOverhead() {}

  /** Executes one add and waits for its reply. */
  private interface Adder {
    void add() throws Exception;
  }

  /** Returns the rows of these stores, one per number of clients. */
  public static String measure(Set<String> stores) throws Exception {
    StoreOverhead overhead = new StoreOverhead();
    if (stores.contains("redis")) {
      overhead.onRedis();
    }
    if (stores.contains("memcached")) {
      overhead.onMemcached();
    }
    if (stores.contains("postgresql")) {
      overhead.onPostgres();
    }
    if (stores.contains("dynamodb")) {
      overhead.onDynamoDb();
    }
    return overhead.table.toString();
  }

  private void compare(String store, String rawCall, int clients, StoreDriver driver, Adder raw)
      throws Exception {
    Store through = new Store(driver, Clock.system());
    Adder ours = () -> through.write(ADD);
    List<Double> ratios = new ArrayList<>();
    List<Double> rates = new ArrayList<>();
    List<Double> rawRates = new ArrayList<>();
    for (int turn = 0; turn < WARM_UP_TURNS + TURNS; turn++) {
      double first = turn % 2 == 0 ? rate(ours, clients) : rate(raw, clients);
      double second = turn % 2 == 0 ? rate(raw, clients) : rate(ours, clients);
      if (turn >= WARM_UP_TURNS) {
        rates.add(turn % 2 == 0 ? first : second);
        rawRates.add(turn % 2 == 0 ? second : first);
        ratios.add(rates.getLast() / rawRates.getLast());
      }
    }
    String row =
        String.format(
            Locale.ROOT,
            "| %s | %s | %d | %,.0f | %,.0f | %.2f | %.2f to %.2f |%n",
            store,
            rawCall,
            clients,
            median(rates),
            median(rawRates),
            median(ratios),
            ratios.getFirst(),
            ratios.getLast());
    System.out.print(row);
    table.append(row);
  }

  /** Returns the median; sorts the values. */
  static double median(List<Double> values) {
    values.sort(null);
    return values.get(values.size() / 2);
  }

  /** Returns adds per second by a number of clients. */
  private static double rate(Adder adder, int clients) throws Exception {
    LongAdder done = new LongAdder();
    long start = Clock.system().nanoTime();
    long end = start + TURN.toNanos();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        running.add(
            executor.submit(() -> {
              while (Clock.system().nanoTime() < end) {
                adder.add();
                done.increment();
              }
              return null;
            }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    return done.sum() * 1e9 / (Clock.system().nanoTime() - start);
  }

  private void onRedis() throws Exception {
    RedisClient client = RedisClient.create();
    try (RedisServer server = RedisServer.startDurable();
        StoreDriver driver = StoreProvider.open("redis://127.0.0.1:" + server.port())) {
      RedisAsyncCommands<String, String> commands =
          client.connect(RedisURI.create("127.0.0.1", server.port())).async();
      URI uri = URI.create("redis://127.0.0.1");
      Matcher function = FUNCTION.matcher(StoreProvider.of(uri).schema(uri));
      if (!function.find()) {
        throw new IllegalStateException("the function library lacks the function for writes");
      }
      String[] keys = {"raw:{counter/hot}", "raw:{counter/hot}:value"};
      String[] arguments = {"token.1", "value", "update", "1", "add", "value", "1", "0"};
      Adder raw =
          () ->
              commands
                  .fcall(function.group(), ScriptOutputType.MULTI, keys, arguments)
                  .get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      compare("redis", "the same FCALL", 1, driver, raw);
      compare("redis", "the same FCALL", 16, driver, raw);
    } finally {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
  }

  private void onMemcached() throws Exception {
    try (MemcachedServer server =
            MemcachedServer.start()
                .orElseThrow(() ->
                    new IllegalStateException("memcached is missing: ./dev deps installs it"));
        StoreDriver driver = StoreProvider.open("memcached://127.0.0.1:" + server.port())) {
      MemcachedClient client =
          new XMemcachedClientBuilder(
                  List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port())))
              .build();
      Adder raw = () -> client.incr("raw", 1, 1L << 62, TIMEOUT.toMillis());
      compare("memcached", "incr", 1, driver, raw);
      compare("memcached", "incr", 16, driver, raw);
      client.shutdown();
    }
  }

  private void onPostgres() throws Exception {
    HikariConfig config = new HikariConfig();
    try (PostgresServer server = PostgresServer.start()) {
      String database = "postgresql://postgres@127.0.0.1:" + server.port() + "/postgres";
      config.setJdbcUrl("jdbc:postgresql://127.0.0.1:" + server.port() + "/postgres");
      config.setUsername("postgres");
      config.setMaximumPoolSize(64); // a connection per client of the raw call
      try (HikariDataSource pool = new HikariDataSource(config);
          StoreDriver driver = StoreProvider.open(database)) {
        try (Connection connection = pool.getConnection();
            Statement statement = connection.createStatement()) {
          URI uri = URI.create(database + "?table=raw");
          statement.execute(StoreProvider.of(uri).schema(uri));
        }
        Adder raw = () -> upsert(pool);
        compare("postgresql", "the same upsert", 1, driver, raw);
        compare("postgresql", "the same upsert", 16, driver, raw);
        compare("postgresql", "the same upsert", 64, driver, raw);
      }
    }
  }

  private static void upsert(HikariDataSource pool) throws Exception {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement =
            connection.prepareStatement(
                "INSERT INTO raw AS t (partition, sort, value, fields, version)"
                    + " VALUES (?, ?, ?, '{}', nextval('raw_versions'))"
                    + " ON CONFLICT (partition, sort) DO UPDATE"
                    + " SET value = COALESCE(t.value, 0) + ?, version = nextval('raw_versions')"
                    + " WHERE COALESCE(t.value, 0) BETWEEN ? AND ?"
                    + " AND NOT jsonb_exists(t.fields, 'value')"
                    + " RETURNING t.value, t.fields, t.version, t.expires_at")) {
      statement.setString(1, KEY.partition());
      statement.setString(2, KEY.sort());
      statement.setLong(3, 1);
      statement.setLong(4, 1);
      statement.setLong(5, Long.MIN_VALUE);
      statement.setLong(6, Long.MAX_VALUE - 1);
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
      }
    }
  }

  private void onDynamoDb() throws Exception {
    try (DynamoDbServer server =
            DynamoDbServer.start()
                .orElseThrow(() ->
                    new IllegalStateException("DynamoDB Local is missing: ./dev bench builds it"));
        StoreDriver driver =
            StoreProvider.open(
                "dynamodb://key:secret@us-east-1/quipu?endpoint=" + server.endpoint());
        DynamoDbClient client =
            DynamoDbClient.builder()
                .region(Region.US_EAST_1)
                .endpointOverride(server.endpoint())
                .credentialsProvider(
                    StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")))
                .httpClientBuilder(Apache5HttpClient.builder().maxConnections(64))
                .overrideConfiguration(each ->
                    each.retryStrategy(AwsRetryStrategy.doNotRetry()).apiCallTimeout(TIMEOUT))
                .build()) {
      UpdateItemRequest request = sameUpdate();
      Adder raw = () -> client.updateItem(request);
      compare("dynamodb (Local)", "the same UpdateItem", 1, driver, raw);
      compare("dynamodb (Local)", "the same UpdateItem", 16, driver, raw);
    }
  }

  /** Returns the request of the driver for the add, on another item. */
  private static UpdateItemRequest sameUpdate() {
    return UpdateItemRequest.builder()
        .tableName("quipu")
        .key(Map.of("pk", AttributeValue.fromS("counter/raw"), "sk", AttributeValue.fromS("value")))
        .updateExpression(
            "SET #n0 = if_not_exists(#n0, :v0) + :v1, #n1 = :v2,"
                + " #n2 = if_not_exists(#n2, :v3) + :v4")
        .conditionExpression("(attribute_not_exists(#n2) OR #n2 BETWEEN :v5 AND :v6)")
        .expressionAttributeNames(Map.of("#n0", "g", "#n1", "c", "#n2", "f:value"))
        .expressionAttributeValues(
            Map.of(
                ":v0", AttributeValue.fromN("0"),
                ":v1", AttributeValue.fromN("1"),
                ":v2", AttributeValue.fromS("1y2p0ij32e8e7.1"),
                ":v3", AttributeValue.fromN("0"),
                ":v4", AttributeValue.fromN("1"),
                ":v5", AttributeValue.fromN("-9223372036854775809"),
                ":v6", AttributeValue.fromN("9223372036854775806")))
        .returnValues(ReturnValue.ALL_NEW)
        .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
        .build();
  }
}
