package dev.quipu.redis;

import dev.quipu.QuipuException;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.RedisServer;
import org.junit.jupiter.api.Test;

/** A driver counts again as soon as its server can be reached. */
final class RedisReconnectTest {
  private static final int ROUNDS = 5;

  /** The client says of such a connection that it is open, and rejects every command. */
  @Test
  void aConnectionWhoseHandshakeWasCutOffIsReplaced() throws Exception {
    try (RedisServer server = RedisServer.startDurable();
        CutConnections proxy = new CutConnections(server.port(), "MAINT_NOTIFICATIONS");
        StoreDriver driver =
            StoreProvider.open("redis://127.0.0.1:%d?timeoutMillis=500".formatted(proxy.port()))) {
      for (int round = 0; round < ROUNDS; round++) {
        proxy.silenceOne();
        proxy.closeAll();
        Progress.await(
            "the connection after a handshake", () -> answers(driver) && proxy.hasSilenced());
      }
    }
  }

  private static boolean answers(StoreDriver driver) {
    try {
      var unused = driver.get(new Key("p", "s"), Consistency.STRONG);
      return true;
    } catch (QuipuException notConnected) {
      return false;
    }
  }
}
