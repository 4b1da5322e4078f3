package dev.quipu.dynamodb;

import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.Update;

/**
 * A program that counts views with the requests of "Implementing accurate counters in DynamoDB
 * using Python", by the SDK alone.
 */
record ViewsTable(DynamoDbClient client, String table) {
  static DynamoDbClient client(URI endpoint) {
    return builder(endpoint).build();
  }

  static DynamoDbClientBuilder builder(URI endpoint) {
    return DynamoDbClient.builder()
        .region(Region.US_EAST_1)
        .endpointOverride(endpoint)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")));
  }

  static ViewsTable created(DynamoDbClient client, String table) {
    client.createTable(request ->
        request
            .tableName(table)
            .attributeDefinitions(definition("PK"), definition("SK"))
            .keySchema(key("PK", KeyType.HASH), key("SK", KeyType.RANGE))
            .billingMode(BillingMode.PAY_PER_REQUEST));
    return new ViewsTable(client, table);
  }

  private static AttributeDefinition definition(String name) {
    return AttributeDefinition.builder()
        .attributeName(name)
        .attributeType(ScalarAttributeType.S)
        .build();
  }

  private static KeySchemaElement key(String name, KeyType type) {
    return KeySchemaElement.builder().attributeName(name).keyType(type).build();
  }

  /** Counts a view that is kept forever; returns false if it was counted before. */
  boolean count(String url, String time, String clientId) {
    return count(url, time, clientId, Optional.empty());
  }

  /**
   * Counts a view.
   *
   * @param ttl in seconds since 1970
   */
  boolean count(String url, String time, String clientId, Optional<Long> ttl) {
    Map<String, AttributeValue> event = new HashMap<>(key(url, "T#" + time + "#CID#" + clientId));
    ttl.ifPresent(it -> event.put("ttl", AttributeValue.fromN(it.toString())));
    Put put =
        Put.builder()
            .tableName(table)
            .item(event)
            .conditionExpression("attribute_not_exists(PK) and attribute_not_exists(SK)")
            .build();
    Update update =
        Update.builder()
            .tableName(table)
            .key(key(url, "STATISTICS"))
            .updateExpression("SET #views = if_not_exists(#views, :init) + :inc")
            .expressionAttributeNames(Map.of("#views", "views"))
            .expressionAttributeValues(
                Map.of(":init", AttributeValue.fromN("0"), ":inc", AttributeValue.fromN("1")))
            .build();
    try {
      client.transactWriteItems(request ->
          request.transactItems(
              TransactWriteItem.builder().put(put).build(),
              TransactWriteItem.builder().update(update).build()));
      return true;
    } catch (TransactionCanceledException e) {
      if (e.cancellationReasons().stream()
          .anyMatch(reason -> "TransactionConflict".equals(reason.code()))) {
        return count(url, time, clientId, ttl);
      }
      return false;
    }
  }

  /** Counts a view without if_not_exists. */
  void addToExisting(String url) {
    client.updateItem(request ->
        request
            .tableName(table)
            .key(key(url, "STATISTICS"))
            .updateExpression("SET #views = #views + :increment")
            .expressionAttributeNames(Map.of("#views", "views"))
            .expressionAttributeValues(Map.of(":increment", AttributeValue.fromN("1"))));
  }

  /** Reads the number of views. */
  OptionalLong views(String url) {
    Map<String, AttributeValue> item =
        client
            .getItem(request ->
                request.tableName(table).key(key(url, "STATISTICS")).consistentRead(true))
            .item();
    return item.containsKey("views")
        ? OptionalLong.of(Long.parseLong(item.get("views").n()))
        : OptionalLong.empty();
  }

  /** Stores an item of whatever format. */
  void put(String url, String sort, Map<String, AttributeValue> attributes) {
    Map<String, AttributeValue> item = new HashMap<>(key(url, sort));
    item.putAll(attributes);
    client.putItem(request -> request.tableName(table).item(item));
  }

  /** Returns the sort keys of the stored views of a page, in their order. */
  List<String> events(String url) {
    return client
        .query(request ->
            request
                .tableName(table)
                .keyConditionExpression("PK = :p AND begins_with(SK, :t)")
                .expressionAttributeValues(
                    Map.of(
                        ":p",
                        AttributeValue.fromS("URL#" + url),
                        ":t",
                        AttributeValue.fromS("T#"))))
        .items()
        .stream()
        .map(item -> item.getOrDefault("SK", AttributeValue.fromS("")).s())
        .toList();
  }

  private static Map<String, AttributeValue> key(String url, String sort) {
    return Map.of("PK", AttributeValue.fromS("URL#" + url), "SK", AttributeValue.fromS(sort));
  }
}
