package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;

/** Creation of the table, and clients of the user. */
final class DynamoDbSetupTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final Write ADD =
      new Write.Update(
          new Key("p", "s"), List.of(new Change.Add(Item.VALUE, 1)), Condition.always());

  private static DynamoDbClientBuilder builder() {
    return DynamoDbClient.builder()
        .region(Region.US_EAST_1)
        .endpointOverride(Tables.server().endpoint())
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")));
  }

  @Test
  void aClientThatRepeatsByItselfIsNoticedWithItsNumber() {
    try (DynamoDbClient byDefault = builder().build();
        DynamoDbClient once =
            builder()
                .overrideConfiguration(each -> each.retryStrategy(AwsRetryStrategy.doNotRetry()))
                .build()) {
      assertTrue(DynamoDbDriver.attempts(byDefault) > 1);
      assertEquals(1, DynamoDbDriver.attempts(once));
    }
  }

  @Test
  void aClientThatWasHandedInStaysOpen() {
    try (DynamoDbClient client = builder().build()) {
      StoreDriver driver = DynamoDbDriver.of(client, "handed-in", TIMEOUT);
      driver.write(ADD);
      driver.close();
      assertTrue(client.listTables().tableNames().contains("handed-in"));
      assertEquals(
          TimeToLiveStatus.ENABLED,
          client
              .describeTimeToLive(request -> request.tableName("handed-in"))
              .timeToLiveDescription()
              .timeToLiveStatus());
    }
  }

  @Test
  void serversThatStartAtOnceCreateOneTable() throws Exception {
    String uri = Tables.newUri(Tables.server().endpoint(), TIMEOUT);
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<StoreDriver>> opening = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        opening.add(executor.submit(() -> StoreProvider.open(uri)));
      }
      for (Future<StoreDriver> each : opening) {
        try (StoreDriver driver = each.get()) {
          driver.write(ADD);
        }
      }
    }
  }

  @Test
  void aTableWithOtherKeysIsRejected() {
    try (DynamoDbClient client = builder().build()) {
      client.createTable(request ->
          request
              .tableName("others")
              .attributeDefinitions(
                  AttributeDefinition.builder()
                      .attributeName("id")
                      .attributeType(ScalarAttributeType.S)
                      .build())
              .keySchema(
                  KeySchemaElement.builder().attributeName("id").keyType(KeyType.HASH).build())
              .billingMode(BillingMode.PAY_PER_REQUEST));
      QuipuException e =
          assertThrows(QuipuException.class, () -> DynamoDbDriver.of(client, "others", TIMEOUT));
      assertEquals(Reason.INVALID, e.reason());
      assertTrue(String.valueOf(e.getMessage()).contains("id HASH"), e.getMessage());
    }
  }

  @Test
  void whatIsWrongInAUriIsNamed() {
    wrong("dynamodb://us-east-1/ab", "table is 'ab'");
    wrong("dynamodb://us-east-1/quipu?endpiont=x", "unknown parameter 'endpiont'");
    QuipuException away =
        assertThrows(
            QuipuException.class,
            () ->
                StoreProvider.open(
                    "dynamodb://key:the-secret@us-east-1/quipu?endpoint=http://127.0.0.1:1"));
    assertEquals(Reason.UNAVAILABLE, away.reason());
    assertFalse(away.toString().contains("the-secret"));
    URI uri = URI.create("dynamodb://eu-west-1/counts");
    String schema = StoreProvider.of(uri).schema(uri);
    assertTrue(schema.contains("--region eu-west-1 --table-name counts"), schema);
  }

  private static void wrong(String uri, String message) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> StoreProvider.open(uri));
    assertTrue(String.valueOf(e.getMessage()).contains(message), e.getMessage());
  }
}
