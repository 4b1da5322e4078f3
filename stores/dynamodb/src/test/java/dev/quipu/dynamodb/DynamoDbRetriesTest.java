package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.simulation.proxy.DynamoDbProtocol;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Why a client with retries causes a warning: one add counts twice, without an error. */
final class DynamoDbRetriesTest {
  private static final Key KEY = new Key("p", "s");
  private static final Write ADD =
      new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, 1)), Condition.always());

  private static DynamoDbClient asItComes(FaultProxy proxy) {
    return DynamoDbClient.builder()
        .region(Region.US_EAST_1)
        .endpointOverride(URI.create("http://127.0.0.1:" + proxy.port()))
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")))
        .build();
  }

  private static FaultProxy proxy() {
    int port = Tables.server().endpoint().getPort();
    return FaultProxy.start(new DynamoDbProtocol(), port, Duration.ofSeconds(1), write -> 1);
  }

  @ParameterizedTest
  @EnumSource(names = {"ERROR_AFTER_APPLY", "REPLY_DROPPED"})
  void theDefaultClientOfTheSdkCountsTwice(WireFault fault) {
    try (FaultProxy proxy = proxy();
        DynamoDbClient client = asItComes(proxy);
        StoreDriver driver =
            DynamoDbDriver.of(client, "retries-" + fault, Duration.ofSeconds(10))) {
      proxy.use(FaultPlan.of(fault));
      driver.write(ADD);
      assertEquals(1, proxy.ledger().fired(fault));
      assertEquals(2, proxy.ledger().applied());
      assertEquals(2, driver.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE));
    }
  }

  /** The condition fails on the write of the client's own first attempt: that is not "rejected". */
  @Test
  void aConditionThatFailsOnARepeatOfTheClientIsUnknown() {
    try (FaultProxy proxy = proxy();
        DynamoDbClient client = asItComes(proxy);
        StoreDriver driver = DynamoDbDriver.of(client, "repeats", Duration.ofSeconds(10))) {
      proxy.use(FaultPlan.of(WireFault.REPLY_DROPPED));
      QuipuException e =
          assertThrows(QuipuException.class, () -> driver.write(ADD.when(new Condition.Absent())));
      assertEquals(Outcome.UNKNOWN, e.outcome());
      assertEquals(1, driver.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE));
    }
  }
}
