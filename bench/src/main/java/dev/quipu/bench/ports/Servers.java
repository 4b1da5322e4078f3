package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.Dialect;
import dev.quipu.bench.ports.load.RequestNumbers;
import dev.quipu.bench.ports.subject.PostgresSubject;
import dev.quipu.bench.ports.subject.Processes;
import dev.quipu.bench.ports.subject.QuipuServer;
import dev.quipu.bench.ports.subject.RocksSubject;
import dev.quipu.bench.ports.subject.Subject;
import dev.quipu.bench.ports.subject.WireSubject;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Runs all measured servers; they are idle between their turns. A build of Quipu without {@code
 * --durability} or {@code --memcached} is measured without these.
 */
final class Servers implements AutoCloseable {
  private final Deque<Closeable> running = new ArrayDeque<>();
  private final RequestNumbers numbers = new RequestNumbers();
  final boolean pinned = Processes.canPin();
  final WireSubject quipu;
  final WireSubject quipuEverySecond;
  final WireSubject quipuMemory;
  private final Optional<WireSubject> quipuMemcached;
  private final Optional<WireSubject> quipuMeta;
  final WireSubject redisAlways;
  final WireSubject redisEverySecond;
  final WireSubject redisMemory;
  private final Optional<WireSubject> memcached;
  private final Optional<WireSubject> memcachedMeta;
  final PostgresSubject postgres;
  final RocksSubject rocks;

  Servers() throws Exception {
    try {
      boolean durability = QuipuServer.has("--durability");
      boolean second = QuipuServer.has("--memcached");
      QuipuServer durable = quipu(second && !durability, List.of());
      quipu = quipu("Quipu, fsync", durable);
      if (durability) {
        quipuEverySecond =
            quipu("Quipu, 1 s", quipu(false, List.of("--durability", "interval=1s")));
        QuipuServer memory = quipu(second, List.of("--durability", "none"));
        quipuMemory = quipu("Quipu, none", memory);
        quipuMemcached = memcached("Quipu, none, memcached", memory, Dialect.MEMCACHED);
        quipuMeta = memcached("Quipu, none, memcached", memory, Dialect.MEMCACHED_META);
      } else {
        quipuEverySecond = quipu;
        quipuMemory = quipu;
        quipuMemcached = memcached("Quipu, fsync, memcached", durable, Dialect.MEMCACHED);
        quipuMeta = memcached("Quipu, fsync, memcached", durable, Dialect.MEMCACHED_META);
      }
      redisAlways = redis("Redis, always", "--appendonly", "yes", "--appendfsync", "always");
      redisEverySecond = redis("Redis, 1 s", "--appendonly", "yes", "--appendfsync", "everysec");
      redisMemory = redis("Redis, none", "--appendonly", "no");
      Optional<MemcachedServer> cache = MemcachedServer.start();
      cache.ifPresent(server -> running.push(server::close));
      memcached = peer(cache, Dialect.MEMCACHED);
      memcachedMeta = peer(cache, Dialect.MEMCACHED_META);
      PostgresServer database = PostgresServer.start();
      running.push(database::close);
      postgres = new PostgresSubject(database.port(), numbers);
      pin(postgres.pid(), Processes.SERVERS_CORE);
      rocks = new RocksSubject(numbers);
      running.push(rocks::close);
      if (pinned) {
        // Without its children: the servers.
        Processes.pinOne(ProcessHandle.current().pid(), Processes.OWN_CORE);
      }
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  private QuipuServer quipu(boolean second, List<String> options) throws Exception {
    List<String> before = pinned ? Processes.pinned(Processes.SERVERS_CORE) : List.of();
    QuipuServer server = QuipuServer.start(before, second, options);
    running.push(server::close);
    return server;
  }

  private WireSubject quipu(String name, QuipuServer server) throws Exception {
    return new WireSubject(name, Dialect.QUIPU, server.port(), server.pid(), numbers);
  }

  private Optional<WireSubject> memcached(String name, QuipuServer server, Dialect dialect)
      throws Exception {
    return server.memcached().isEmpty()
        ? Optional.empty()
        : Optional.of(
            new WireSubject(name, dialect, server.memcached().getAsInt(), server.pid(), numbers));
  }

  private WireSubject redis(String name, String... options) throws Exception {
    RedisServer server = RedisServer.start(options);
    running.push(server::close);
    pin(server.pid(), Processes.SERVERS_CORE);
    return new WireSubject(name, Dialect.REDIS, server.port(), server.pid(), numbers);
  }

  private Optional<WireSubject> peer(Optional<MemcachedServer> cache, Dialect dialect)
      throws Exception {
    if (cache.isEmpty()) {
      return Optional.empty();
    }
    MemcachedServer server = cache.get();
    pin(server.pid(), Processes.SERVERS_CORE);
    return Optional.of(new WireSubject("memcached", dialect, server.port(), server.pid(), numbers));
  }

  private void pin(long pid, int core) throws Exception {
    if (pinned) {
      Processes.pin(pid, core);
    }
  }

  /** Returns Quipu's servers, each once. */
  Set<WireSubject> quipus() {
    return new LinkedHashSet<>(List.of(quipu, quipuEverySecond, quipuMemory));
  }

  /** Returns Quipu by memcached, or by Redis without that option; and memcached, if installed. */
  List<Subject> memcacheds() {
    return pair(Optional.of(quipuMemcached.orElse(quipuMemory)), memcached);
  }

  /** Returns the same with meta commands; empty if Quipu has none. */
  List<Subject> memcachedMetas() {
    return pair(quipuMeta, memcachedMeta);
  }

  private static List<Subject> pair(Optional<WireSubject> own, Optional<WireSubject> peer) {
    return own.isPresent() && peer.isPresent()
        ? List.of(own.orElseThrow(), peer.orElseThrow())
        : List.of();
  }

  @Override
  public void close() throws IOException {
    while (!running.isEmpty()) {
      running.pop().close();
    }
  }
}
