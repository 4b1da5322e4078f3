package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.resp.RawClient;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testkit.pace.Soak;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** The server is killed while Redis clients count: all acknowledged increments are stored. */
final class RespIT {
  private static final int KILLS = 4;
  private static final int CLIENTS = 4;
  private static final int PIPELINE = 20;
  private static final int ANSWERS = 2_000; // per server before it is killed
  private static final String TOKEN = "a-token-of-sixteen";

  @TempDir Path directory;

  private final AtomicLong acked = new AtomicLong();
  private final AtomicLong sent = new AtomicLong();

  @Test
  void acknowledgedIncrementsSurvive() throws Exception {
    Path token = Files.writeString(directory.resolve("token"), TOKEN);
    long lost = 0;
    Soak.Rounds kills = Soak.rounds(KILLS);
    while (kills.next()) {
      List<Thread> clients = new ArrayList<>();
      try (QuipuProcess server = serve(token)) {
        for (int j = 0; j < CLIENTS; j++) {
          clients.add(Thread.ofPlatform().start(() -> count(server.redisPort())));
        }
        new Progress("adds answered", acked::get).awaitAtLeast(acked.get() + ANSWERS);
      }
      for (Thread client : clients) {
        client.join();
      }
      try (QuipuProcess server = serve(token);
          Jedis jedis = jedis(server.redisPort())) {
        long value = Long.parseLong(jedis.get("killed"));
        long most = sent.get();
        assertTrue(acked.get() <= value && value <= most, acked + " <= " + value + " <= " + most);
        lost += most - acked.get();
        acked.set(value); // the increment in flight is known now
        sent.set(value);
      }
    }
    System.out.printf(
        "RespIT: %d kills, %d counted, %d on their way%n", kills.begun(), acked.get(), lost);
    assertTrue(lost > 0, "no increment was in flight, so this run is void");
    assertEquals(acked.get(), sent.get());
  }

  /** A counter is the same on all ports, and a kill loses nothing at any durability. */
  @ParameterizedTest
  @ValueSource(strings = {"fsync", "interval=1h", "none"})
  void allPortsCountTheSame(String durability) throws Exception {
    String[] options = {
      "--data",
      directory.resolve("data").toString(),
      "--resp",
      "0",
      "--memcached",
      "0",
      "--durability",
      durability
    };
    Path out = directory.resolve("out");
    try (QuipuProcess server = QuipuProcess.serve(out, options);
        RawClient redis = new RawClient(server.redisPort());
        RawClient memcached = new RawClient(server.memcachedPort())) {
      assertEquals(":5\r\n", redis.ask("INCRBY a 5"));
      assertEquals("7\r\n", memcached.askLine("incr a 2"));
      assertEquals("VA 1 Oid-1\r\n", memcached.askLine("ma a v Oid-1"));
      assertEquals("8\r\n", memcached.readUntil("\r\n"));
      assertEquals("STORED\r\n", memcached.askLine("set text 0 0 5\r\nhello"));
    }
    try (QuipuProcess server = QuipuProcess.serve(out, options);
        RawClient redis = new RawClient(server.redisPort());
        RawClient memcached = new RawClient(server.memcachedPort())) {
      assertEquals("$1\r\n8\r\n", redis.ask("GET a"));
      assertEquals("VA 1 Oid-1\r\n", memcached.askLine("ma a v Oid-1"));
      assertEquals("8\r\n", memcached.readUntil("\r\n"), "it was counted before the kill");
      assertEquals("$5\r\nhello\r\n", redis.ask("GET text"));
    }
  }

  private QuipuProcess serve(Path token) throws Exception {
    return QuipuProcess.serve(
        directory.resolve("out"),
        "--data",
        directory.resolve("data").toString(),
        "--resp",
        "0",
        "--token-file",
        token.toString());
  }

  private static Jedis jedis(int port) {
    return new Jedis(
        new HostAndPort("127.0.0.1", port),
        DefaultJedisClientConfig.builder()
            .timeoutMillis(60_000)
            .password(TOKEN)
            .serverDefaultProtocol()
            .build());
  }

  /** Counts until the server is killed. */
  private void count(int port) {
    try (Jedis jedis = jedis(port)) {
      while (true) {
        Pipeline pipeline = jedis.pipelined();
        for (int i = 0; i < PIPELINE; i++) {
          pipeline.incr("killed");
        }
        sent.addAndGet(PIPELINE);
        pipeline.sync();
        acked.addAndGet(PIPELINE);
      }
    } catch (JedisConnectionException e) {
      // the server was killed
    }
  }
}
