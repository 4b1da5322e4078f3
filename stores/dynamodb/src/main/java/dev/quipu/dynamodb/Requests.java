package dev.quipu.dynamodb;

import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.DeleteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.Get;
import software.amazon.awssdk.services.dynamodb.model.GetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItem;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.Update;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/** Creates requests of the SDK, each with its deadline. A failed condition returns the item. */
final class Requests {
  private static final ReturnValuesOnConditionCheckFailure FOUND =
      ReturnValuesOnConditionCheckFailure.ALL_OLD;

  private static final int TOKEN_BYTES = 16; // of 18, in hexadecimal

  private final String table;
  private final Attributes attributes;
  private final @Nullable AwsRequestOverrideConfiguration deadline;
  private final Consumer<String> prepare;

  /**
   * Creates requests on a table.
   *
   * @param prepare creates another table that a key names, if it is missing
   */
  Requests(
      String table,
      Attributes attributes,
      @Nullable AwsRequestOverrideConfiguration deadline,
      Consumer<String> prepare) {
    this.table = table;
    this.attributes = attributes;
    this.prepare = prepare;
    this.deadline = deadline;
  }

  private String table(String partition) {
    Optional<String> other = Key.table(partition);
    other.ifPresent(prepare);
    return other.orElse(table);
  }

  GetItemRequest get(Key key, boolean consistent) {
    return GetItemRequest.builder()
        .tableName(table(key.partition()))
        .key(attributes.key(key))
        .consistentRead(consistent)
        .overrideConfiguration(deadline)
        .build();
  }

  TransactGetItemsRequest getAll(List<Key> keys) {
    return TransactGetItemsRequest.builder()
        .transactItems(keys.stream().map(this::getOfBatch).toList())
        .overrideConfiguration(deadline)
        .build();
  }

  private TransactGetItem getOfBatch(Key key) {
    Get get = Get.builder().tableName(table(key.partition())).key(attributes.key(key)).build();
    return TransactGetItem.builder().get(get).build();
  }

  /** A table, and the attributes of a key in it. */
  record Place(String table, Map<String, AttributeValue> key) {}

  /** Returns where a key is stored. */
  Place place(Key key) {
    return new Place(table(key.partition()), attributes.key(key));
  }

  /** Returns where an item was found. */
  Place place(String foundIn, Map<String, AttributeValue> item) {
    Map<String, AttributeValue> key = new HashMap<>(item);
    key.keySet().retainAll(List.of(attributes.partitionName(), attributes.sortName()));
    return new Place(foundIn, key);
  }

  /** Returns strong reads of keys, by table. */
  Map<String, KeysAndAttributes> byTable(List<Key> keys) {
    return keys.stream()
        .map(this::place)
        .collect(
            Collectors.groupingBy(
                Place::table,
                Collectors.collectingAndThen(
                    Collectors.mapping(Place::key, Collectors.toList()),
                    each -> KeysAndAttributes.builder().keys(each).consistentRead(true).build())));
  }

  BatchGetItemRequest getEach(Map<String, KeysAndAttributes> keys) {
    return BatchGetItemRequest.builder().requestItems(keys).overrideConfiguration(deadline).build();
  }

  PutItemRequest put(Write.Put put, String token) {
    Expression expression = Expression.ofCondition(put, attributes);
    return PutItemRequest.builder()
        .tableName(table(put.key().partition()))
        .item(attributes.of(put, token))
        .conditionExpression(expression.condition().orElse(null))
        .expressionAttributeNames(orNull(expression.names()))
        .expressionAttributeValues(orNull(expression.values()))
        .returnValuesOnConditionCheckFailure(FOUND)
        .overrideConfiguration(deadline)
        .build();
  }

  Put putOfBatch(Write.Put put, String token) {
    Expression expression = Expression.ofCondition(put, attributes);
    return Put.builder()
        .tableName(table(put.key().partition()))
        .item(attributes.of(put, token))
        .conditionExpression(expression.condition().orElse(null))
        .expressionAttributeNames(orNull(expression.names()))
        .expressionAttributeValues(orNull(expression.values()))
        .returnValuesOnConditionCheckFailure(FOUND)
        .build();
  }

  UpdateItemRequest update(Write.Update update, String token) {
    Expression expression = Expression.of(update, token, attributes);
    return UpdateItemRequest.builder()
        .tableName(table(update.key().partition()))
        .key(attributes.key(update.key()))
        .updateExpression(expression.update())
        .conditionExpression(expression.condition().orElse(null))
        .expressionAttributeNames(orNull(expression.names()))
        .expressionAttributeValues(orNull(expression.values()))
        .returnValues(ReturnValue.ALL_NEW)
        .returnValuesOnConditionCheckFailure(FOUND)
        .overrideConfiguration(deadline)
        .build();
  }

  Update updateOfBatch(Write.Update update, String token) {
    Expression expression = Expression.ofBatch(update, token, attributes);
    return Update.builder()
        .tableName(table(update.key().partition()))
        .key(attributes.key(update.key()))
        .updateExpression(expression.update())
        .conditionExpression(expression.condition().orElse(null))
        .expressionAttributeNames(orNull(expression.names()))
        .expressionAttributeValues(orNull(expression.values()))
        .returnValuesOnConditionCheckFailure(FOUND)
        .build();
  }

  DeleteItemRequest delete(Write.Delete delete) {
    Expression expression = Expression.ofCondition(delete, attributes);
    return DeleteItemRequest.builder()
        .tableName(table(delete.key().partition()))
        .key(attributes.key(delete.key()))
        .conditionExpression(expression.condition().orElse(null))
        .expressionAttributeNames(orNull(expression.names()))
        .expressionAttributeValues(orNull(expression.values()))
        .returnValuesOnConditionCheckFailure(FOUND)
        .overrideConfiguration(deadline)
        .build();
  }

  Delete deleteOfBatch(Write.Delete delete) {
    Expression expression = Expression.ofCondition(delete, attributes);
    return Delete.builder()
        .tableName(table(delete.key().partition()))
        .key(attributes.key(delete.key()))
        .conditionExpression(expression.condition().orElse(null))
        .expressionAttributeNames(orNull(expression.names()))
        .expressionAttributeValues(orNull(expression.values()))
        .returnValuesOnConditionCheckFailure(FOUND)
        .build();
  }

  TransactWriteItemsRequest batch(List<TransactWriteItem> items, @Nullable RequestToken token) {
    return TransactWriteItemsRequest.builder()
        .transactItems(items)
        .clientRequestToken(token == null ? null : ofTable(token))
        .overrideConfiguration(deadline)
        .build();
  }

  /** Returns the token for this table, since tokens of DynamoDB are scoped to an account. */
  private String ofTable(RequestToken token) {
    byte[] both = (table + "/" + token.text()).getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(Key.digest(both), 0, TOKEN_BYTES);
  }

  /** Requests one item more than the page has, which shows whether there is another page. */
  QueryRequest query(Scan scan, Map<String, AttributeValue> from) {
    boolean bounded = !scan.from().isEmpty();
    String sorts =
        bounded
            ? scan.until().isPresent() ? " AND #s BETWEEN :f AND :u" : " AND #s >= :f"
            : scan.until().isPresent() ? " AND #s < :u" : "";
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":p", attributes.partition(scan.partition()));
    if (bounded) {
      values.put(":f", attributes.sort(scan.partition(), scan.from()));
    }
    scan.until().ifPresent(until -> values.put(":u", attributes.sort(scan.partition(), until)));
    Map<String, String> names = new HashMap<>();
    names.put("#p", attributes.partitionName());
    if (!sorts.isEmpty()) {
      names.put("#s", attributes.sortName());
    }
    return QueryRequest.builder()
        .tableName(table(scan.partition()))
        .keyConditionExpression("#p = :p" + sorts)
        .expressionAttributeNames(names)
        .expressionAttributeValues(values)
        .exclusiveStartKey(orNull(from))
        .scanIndexForward(!scan.descending())
        .limit(scan.itemsMax() + 1)
        .consistentRead(scan.consistency() == Consistency.STRONG)
        .overrideConfiguration(deadline)
        .build();
  }

  /** Returns null for an empty map, which DynamoDB rejects. */
  private static <V> @Nullable Map<String, V> orNull(Map<String, V> map) {
    return map.isEmpty() ? null : map;
  }
}
