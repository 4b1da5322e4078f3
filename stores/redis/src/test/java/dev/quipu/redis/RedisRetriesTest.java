package dev.quipu.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.testservers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Why a client that resends commands causes a warning: one add counts twice, without an error. */
final class RedisRetriesTest {
  private static final Key KEY = new Key("p", "s");
  private static final Write ADD =
      new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, 1)), Condition.always());

  @Test
  void lettuceByDefaultCountsTwice() {
    try (RedisServer server = RedisServer.startDurable();
        FaultProxy proxy =
            FaultProxy.start(
                new RedisProtocol(), server.port(), Duration.ofSeconds(1), write -> 1)) {
      RedisClient asItComes = RedisClient.create(RedisURI.create("127.0.0.1", proxy.port()));
      try (StoreDriver driver = RedisDriver.of(asItComes, "retries", Duration.ofSeconds(10))) {
        proxy.use(FaultPlan.of(WireFault.REPLY_DROPPED));
        driver.write(ADD);
        assertEquals(1, proxy.ledger().fired(WireFault.REPLY_DROPPED));
        assertEquals(2, proxy.ledger().applied());
        assertEquals(2, driver.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE));
      } finally {
        asItComes.shutdown(Duration.ZERO, Duration.ofSeconds(1));
      }
    }
  }
}
