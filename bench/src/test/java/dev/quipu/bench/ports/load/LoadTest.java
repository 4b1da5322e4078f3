package dev.quipu.bench.ports.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.bench.ports.subject.WireSubject;
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

  private final RequestNumbers numbers = new RequestNumbers();

  /** A turn fails if Redis does not hold what it reported. */
  @Test
  void countsWhatRedisAnswers() throws IOException {
    try (RedisServer server = RedisServer.start()) {
      WireSubject redis =
          new WireSubject("Redis", Dialect.REDIS, server.port(), server.pid(), numbers);
      for (AddKind kind : AddKind.values()) {
        for (int keys : new int[] {1, Workload.KEYS_MAX}) {
          assertTrue(redis.measure(new Workload(kind, keys, PIPELINE), TIME).perSecond() > 0);
        }
        Workload workload = new Workload(kind, Workload.KEYS_MAX, 1);
        OpenLoop.Outcome outcome = redis.open(workload, PER_SECOND, TIME);
        assertEquals(400, outcome.applied(), "2,000 a second in 200 ms");
        assertEquals(400, outcome.latencies().getTotalCount());
      }
    }
  }

  @Test
  void sumsStoredValuesAndNotReplies() throws IOException {
    try (RedisServer server = RedisServer.start();
        ControlConnection control = new ControlConnection(server.port(), Dialect.REDIS)) {
      String byTwo = control.script("return redis.call('INCRBY', KEYS[1], 2)");
      Request twice = Request.resp("EVALSHA", byTwo, "1", Request.KEY);
      Workload workload = new Workload(AddKind.PLAIN, 1, PIPELINE);
      try (ClosedLoop load =
          new ClosedLoop(server.port(), Dialect.REDIS, twice, workload, numbers)) {
        ClosedLoop.Outcome outcome = load.run(TIME);
        assertEquals(outcome.replies(), outcome.applied());
        assertEquals(2 * outcome.applied(), control.sum(Workload.KEYS_MAX));
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
        Workload workload = new Workload(AddKind.PLAIN, Workload.KEYS_MAX, PIPELINE);
        assertTrue(memcached.measure(workload, TIME).perSecond() > 0);
      }
    }
  }

  @Test
  void readsRepliesHoweverTheyAreCut() {
    String stream = ":1\r\n*3\r\n:12\r\n:1\r\n:0\r\n*2\r\n:5\r\n:0\r\n:0\r\n:77\r\n";
    for (int size = 1; size <= stream.length(); size++) {
      ReplyScanner replies = new ReplyScanner(Dialect.QUIPU);
      int ended = 0;
      for (int from = 0; from < stream.length(); from += size) {
        String piece = stream.substring(from, Math.min(stream.length(), from + size));
        ended += replies.scan(ByteBuffer.wrap(piece.getBytes(StandardCharsets.US_ASCII)));
      }
      assertEquals(5, ended);
      assertEquals(3, replies.applied(), "one was rejected, and one a repeat");
    }
  }

  @Test
  void anErrorIsNotAReply() {
    ByteBuffer error = ByteBuffer.wrap("-ERR no\r\n".getBytes(StandardCharsets.US_ASCII));
    ReplyScanner replies = new ReplyScanner(Dialect.REDIS);
    assertThrows(IllegalStateException.class, () -> replies.scan(error));
  }
}
