package dev.quipu.dynamodb;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.Reason;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;

/** The table: its definition and its creation. */
final class Table {
  /** Default name of the table. */
  static final String NAME = "quipu";

  private static final Logger LOGGER = LoggerFactory.getLogger(Table.class);

  /** How many items of an existing table are checked. */
  private static final int CHECKED_MAX = 100;

  private final String name;
  private final Layout layout;

  /**
   * Creates the definition of a table.
   *
   * @throws IllegalArgumentException if the name is invalid
   */
  Table(String name, Layout layout) {
    if (!name.matches("[A-Za-z0-9_.-]{3,255}")) {
      throw new IllegalArgumentException(
          "table is '%s'; it must be 3 to 255 letters, digits or _.-".formatted(name));
    }
    this.name = name;
    this.layout = layout;
  }

  String name() {
    return name;
  }

  Layout layout() {
    return layout;
  }

  /** Returns the commands that create the table. */
  String commands(String region) {
    return """
    aws dynamodb create-table --region %2$s --table-name %1$s \\
      --attribute-definitions AttributeName=%3$s,AttributeType=S \\
      AttributeName=%4$s,AttributeType=S \\
      --key-schema AttributeName=%3$s,KeyType=HASH AttributeName=%4$s,KeyType=RANGE \\
      --billing-mode PAY_PER_REQUEST
    aws dynamodb wait table-exists --region %2$s --table-name %1$s
    aws dynamodb update-time-to-live --region %2$s --table-name %1$s \\
      --time-to-live-specification Enabled=true,AttributeName=ttl
    # Rights that a server needs: dynamodb:DescribeTable, GetItem, BatchGetItem, PutItem,
    # UpdateItem, DeleteItem, Query, ConditionCheckItem on the table.
    """
        .formatted(name, region, layout.partitionName(), layout.sortName());
  }

  /** Creates the table if it is missing, and waits until it is active. */
  void prepare(DynamoDbClient client) {
    try {
      check(client.describeTable(request -> request.tableName(name)).table());
      checkItems(client);
    } catch (ResourceNotFoundException e) {
      create(client);
    } catch (DynamoDbException e) {
      requireDenied(e, "DescribeTable denied; the table is assumed to exist: table={}");
      checkItems(client);
    } catch (SdkException e) {
      throw Failures.of(e, Outcome.NOT_APPLIED);
    }
  }

  private void check(TableDescription found) {
    String keys =
        found.keySchema().stream()
            .map(key -> key.attributeName() + " " + key.keyType())
            .collect(Collectors.joining(", "));
    String needed = layout.partitionName() + " HASH, " + layout.sortName() + " RANGE";
    if (!keys.equals(needed)) {
      throw new NotAppliedException(
          Reason.INVALID,
          "table %s has the keys %s; they must be %s (layout=%s)"
              .formatted(name, keys, needed, layout.label()));
    }
  }

  private static String key(Map<String, AttributeValue> item, String name) {
    return Objects.requireNonNull(item.get(name), name).s();
  }

  /** Checks some items of a table that another program may have written to. */
  private void checkItems(DynamoDbClient client) {
    if (layout == Layout.QUIPU) {
      return;
    }
    try {
      client
          .scan(request -> request.tableName(name).limit(CHECKED_MAX))
          .items()
          .forEach(item ->
              layout.requireSupported(
                  key(item, layout.partitionName()), key(item, layout.sortName())));
    } catch (DynamoDbException e) {
      requireDenied(e, "Scan denied; items of the table are not checked: table={}");
    }
  }

  /** Logs that this is not permitted, which is no obstacle; rethrows all other errors. */
  private void requireDenied(DynamoDbException e, String message) {
    if (!"AccessDeniedException".equals(e.awsErrorDetails().errorCode())) {
      throw Failures.of(e, Outcome.NOT_APPLIED);
    }
    LOGGER.debug(message, name);
  }

  private void create(DynamoDbClient client) {
    CreateTableRequest request =
        CreateTableRequest.builder()
            .tableName(name)
            .attributeDefinitions(
                List.of(definition(layout.partitionName()), definition(layout.sortName())))
            .keySchema(
                List.of(
                    key(layout.partitionName(), KeyType.HASH),
                    key(layout.sortName(), KeyType.RANGE)))
            .billingMode(BillingMode.PAY_PER_REQUEST)
            .build();
    try {
      try {
        client.createTable(request);
      } catch (ResourceInUseException e) {
        LOGGER.debug("Another server is creating the table: table={}", name);
      }
      try (var waiter = client.waiter()) {
        waiter.waitUntilTableExists(each -> each.tableName(name));
      }
    } catch (SdkException e) {
      throw Failures.of(e, Outcome.NOT_APPLIED);
    }
    expire(client);
  }

  private void expire(DynamoDbClient client) {
    try {
      client.updateTimeToLive(request ->
          request
              .tableName(name)
              .timeToLiveSpecification(ttl -> ttl.enabled(true).attributeName(Attributes.TTL)));
    } catch (SdkException e) {
      LOGGER.warn(
          "TTL of the table cannot be enabled; expired items stay: table={} cause={}",
          name,
          e.getMessage());
    }
  }

  private static AttributeDefinition definition(String attribute) {
    return AttributeDefinition.builder()
        .attributeName(attribute)
        .attributeType(ScalarAttributeType.S)
        .build();
  }

  private static KeySchemaElement key(String attribute, KeyType type) {
    return KeySchemaElement.builder().attributeName(attribute).keyType(type).build();
  }
}
