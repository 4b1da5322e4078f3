package dev.quipu.dynamodb;

import dev.quipu.simulation.proxy.DynamoDbProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.CombiningContract;
import java.net.URI;

/** DynamoDB executes a group of adds by one transaction, or one UpdateItem. */
final class DynamoDbCombiningTest extends CombiningContract {
  @Override
  protected int storePort() {
    return Tables.server().endpoint().getPort();
  }

  @Override
  protected Protocol protocol() {
    return new DynamoDbProtocol();
  }

  @Override
  protected StoreDriver open(int port) {
    return StoreProvider.open(Tables.newUri(URI.create("http://127.0.0.1:" + port), TIMEOUT));
  }
}
