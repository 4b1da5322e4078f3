package dev.quipu.postgresql;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.technique.TechniquesContract;
import java.time.Duration;

/** All techniques on PostgreSQL. */
final class PostgresTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return StoreProvider.open(Databases.newUri(Databases.SERVER.port(), Duration.ofMinutes(1)));
  }
}
