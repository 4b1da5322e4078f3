package dev.quipu.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.cloud.NoCredentials;
import com.google.cloud.ServiceOptions;
import com.google.cloud.datastore.Datastore;
import com.google.cloud.datastore.DatastoreOptions;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.Condition;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Opening a driver, clients of the user, and expiry. */
final class DatastoreSetupTest {
  private static DatastoreOptions.Builder options(int port) {
    return DatastoreOptions.newBuilder()
        .setProjectId("quipu-test")
        .setHost("http://127.0.0.1:" + port)
        .setCredentials(NoCredentials.getInstance());
  }

  private static Write put(String sort, Optional<Instant> expiresAt) {
    return new Write.Put(new Key("p", sort), Map.of(), expiresAt, Condition.always());
  }

  @Test
  void aClientThatRepeatsByItselfIsNoticed() {
    Datastore once =
        options(1).setRetrySettings(ServiceOptions.getNoRetrySettings()).build().getService();
    assertEquals(1, DatastoreDriver.attempts(once));
    assertNotEquals(1, DatastoreDriver.attempts(options(1).build().getService()));
  }

  @Test
  void aClientThatWasHandedInStaysOpen() {
    Datastore client = options(Emulator.server().port()).build().getService();
    StoreDriver driver = DatastoreDriver.of(client, "HandedIn");
    driver.write(put("s", Optional.empty()));
    driver.close();
    StoreDriver again = DatastoreDriver.of(client, "HandedIn");
    assertTrue(again.get(new Key("p", "s"), Consistency.STRONG).isPresent());
    assertTrue(
        DatastoreDriver.of(client, "Other").get(new Key("p", "s"), Consistency.STRONG).isEmpty());
  }

  @Test
  void whatHasExpiredIsRemoved() {
    Instant now = Instant.ofEpochMilli(1_800_000_000_000L);
    String uri = Emulator.newUri(Emulator.server().port(), Duration.ofMinutes(1));
    try (StoreDriver driver = StoreProvider.open(uri)) {
      driver.write(put("gone", Optional.of(now)));
      driver.write(put("later", Optional.of(now.plusMillis(1))));
      driver.write(put("never", Optional.empty()));
      assertEquals(1, driver.removeExpired(now, 10));
      assertEquals(0, driver.removeExpired(now, 10));
      assertTrue(driver.get(new Key("p", "gone"), Consistency.STRONG).isEmpty());
      assertTrue(driver.get(new Key("p", "later"), Consistency.STRONG).isPresent());
      assertTrue(driver.get(new Key("p", "never"), Consistency.STRONG).isPresent());
    }
  }

  @Test
  void whatIsWrongInAUriIsNamed() {
    wrong("datastore://project/1bad", "is '1bad'");
    wrong("datastore://project/Kind?endpiont=x", "unknown parameter 'endpiont'");
    URI uri = URI.create("datastore://project/Counts");
    String schema = StoreProvider.of(uri).schema(uri);
    assertTrue(schema.contains("kind Counts of project project"), schema);
  }

  private static void wrong(String uri, String message) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> StoreProvider.open(uri));
    assertTrue(String.valueOf(e.getMessage()).contains(message), e.getMessage());
  }

  @Test
  void aRefusedConnectionIsNotApplied() {
    try (StoreDriver driver = StoreProvider.open(Emulator.newUri(1, Duration.ofSeconds(5)))) {
      QuipuException e =
          assertThrows(QuipuException.class, () -> driver.write(put("s", Optional.empty())));
      assertEquals(Outcome.NOT_APPLIED, e.outcome());
      assertEquals(Reason.UNAVAILABLE, e.reason());
    }
  }
}
