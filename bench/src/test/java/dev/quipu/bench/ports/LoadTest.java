package dev.quipu.bench.ports;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.testservers.MemcachedServer;
import dev.quipu.testservers.RedisServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class LoadTest {
  private static final Duration TIME = Duration.ofMillis(200);
  private static final int PIPELINE = 16;
  private static final double PER_SECOND = 2_000;

  private final Numbers numbers = new Numbers();

  /** A turn fails by itself if Redis does not hold what was answered. */
  @Test
  void countsWhatRedisAnswers() throws IOException {
    try (RedisServer server = RedisServer.start()) {
      WireSubject redis =
          new WireSubject("Redis", Dialect.REDIS, server.port(), server.pid(), numbers);
      for (Kind kind : Kind.values()) {
        for (int keys : new int[] {1, Shape.KEYS_MAX}) {
          assertTrue(redis.turn(new Shape(kind, keys, PIPELINE), TIME).perSecond() > 0);
        }
        Shape shape = new Shape(kind, Shape.KEYS_MAX, 1);
        OpenLoop.Outcome outcome = redis.open(shape, PER_SECOND, TIME);
        assertEquals(400, outcome.applied(), "2,000 a second in 200 ms");
        assertEquals(400, outcome.latencies().getTotalCount());
      }
    }
  }

  @Test
  void sumsWhatIsThereAndNotWhatWasAnswered() throws IOException {
    try (RedisServer server = RedisServer.start();
        Control control = new Control(server.port(), Dialect.REDIS)) {
      String byTwo = control.script("return redis.call('INCRBY', KEYS[1], 2)");
      Request twice = Request.resp("EVALSHA", byTwo, "1", Request.KEY);
      Shape shape = new Shape(Kind.PLAIN, 1, PIPELINE);
      try (Load load = new Load(server.port(), Dialect.REDIS, twice, shape, numbers)) {
        Load.Outcome outcome = load.run(TIME);
        assertEquals(outcome.replies(), outcome.applied());
        assertEquals(2 * outcome.applied(), control.sum(Shape.KEYS_MAX));
      }
    }
  }

  @Test
  void countsWhatMemcachedAnswers() throws IOException {
    Optional<MemcachedServer> started = MemcachedServer.start();
    assumeTrue(started.isPresent(), "no memcached on this machine: ./dev deps installs it");
    try (MemcachedServer server = started.orElseThrow()) {
      for (Dialect dialect : new Dialect[] {Dialect.MEMCACHED, Dialect.MEMCACHED_META}) {
        WireSubject memcached =
            new WireSubject("memcached", dialect, server.port(), server.pid(), numbers);
        Shape shape = new Shape(Kind.PLAIN, Shape.KEYS_MAX, PIPELINE);
        assertTrue(memcached.turn(shape, TIME).perSecond() > 0);
      }
    }
  }

  @Test
  void readsRepliesHoweverTheyAreCut() {
    String stream = ":1\r\n*3\r\n:12\r\n:1\r\n:0\r\n*2\r\n:5\r\n:0\r\n:0\r\n:77\r\n";
    for (int size = 1; size <= stream.length(); size++) {
      Replies replies = new Replies(Dialect.QUIPU);
      int ended = 0;
      for (int from = 0; from < stream.length(); from += size) {
        String piece = stream.substring(from, Math.min(stream.length(), from + size));
        ended += replies.scan(ByteBuffer.wrap(piece.getBytes(StandardCharsets.US_ASCII)));
      }
      assertEquals(5, ended);
      assertEquals(3, replies.applied(), "one was refused, and one a repeat");
    }
  }

  @Test
  void anErrorIsNoReply() {
    ByteBuffer error = ByteBuffer.wrap("-ERR no\r\n".getBytes(StandardCharsets.US_ASCII));
    Replies replies = new Replies(Dialect.REDIS);
    assertThrows(IllegalStateException.class, () -> replies.scan(error));
  }
}
