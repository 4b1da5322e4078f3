package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.layer.Store;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * DynamoDB removes the markers of views by their TTL attribute. On a separate server: DynamoDB
 * Local scans its tables one after the other, which takes minutes with the tables of other tests.
 */
final class ViewsExpiryTest {
  private static final String PAGE = "myblog.com/article1";
  private static final int VIEWS = 20;

  @Test
  void afterTheRetentionOnlyTheNumberIsLeft() throws Exception {
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), Tables.NOT_BUILT);
    try (DynamoDbServer server = started.orElseThrow()) {
      onlyTheNumberIsLeft(server);
    }
  }

  private static void onlyTheNumberIsLeft(DynamoDbServer server) throws Exception {
    // With a clock that is ten minutes behind, so that a retention of a second has long passed.
    ManualClock clock =
        new ManualClock(Clock.system().epochMillis() - Duration.ofMinutes(10).toMillis());
    try (StoreDriver driver =
        StoreProvider.open(Tables.newUri(server.endpoint(), Duration.ofMinutes(1)))) {
      ViewCounter views =
          new ViewCounter(
              new Store(driver, clock), ViewOptions.EXACT.keeping(Duration.ofSeconds(1)));
      for (int i = 0; i < VIEWS; i++) {
        assertTrue(views.add(new ViewEvent(PAGE, Instant.EPOCH, "client " + i)));
      }
      Scan all = Scan.all("views/" + PAGE);
      Progress.await(
          "removal of what has expired", () -> ScanDriver.of(driver).scan(all).items().size() == 1);
      assertEquals(VIEWS, views.count(PAGE).orElseThrow());
    }
  }
}
