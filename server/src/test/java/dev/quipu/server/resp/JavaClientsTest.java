package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.simulation.proxy.WireFault;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** Unmodified Java clients: connect, count, pipeline, transaction, reconnect. */
final class JavaClientsTest {
  private static final int ADDS = 2_000;

  @TempDir Path directory;

  private Engine engine;
  private CommandPort server;

  @BeforeEach
  void start() throws IOException {
    engine = Engine.open(directory, EngineOptions.defaults());
    server = LikeRedisTest.serve(engine, Optional.empty());
  }

  @AfterEach
  void stop() {
    server.close();
    engine.close();
  }

  private static Jedis jedis(int port) {
    return new Jedis(
        new HostAndPort("127.0.0.1", port),
        DefaultJedisClientConfig.builder().timeoutMillis(500).serverDefaultProtocol().build());
  }

  @Test
  void jedisCounts() throws IOException {
    int port = server.address().getPort();
    try (Jedis jedis = jedis(port)) {
      assertEquals(1, jedis.incr("a"));
      assertEquals(5, jedis.incrBy("a", 4));
      assertEquals("5", jedis.get("a"));
      assertNull(jedis.get("none"));
      JedisDataException e = assertThrows(JedisDataException.class, () -> jedis.set("a", "text"));
      assertTrue(e.toString().contains("only integers"), e.toString());
      Pipeline pipeline = jedis.pipelined();
      List<Response<Long>> all = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        all.add(pipeline.incr("p"));
      }
      pipeline.sync();
      assertEquals(100, all.getLast().get());
      Transaction transaction = jedis.multi();
      transaction.incr("t");
      transaction.decrBy("t", 3);
      assertEquals(List.of(1L, -2L), transaction.exec());
      jedis.watch("t");
      engine.add(new Add("t", 1, null));
      Transaction late = jedis.multi();
      late.incr("t");
      assertNull(late.exec());
    }
    server.close();
    server = LikeRedisTest.serve(engine, Optional.empty());
    try (Jedis again = jedis(server.address().getPort())) {
      assertEquals(6, again.incr("a"));
    }
  }

  @Test
  void lettuceCounts() {
    RedisURI uri = RedisURI.create("127.0.0.1", server.address().getPort());
    try (RedisClient client = RedisClient.create(uri);
        StatefulRedisConnection<String, String> connection = client.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      assertEquals(1, redis.incr("a"));
      assertEquals(-9, redis.decrby("a", 10));
      assertEquals("-9", redis.get("a"));
      redis.multi();
      redis.incr("a");
      redis.get("a");
      assertEquals(List.of(-8L, "-8"), redis.exec().stream().toList());
      assertTrue(redis.expire("a", Duration.ofMinutes(1)));
      assertTrue(redis.ttl("a") > 50);
      assertEquals(1, redis.del("a"));
    }
  }

  /** One reply in twenty is lost, and the client reconnects and repeats: counted once. */
  @Test
  void repeatsUnderAnIdCountOnce() {
    int port = server.address().getPort();
    try (FaultProxy proxy =
        FaultProxy.start(new RedisProtocol(), port, Duration.ofSeconds(1), write -> 1)) {
      proxy.use(FaultPlan.atRandom(1, 0.05, WireFault.REPLY_DROPPED, write -> true));
      long repeats = 0;
      Jedis jedis = jedis(proxy.port());
      for (int i = 0; i < ADDS; i++) {
        boolean isDone = false;
        while (!isDone) {
          try {
            Object answer = jedis.sendCommand(() -> bytes("QUIPU.ADD"), "a", "1", "ID", "id-" + i);
            isDone = answer instanceof List<?> all && all.get(1).equals(1L);
          } catch (JedisConnectionException e) {
            repeats++;
            jedis.close();
            jedis = jedis(proxy.port());
          }
        }
      }
      jedis.close();
      assertTrue(repeats > ADDS / 50, "only " + repeats + " were repeated, so this run is void");
      assertTrue(repeats >= proxy.ledger().fired(WireFault.REPLY_DROPPED));
      assertEquals(Optional.of(Reading.exact(ADDS)), engine.read("a"));
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
