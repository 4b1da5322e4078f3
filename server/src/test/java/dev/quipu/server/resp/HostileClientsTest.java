package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.Operation;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients that cause much work with small requests, or disconnect before they are answered. */
final class HostileClientsTest {
  private static final int GONE = 300;

  @TempDir Path directory;
  private Engine engine;
  private CommandPort server;
  private RawClient client;

  @SuppressWarnings("NullAway.Init") // JUnit calls start before each test
  HostileClientsTest() {}

  @BeforeEach
  void start() throws IOException {
    engine = Engine.open(directory, EngineOptions.defaults().withDurability(Durability.NONE));
    server = RespServer.start(PortOptions.at(0), engine, "test", Clock.system());
    client = new RawClient(server.address().getPort());
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
    engine.close();
  }

  /** If it were visited once per mention, this family would block others for minutes. */
  @Test
  void aRepeatedKeyIsVisitedOnce() throws IOException {
    int members = 10_000;
    for (int i = 0; i < members; i++) {
      client.send("HINCRBY f %d 1\r\n".formatted(i));
    }
    for (int i = 0; i < members; i++) {
      assertEquals(":1\r\n", client.answer());
    }
    assertEquals(":1\r\n", client.ask("DEL" + " f".repeat(10_000)));
    assertEquals(":0\r\n", client.ask("DBSIZE"));
  }

  @Test
  void blankLinesDelayNothing() throws IOException {
    client.send("INCR a\r\n" + "\r\n".repeat(200_000) + "PING\r\n");
    assertEquals(":1\r\n", client.answer());
    assertEquals("+PONG\r\n", client.answer());
  }

  @Test
  void trailingStarsCountAsSteps() throws IOException {
    for (int i = 0; i < 2_000; i++) {
      client.send("INCR %06d\r\n".formatted(i));
    }
    for (int i = 0; i < 2_000; i++) {
      assertEquals(":1\r\n", client.answer());
    }
    String answer = client.ask("KEYS ??????" + "*".repeat(60_000) + "x");
    assertTrue(answer.startsWith("-ERR pattern takes more than"), answer);
  }

  /** Returns the number of keys still watched for disconnected clients. */
  private long watched() {
    AtomicLong watched = new AtomicLong();
    Operation look =
        new Operation() {
          @Override
          public int bytesMax(CounterAccess counters) {
            return CounterAccess.bytesMax(GONE, 16 * GONE);
          }

          @Override
          public void on(CounterAccess counters) {
            for (int i = 0; i < GONE; i++) {
              counters.set("watched-" + i, 1);
              watched.addAndGet(counters.changes("watched-" + i) > 0 ? 1 : 0);
            }
          }

          @Override
          public void failed(RuntimeException why) {
            throw why;
          }
        };
    engine.run(List.of(look));
    return watched.get();
  }

  @Test
  void aClientThatDisconnectsDuringItsWatchWatchesNothing() throws Exception {
    String padding = "PING " + "p".repeat(2_040) + "\r\n";
    for (int i = 0; i < GONE; i++) {
      try (Socket gone = new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
        gone.setSoLinger(true, 0); // closes by a reset
        String all = padding + "INCR z\r\n".repeat(5) + "WATCH watched-" + i + "\r\n";
        gone.getOutputStream().write(all.getBytes(StandardCharsets.US_ASCII));
        gone.getOutputStream().flush();
        if (i % 2 == 0) {
          client.ask("INCR busy");
        }
      }
    }
    Progress.await("the end of all watches", () -> watched() == 0);
  }
}
