package dev.quipu.dynamodb;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.technique.ViewsContract;
import java.time.Duration;

/** Views in {@code layout=views} on DynamoDB Local. */
final class ViewsLayoutContractTest extends ViewsContract {
  @Override
  protected StoreDriver openStore() {
    String uri = Tables.newUri(Tables.server().endpoint(), Duration.ofMinutes(1));
    return StoreProvider.open(uri + "&layout=views");
  }

  @Override
  protected boolean isSweptAtOnce() {
    return false;
  }
}
