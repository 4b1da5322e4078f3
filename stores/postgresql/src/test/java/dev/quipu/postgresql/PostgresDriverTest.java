package dev.quipu.postgresql;

import dev.quipu.store.StoreDriver;
import dev.quipu.verify.contract.StoreContract;

/** PostgreSQL as a store. */
final class PostgresDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return Databases.openEmpty();
  }
}
