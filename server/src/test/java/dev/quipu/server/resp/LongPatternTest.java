package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Expensive patterns yield to other connections. */
final class LongPatternTest {
  private static final int COMMANDS = 200;

  @TempDir Path directory;

  private void yieldsToOthers(String command) throws Exception {
    EngineOptions none = EngineOptions.defaults().withDurability(Durability.NONE);
    try (Engine engine = Engine.open(directory, none);
        CommandPort server = RespServer.start(PortOptions.at(0), engine, "test", Clock.system());
        RawClient hostile = new RawClient(server.address().getPort());
        RawClient other = new RawClient(server.address().getPort())) {
      for (int i = 0; i < 100; i++) {
        assertEquals("+OK\r\n", other.ask("SET " + "a".repeat(400) + i + " 1"));
      }
      AtomicInteger answered = new AtomicInteger();
      CountDownLatch first = new CountDownLatch(1);
      var unused =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  while (true) {
                    String answer = hostile.answer();
                    if (answer.isEmpty()) {
                      return;
                    }
                    answered.incrementAndGet();
                    first.countDown();
                  }
                } catch (IOException | RuntimeException e) {
                  first.countDown(); // closed below
                }
              });
      hostile.send((command + "\r\n").repeat(COMMANDS));
      first.await();
      assertEquals(":1\r\n", other.ask("INCR served"));
      int before = answered.get();
      assertTrue(before < COMMANDS / 2, "only after " + before + " of them");
    }
  }

  @Test
  void keysYields() throws Exception {
    yieldsToOthers("KEYS " + "*" + "a".repeat(200) + "b");
  }

  @Test
  void scanYields() throws Exception {
    yieldsToOthers("SCAN 0 COUNT 10000 MATCH " + "*" + "a".repeat(200) + "b");
  }

  @Test
  void aCommandOfManyPatternsEnds() throws Exception {
    EngineOptions none = EngineOptions.defaults().withDurability(Durability.NONE);
    try (Engine engine = Engine.open(directory, none);
        CommandPort server = RespServer.start(PortOptions.at(0), engine, "test", Clock.system());
        RawClient client = new RawClient(server.address().getPort())) {
      int patterns = 900;
      String pattern = "*[" + "a".repeat(997) + "]";
      client.send("*%d\r\n$6\r\nCONFIG\r\n$3\r\nGET\r\n".formatted(2 + patterns));
      client.send("$1000\r\n%s\r\n".formatted(pattern).repeat(patterns));
      String answer = client.answer();
      assertTrue(answer.startsWith("-ERR pattern takes more than"), answer);
      assertEquals("+PONG\r\n", client.ask("PING"));
    }
  }
}
