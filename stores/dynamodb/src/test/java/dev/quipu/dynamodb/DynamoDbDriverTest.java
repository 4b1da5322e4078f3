package dev.quipu.dynamodb;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.StoreContract;
import java.time.Duration;

/** DynamoDB Local as a store. */
final class DynamoDbDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return StoreProvider.open(Tables.newUri(Tables.server().endpoint(), Duration.ofMinutes(1)));
  }
}
