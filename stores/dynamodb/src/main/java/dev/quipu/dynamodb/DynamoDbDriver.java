package dev.quipu.dynamodb;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.FreshTokens;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ItemResponse;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/**
 * Counting on Amazon DynamoDB.
 *
 * <p><b>Stored.</b> One table with a partition key {@code pk} and a sort key {@code sk}, both
 * texts; {@link Table} makes it. An item of Quipu is an item of the table:
 *
 * <pre>
 * pk, sk    the key; a partition above 2,048 bytes is kept as its digest
 * f:NAME    a field: a number (N), a text (S) or a set (SS)
 * g, c      the version: writes since it was put, and the token of the last call
 * x, ttl    expiry in milliseconds, and in seconds with a minute more, by which DynamoDB drops it
 * </pre>
 *
 * <p><b>Protocol.</b>
 *
 * <ol>
 *   <li>A write is one PutItem, UpdateItem or DeleteItem, with its condition as an expression. That
 *       a sum stays within 64 bits is part of the condition: DynamoDB's numbers have 38 digits.
 *   <li>The condition failed: the answer has the item as it was, and the library judges it again,
 *       for the reason.
 *   <li>Several items at one moment are one TransactGetItems; a batch is one TransactWriteItems; a
 *       token becomes its ClientRequestToken, which DynamoDB remembers for ten minutes.
 * </ol>
 *
 * <p><b>Atomic.</b> Batches over all items. <b>Limits.</b> An item of 380 KiB beside its key, a
 * batch of 100. <b>Expiry</b> by DynamoDB's TTL, within days. <b>Durable.</b>
 *
 * <p><b>After a timeout, a dropped connection or a 5xx</b> a write is unknown; throttling, a
 * rejected connection, a conflict of transactions and all other 4xx mean that it was not applied.
 * The SDK repeats by itself, for DynamoDB up to nine times: a client that was opened by URI does
 * not, and one that was handed in is warned about.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html">TransactWriteItems</a>
 */
public final class DynamoDbDriver implements BatchDriver, ScanDriver {
  static final StoreProfile PROFILE =
      new StoreProfile(
          "dynamodb",
          EnumSet.complementOf(EnumSet.of(Capability.NATIVE_TOKENS)),
          Atomicity.STORE,
          100,
          380 << 10);

  private static final Logger LOGGER = LoggerFactory.getLogger(DynamoDbDriver.class);

  private final DynamoDbClient client;
  private final Requests requests;
  private final Runnable onClose;
  // Each call's token is new, whichever process makes it, so that no version returns.
  private final FreshTokens tokens = new FreshTokens();

  private DynamoDbDriver(DynamoDbClient client, Requests requests, Runnable onClose) {
    this.client = client;
    this.requests = requests;
    this.onClose = onClose;
  }

  /**
   * Counts in a table, which is created if it is not there.
   *
   * @param client stays the caller's to close
   * @param table 3 to 255 letters, digits, {@code _.-}
   * @param timeout how long to wait for one answer
   * @throws QuipuException if the table cannot be used
   */
  public static DynamoDbDriver of(DynamoDbClient client, String table, Duration timeout) {
    warnIfItRepeats(client);
    AwsRequestOverrideConfiguration deadline =
        AwsRequestOverrideConfiguration.builder().apiCallTimeout(timeout).build();
    return open(client, table, deadline, () -> {});
  }

  /**
   * Opens the table.
   *
   * @param deadline of each request; null if the client has one of its own
   */
  static DynamoDbDriver open(
      DynamoDbClient client,
      String table,
      @Nullable AwsRequestOverrideConfiguration deadline,
      Runnable onClose) {
    new Table(table).prepare(client);
    return new DynamoDbDriver(client, new Requests(table, deadline), onClose);
  }

  /** How often the client tries, as it says itself; 0 if it does not say. */
  static int attempts(DynamoDbClient client) {
    return client
        .serviceClientConfiguration()
        .overrideConfiguration()
        .retryStrategy()
        .map(strategy -> strategy.maxAttempts())
        .orElse(0);
  }

  private static void warnIfItRepeats(DynamoDbClient client) {
    int attempts = attempts(client);
    if (attempts != 1) {
      LOGGER.warn(
          "The DynamoDB client tries up to {} times by itself: an add without a request id may count"
              + " as often. Give it AwsRetryStrategy.doNotRetry().",
          attempts == 0 ? "several" : attempts);
    }
  }

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return Attributes.item(
        key,
        read(() -> client.getItem(requests.get(key, consistency == Consistency.STRONG))).item());
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    List<ItemResponse> found =
        read(() -> client.transactGetItems(requests.getAll(keys))).responses();
    List<Optional<Item>> items = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      items.add(Attributes.item(keys.get(i), found.get(i).item()));
    }
    return items;
  }

  @Override
  public WriteResult write(Write write) {
    String token = tokens.next();
    try {
      return new WriteResult.Applied(
          switch (write) {
            case Write.Put put -> {
              client.putItem(requests.put(put, token));
              yield Optional.of(Attributes.stored(put, token));
            }
            case Write.Update update ->
                Attributes.item(
                    update.key(), client.updateItem(requests.update(update, token)).attributes());
            case Write.Delete delete -> {
              client.deleteItem(requests.delete(delete));
              yield Optional.empty();
            }
          });
    } catch (ConditionalCheckFailedException e) {
      if (Failures.wasRepeated(e)) { // an earlier attempt may be what the condition failed on
        throw Failures.of(e, Outcome.UNKNOWN);
      }
      return failed(write, e.item());
    } catch (SdkException e) {
      throw Failures.of(e, Outcome.UNKNOWN);
    }
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    // What is sent under the same token must be the same.
    String call = token == null ? tokens.next() : token.text();
    List<TransactWriteItem> items = new ArrayList<>();
    for (Write write : writes) {
      TransactWriteItem.Builder item = TransactWriteItem.builder();
      switch (write) {
        case Write.Put put -> item.put(requests.putOfBatch(put, call));
        case Write.Update update -> item.update(requests.updateOfBatch(update, call));
        case Write.Delete delete -> item.delete(requests.deleteOfBatch(delete));
      }
      items.add(item.build());
    }
    TransactWriteItemsRequest request = requests.batch(items, token);
    try {
      client.transactWriteItems(request);
      return new WriteResult.Applied(Optional.empty());
    } catch (TransactionCanceledException e) {
      for (int i = 0; i < e.cancellationReasons().size(); i++) {
        CancellationReason reason = e.cancellationReasons().get(i);
        if ("ConditionalCheckFailed".equals(reason.code())) {
          return failed(writes.get(i), reason.item());
        }
      }
      throw Failures.ofCanceled(e);
    } catch (SdkException e) {
      throw Failures.of(e, Outcome.UNKNOWN);
    }
  }

  private static WriteResult failed(Write write, Map<String, AttributeValue> found) {
    Optional<Item> item = Attributes.item(write.key(), found);
    if (write.holdsOn(item)) { // throws if a field is of another kind
      throw new NotAppliedException(
          Reason.CORRUPT, "DynamoDB and the library differ on %s".formatted(write));
    }
    return new WriteResult.ConditionFailed(write.key(), item);
  }

  @Override
  public Page scan(Scan scan) {
    List<Item> found = new ArrayList<>();
    if (scan.until().isPresent() && Key.ORDER.compare(scan.from(), scan.until().get()) >= 0) {
      return new Page(found, Optional.empty());
    }
    Map<String, AttributeValue> from = Map.of();
    do {
      Map<String, AttributeValue> next = from;
      QueryResponse response = read(() -> client.query(requests.query(scan, next)));
      for (Map<String, AttributeValue> attributes : response.items()) {
        Key key = new Key(scan.partition(), Attributes.sort(attributes));
        boolean isEnd = scan.until().equals(Optional.of(key.sort())); // a query includes it
        if (!isEnd) {
          Attributes.item(key, attributes).ifPresent(found::add);
        }
      }
      from = response.lastEvaluatedKey();
    } while (found.size() <= scan.itemsMax() && !from.isEmpty());
    return Page.of(scan, found);
  }

  private static <T> T read(Supplier<T> call) {
    try {
      return call.get();
    } catch (TransactionCanceledException e) {
      throw Failures.ofCanceled(e);
    } catch (SdkException e) {
      throw Failures.of(e, Outcome.NOT_APPLIED);
    }
  }

  @Override
  public void close() {
    onClose.run();
  }
}
