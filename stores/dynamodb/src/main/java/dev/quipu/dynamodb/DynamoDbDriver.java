package dev.quipu.dynamodb;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
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
import dev.quipu.store.group.GroupCommit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ItemResponse;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/**
 * Driver for Amazon DynamoDB.
 *
 * <p><b>Stored.</b> One table with a partition key {@code pk} and a sort key {@code sk}, both
 * texts; {@link Table} creates it. Each item is an item of the table:
 *
 * <pre>
 * pk, sk    the key; a partition above 2,048 bytes is stored as its digest
 * f:NAME    a field: a number (N), a text (S) or a set (SS)
 * g, c      the version: writes since it was put, and the token of the last call
 * x, ttl    expiry in milliseconds, and a minute later in seconds, for DynamoDB's TTL
 * </pre>
 *
 * <p>With {@code layout=views} it uses the table of another program that counts views; see {@link
 * Layout#VIEWS}. An item that another program stored has no version, and expires at its TTL.
 *
 * <p>A partition that names a table ({@link Key#inTable}) is in that table, which is created at its
 * first use.
 *
 * <p><b>Protocol.</b>
 *
 * <ol>
 *   <li>A write is one PutItem, UpdateItem or DeleteItem, with its condition as an expression. The
 *       condition also keeps a sum within 64 bits, since numbers of DynamoDB have 38 digits.
 *   <li>If the condition failed, the reply contains the item, on which the driver determines the
 *       reason. An addition to a field that must exist, {@code SET f = f + :delta}, needs no
 *       condition: it fails with a ValidationException, after which the driver reads the item.
 *   <li>Adds to one number that arrive during another add are combined ({@link GroupCommit}): into
 *       one UpdateItem, or, with the markers of their requests, into one TransactWriteItems of up
 *       to 100 items.
 *   <li>A snapshot of several items is one TransactGetItems; without need for a snapshot, one
 *       BatchGetItem with consistent reads, at half the cost. A batch is one TransactWriteItems,
 *       whose ClientRequestToken is the token of the request; DynamoDB keeps it for ten minutes.
 * </ol>
 *
 * <p><b>Atomic.</b> Batches over all items. <b>Limits.</b> An item of 380 KiB without its key, a
 * batch of 100. <b>Expiry</b> by DynamoDB's TTL, within days. <b>Durable.</b>
 *
 * <p><b>After a timeout, a dropped connection or a 5xx</b> the outcome of a write is unknown;
 * throttling, a refused connection, a conflict of transactions and all other 4xx mean that it was
 * not applied. By default the SDK retries calls of DynamoDB up to nine times; a client opened by
 * URI does not, and for a client that was handed in the driver logs a warning.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html">TransactWriteItems</a>
 */
public final class DynamoDbDriver implements BatchDriver, ScanDriver {
  static final StoreProfile PROFILE =
      new StoreProfile(
          "dynamodb",
          EnumSet.complementOf(EnumSet.of(Capability.NATIVE_TOKENS, Capability.BATCH_RETURNS)),
          Atomicity.STORE,
          100,
          380 << 10);

  private static final Logger LOGGER = LoggerFactory.getLogger(DynamoDbDriver.class);

  private final DynamoDbClient client;
  private final Requests requests;
  private final Attributes attributes;
  private final GroupCommit adds;
  private final GroupCommit markedAdds;
  private final Runnable onClose;
  // Tokens are unique across processes, so that no version recurs.
  private final FreshTokens tokens = new FreshTokens();

  private DynamoDbDriver(
      DynamoDbClient client,
      Requests requests,
      Attributes attributes,
      Combining combining,
      Runnable onClose) {
    this.client = client;
    this.requests = requests;
    this.attributes = attributes;
    this.adds = groups(combining, false);
    this.markedAdds = groups(combining, true);
    this.onClose = onClose;
  }

  /**
   * How concurrent adds to one item are combined.
   *
   * @param isOn whether they are
   * @param waitMax longest wait until an add joins a group
   */
  record Combining(boolean isOn, Duration waitMax) {}

  private GroupCommit groups(Combining combining, boolean isMarked) {
    DynamoDbGroups groups =
        new DynamoDbGroups(this, client, requests, attributes, tokens, isMarked, combining.isOn());
    return new GroupCommit("DynamoDB", groups, 1, DynamoDbGroups.MEMBERS_MAX, combining.waitMax());
  }

  /**
   * Opens a driver on a table, which is created if it is missing.
   *
   * @param client the caller closes it
   * @param table 3 to 255 letters, digits, {@code _.-}
   * @param timeout longest wait for one reply
   * @throws QuipuException if the table cannot be used
   */
  public static DynamoDbDriver of(DynamoDbClient client, String table, Duration timeout) {
    warnIfItRepeats(client);
    AwsRequestOverrideConfiguration deadline =
        AwsRequestOverrideConfiguration.builder().apiCallTimeout(timeout).build();
    Combining combining = new Combining(true, timeout);
    return open(client, new Table(table, Layout.QUIPU), deadline, combining, () -> {});
  }

  /**
   * Opens the table.
   *
   * @param deadline of each request; null for that of the client
   */
  static DynamoDbDriver open(
      DynamoDbClient client,
      Table table,
      @Nullable AwsRequestOverrideConfiguration deadline,
      Combining combining,
      Runnable onClose) {
    table.prepare(client);
    Set<String> prepared = ConcurrentHashMap.newKeySet();
    Consumer<String> prepare =
        name -> {
          if (!prepared.contains(name)) {
            new Table(name, table.layout()).prepare(client);
            prepared.add(name);
          }
        };
    Attributes attributes = new Attributes(table.layout());
    return new DynamoDbDriver(
        client,
        new Requests(table.name(), attributes, deadline, prepare),
        attributes,
        combining,
        onClose);
  }

  /** Returns the configured number of attempts of the client; 0 if unknown. */
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
          "The DynamoDB client makes up to {} attempts: an add without a request id may count each"
              + " time. Set AwsRetryStrategy.doNotRetry()",
          attempts == 0 ? "several" : attempts);
    }
  }

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return attributes.item(
        key,
        read(() -> client.getItem(requests.get(key, consistency == Consistency.STRONG))).item());
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    List<ItemResponse> found =
        read(() -> client.transactGetItems(requests.getAll(keys))).responses();
    List<Optional<Item>> items = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      items.add(attributes.item(keys.get(i), found.get(i).item()));
    }
    return items;
  }

  @Override
  public List<Optional<Item>> getEach(List<Key> keys) {
    Map<Requests.Place, Map<String, AttributeValue>> found = new HashMap<>();
    Map<String, KeysAndAttributes> left = requests.byTable(keys);
    while (!left.isEmpty()) { // a reply is limited in size, and by the throughput of the table
      Map<String, KeysAndAttributes> asked = left;
      BatchGetItemResponse response = read(() -> client.batchGetItem(requests.getEach(asked)));
      left = response.unprocessedKeys();
      if (count(left) == count(asked)) {
        throw new NotAppliedException(
            Reason.THROTTLED, "DynamoDB: none of %d items was read".formatted(count(asked)));
      }
      response
          .responses()
          .forEach((table, items) ->
              items.forEach(item -> found.put(requests.place(table, item), item)));
    }
    return keys.stream()
        .map(key -> attributes.item(key, found.getOrDefault(requests.place(key), Map.of())))
        .toList();
  }

  private static int count(Map<String, KeysAndAttributes> keys) {
    return keys.values().stream().mapToInt(each -> each.keys().size()).sum();
  }

  @Override
  public WriteResult write(Write write) {
    return adds.write(List.of(write));
  }

  /** Executes a write outside a group. */
  WriteResult writeAlone(Write write) {
    String token = tokens.next();
    try {
      return new WriteResult.Applied(
          switch (write) {
            case Write.Put put -> {
              client.putItem(requests.put(put, token));
              yield Optional.of(Attributes.stored(put, token));
            }
            case Write.Update update ->
                updated(
                    update.key(), client.updateItem(requests.update(update, token)).attributes());
            case Write.Delete delete -> {
              client.deleteItem(requests.delete(delete));
              yield Optional.empty();
            }
          });
    } catch (ConditionalCheckFailedException e) {
      if (Failures.wasRepeated(e)) { // an earlier attempt may have changed the item
        throw Failures.of(e, Outcome.UNKNOWN);
      }
      return failed(write, e.item());
    } catch (SdkException e) {
      if (Failures.isMissingAttribute(e)) {
        return missing(write);
      }
      throw Failures.of(e, Outcome.UNKNOWN);
    }
  }

  /** The write added to a field that is missing; the error does not contain the item. */
  private WriteResult missing(Write write) {
    Optional<Item> found = get(write.key(), Consistency.STRONG);
    if (write.holdsOn(found)) {
      throw write.key().contended("1 attempt"); // stored in the meantime
    }
    return new WriteResult.ConditionFailed(write.key(), found);
  }

  private Optional<Item> updated(Key key, Map<String, AttributeValue> found) {
    try {
      return attributes.item(key, found);
    } catch (NotAppliedException e) { // the item is corrupt, and the update was applied
      throw new OutcomeUnknownException(Reason.CORRUPT, String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return token == null && writes.size() > 1 ? markedAdds.write(writes) : transact(writes, token);
  }

  @Override
  public Map<Measure, Long> measures() {
    Map<Measure, Long> measures = adds.measures();
    markedAdds.measures().forEach((which, count) -> measures.merge(which, count, Long::sum));
    return measures;
  }

  /** Executes a batch outside a group. */
  WriteResult transact(List<Write> writes, @Nullable RequestToken token) {
    // Requests with the same token must be equal.
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

  private WriteResult failed(Write write, Map<String, AttributeValue> found) {
    Optional<Item> item = attributes.item(write.key(), found);
    if (write.holdsOn(item)) { // throws if a field has another type
      throw new NotAppliedException(
          Reason.CORRUPT,
          "DynamoDB and the driver disagree on the condition of %s".formatted(write));
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
      for (Map<String, AttributeValue> each : response.items()) {
        Key key = attributes.key(scan.partition(), each);
        boolean isEnd = scan.until().equals(Optional.of(key.sort())); // a query includes it
        if (!isEnd) {
          attributes.item(key, each).ifPresent(found::add);
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
