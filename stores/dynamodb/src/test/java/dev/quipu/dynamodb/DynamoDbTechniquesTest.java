package dev.quipu.dynamodb;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.technique.TechniquesContract;
import java.time.Duration;

/** All techniques on DynamoDB Local. */
final class DynamoDbTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return StoreProvider.open(Tables.newUri(Tables.server().endpoint(), Duration.ofMinutes(1)));
  }
}
