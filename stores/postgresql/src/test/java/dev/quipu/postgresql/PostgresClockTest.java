package dev.quipu.postgresql;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.StoreClockContract;
import java.time.Duration;

/** Servers with wrong clocks on PostgreSQL. */
final class PostgresClockTest extends StoreClockContract {
  @Override
  protected StoreDriver open() {
    return StoreProvider.open(Databases.newUri(Databases.SERVER.port(), Duration.ofMinutes(1)));
  }
}
