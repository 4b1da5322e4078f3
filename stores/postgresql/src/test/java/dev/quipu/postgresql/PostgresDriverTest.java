package dev.quipu.postgresql;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.StoreContract;
import java.time.Duration;

/** PostgreSQL as a store. */
final class PostgresDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return StoreProvider.open(Databases.newUri(Databases.SERVER.port(), Duration.ofMinutes(1)));
  }
}
