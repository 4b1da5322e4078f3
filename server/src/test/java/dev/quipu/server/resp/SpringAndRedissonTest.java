package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.testkit.pace.Progress;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.BatchOptions;
import org.redisson.api.BatchOptions.ExecutionMode;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RBatch;
import org.redisson.api.RedissonClient;
import org.redisson.api.atomic.LongIncrementArgs;
import org.redisson.client.RedisException;
import org.redisson.config.Config;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.support.atomic.RedisAtomicLong;

/** Spring Data Redis over Lettuce, and Redisson. */
final class SpringAndRedissonTest {

  @TempDir Path directory;

  private Engine engine;
  private CommandPort server;
  private int port;

  @BeforeEach
  void start() throws IOException {
    engine = Engine.open(directory, EngineOptions.defaults());
    server = LikeRedisTest.serve(engine, Optional.empty());
    port = server.address().getPort();
  }

  @AfterEach
  void stop() {
    server.close();
    engine.close();
  }

  private void restart() throws IOException {
    server.close();
    server = LikeRedisTest.serve(engine, port);
  }

  /** Reads until the client has reconnected; unlike an add, a read may be repeated. */
  private static void awaitRead(Runnable read) throws Exception {
    Progress.await(
        "a read after the restart",
        () -> {
          try {
            read.run();
            return true;
          } catch (RuntimeException notYetConnected) {
            return false;
          }
        });
  }

  /** A repeated INCR would count twice, so neither resending nor queueing is enabled. */
  private LettuceConnectionFactory spring() {
    ClientOptions options =
        ClientOptions.builder()
            .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
            .replayFilter(command -> true)
            .build();
    LettuceConnectionFactory factory =
        new LettuceConnectionFactory(
            new RedisStandaloneConfiguration("127.0.0.1", port),
            LettuceClientConfiguration.builder().clientOptions(options).build());
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  @Test
  void springCounts() throws Exception {
    LettuceConnectionFactory factory = spring();
    try {
      StringRedisTemplate redis = new StringRedisTemplate(factory);
      assertEquals(1L, redis.opsForValue().increment("a"));
      assertEquals(42L, redis.opsForValue().increment("a", 41));
      assertEquals("42", redis.opsForValue().get("a"));
      redis.opsForValue().set("a", "6");
      assertNull(redis.opsForValue().get("none"));
      assertThrows(RuntimeException.class, () -> redis.opsForValue().set("a", "text"));
      @SuppressWarnings("NullAway") // a pipeline callback must return null
      RedisCallback<Object> adds =
          connection -> {
            for (int i = 0; i < 100; i++) {
              connection.stringCommands().incr(new byte[] {'p'});
            }
            return null;
          };
      assertEquals(LongStream.rangeClosed(1, 100).boxed().toList(), redis.executePipelined(adds));
      assertEquals(List.of(1L, -2L), inTransaction(redis, false));
      assertEquals(List.of(), inTransaction(redis, true));
      assertEquals("-1", redis.opsForValue().get("t"));
      restart();
      awaitRead(() -> redis.opsForValue().get("a"));
      assertEquals(7L, redis.opsForValue().increment("a"));
    } finally {
      factory.destroy();
    }
  }

  /** Counts under WATCH, unless the key was changed concurrently. */
  private List<Object> inTransaction(StringRedisTemplate redis, boolean isDisturbed) {
    SessionCallback<List<Object>> adds =
        new SessionCallback<>() {
          @Override
          @SuppressWarnings("unchecked") // the template that runs it is one of strings
          public <K, V> List<Object> execute(RedisOperations<K, V> operations) {
            RedisOperations<String, String> strings = (RedisOperations<String, String>) operations;
            strings.watch("t");
            if (isDisturbed) {
              engine.add(new Add("t", 1, null));
            }
            strings.multi();
            strings.opsForValue().increment("t");
            strings.opsForValue().decrement("t", 3);
            return strings.exec();
          }
        };
    return Optional.ofNullable(redis.execute(adds)).orElseThrow();
  }

  @Test
  void springAtomicLongs() throws Exception {
    LettuceConnectionFactory factory = spring();
    try {
      RedisAtomicLong a = new RedisAtomicLong("a", factory);
      assertEquals(0, a.get());
      assertEquals(1, a.incrementAndGet());
      assertEquals(1, a.getAndAdd(5));
      assertTrue(a.compareAndSet(6, 60));
      assertFalse(a.compareAndSet(6, 61));
      assertEquals(60, a.getAndSet(9));
      assertEquals(18, a.updateAndGet(value -> value * 2));
      assertEquals(20, a.accumulateAndGet(2, Long::sum));
      assertEquals(20, new RedisAtomicLong("a", factory).get());
      restart();
      awaitRead(a::get);
      assertEquals(21, a.incrementAndGet());
      awaitRead(() -> a.compareAndSet(0, 1)); // on its own connection; changes nothing
      assertTrue(a.compareAndSet(21, 22));
    } finally {
      factory.destroy();
    }
  }

  private RedissonClient redisson() {
    Config config = new Config();
    config
        .useSingleServer()
        .setAddress("redis://127.0.0.1:" + port)
        .setConnectionMinimumIdleSize(2)
        .setConnectionPoolSize(4)
        .setRetryAttempts(0);
    return Redisson.create(config);
  }

  @Test
  void redissonCounts() throws Exception {
    RedissonClient redisson = redisson();
    try {
      RAtomicLong a = redisson.getAtomicLong("a");
      assertEquals(1, a.incrementAndGet());
      assertEquals(42, a.addAndGet(41));
      assertEquals(42, a.get());
      assertEquals(42, a.getAndSet(5));
      assertEquals(5, a.getAndIncrement());
      a.set(9);
      assertEquals(8, a.decrementAndGet());
      assertEquals(0, redisson.getAtomicLong("none").get());
      assertEquals(10, a.incrementAndGet(LongIncrementArgs.by(2).upperBound(10)));
      assertEquals(
          11, a.incrementAndGet(LongIncrementArgs.defaults().timeToLive(Duration.ofMinutes(1))));
      assertTrue(a.remainTimeToLive() > 50_000);
      assertTrue(a.clearExpire());
      // Implemented by scripts.
      assertRejected(() -> a.compareAndSet(11, 12));
      assertRejected(() -> a.expire(Duration.ofMinutes(1)));
      assertEquals(
          LongStream.rangeClosed(1, 100).boxed().toList(),
          adds(redisson, "p", ExecutionMode.IN_MEMORY));
      assertEquals(
          LongStream.rangeClosed(1, 100).boxed().toList(),
          adds(redisson, "m", ExecutionMode.IN_MEMORY_ATOMIC));
      assertEquals(
          LongStream.rangeClosed(101, 200).boxed().toList(),
          adds(redisson, "m", ExecutionMode.REDIS_WRITE_ATOMIC));
      restart();
      awaitRead(a::get);
      assertEquals(12, a.incrementAndGet());
    } finally {
      redisson.shutdown();
    }
  }

  private static void assertRejected(Executable script) {
    RedisException rejected =
        assertTimeoutPreemptively(
            Progress.STALL_MAX, () -> assertThrows(RedisException.class, script));
    assertTrue(rejected.toString().contains("scripts are not supported"), rejected.toString());
  }

  private static List<?> adds(RedissonClient redisson, String counter, ExecutionMode mode) {
    RBatch batch =
        redisson.createBatch(BatchOptions.defaults().executionMode(mode).retryAttempts(0));
    for (int i = 0; i < 100; i++) {
      batch.getAtomicLong(counter).incrementAndGetAsync();
    }
    return batch.execute().getResponses();
  }
}
