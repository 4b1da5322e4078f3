package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.testkit.pace.Progress;
import dev.quipu.testkit.pace.Soak;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.rubyeye.xmemcached.MemcachedClient;
import net.rubyeye.xmemcached.XMemcachedClientBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server under steady load on all ports, with a backup. Each round stands for an hour: it has its
 * own counters, which a later round deletes, and its request ids expire after a few rounds. Memory,
 * file descriptors and threads must not grow, and the log has no surprise. One hour:
 *
 * <p>{@code mvn -pl server -am verify -Dit.test=SteadyIT -Dtest=none
 * -Dsurefire.failIfNoSpecifiedTests=false -Dfailsafe.failIfNoSpecifiedTests=false
 * -Dsoak.seconds=3600 -Dtest.timeout='2 h'}
 */
final class SteadyIT {
  private static final Logger LOGGER = LoggerFactory.getLogger(SteadyIT.class);
  private static final int BATCHES = Soak.size(20, 400);
  private static final int BATCH = 100;
  private static final int COUNTERS = 10;
  private static final int ROUNDS_KEPT = 2;

  /** In a soak the load is paced: a machine that is always busy shows other faults. */
  private static final int PAUSE_MILLIS = Soak.size(0, 20);

  /** Rounds until the window of ids, the heap and the buffers have reached their sizes. */
  private static final int ROUNDS_UNTIL_STEADY = 20;

  private static final Pattern LEVEL = Pattern.compile("\"log.level\" ?: ?\"(\\w+) *\"");

  @TempDir Path temporary;

  private QuipuProcess server;
  private HttpClient http;
  private RedisAsyncCommands<String, String> redis;
  private MemcachedClient memcached;
  private RedisClient lettuce;
  private Path data;
  private Path backup;

  @BeforeEach
  void start() throws Exception {
    data = temporary.resolve("data");
    backup = temporary.resolve("backup");
    server =
        QuipuProcess.serve(
            temporary.resolve("out"),
            "--data=" + data,
            "--backup-to=" + backup,
            "--window=1m",
            "--resp=0",
            "--memcached=0");
    http = HttpClient.newHttpClient();
    lettuce = RedisClient.create(RedisURI.create("127.0.0.1", server.redisPort()));
    redis = lettuce.connect().async();
    memcached =
        new XMemcachedClientBuilder(
                List.of(
                    new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), server.memcachedPort())))
            .build();
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
    http.close();
    lettuce.shutdown();
    memcached.shutdown();
  }

  private static final ProtocolKeyword QUIPU_ADD =
      new ProtocolKeyword() {
        @Override
        public byte[] getBytes() {
          return "QUIPU.ADD".getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public String toString() {
          return "QUIPU.ADD";
        }
      };

  /** What a process holds. */
  private record Held(long residentKib, int descriptors, int threads, long directoryKib) {
    static Held of(QuipuProcess server, Path data) throws Exception {
      Path process = Path.of("/proc", Long.toString(server.process().pid()));
      String status = Files.readString(process.resolve("status"));
      try (Stream<Path> descriptors = Files.list(process.resolve("fd"));
          Stream<Path> files = Files.walk(data)) {
        return new Held(
            number(status, "VmRSS:\\s+(\\d+)"),
            (int) descriptors.count(),
            (int) number(status, "Threads:\\s+(\\d+)"),
            files.mapToLong(file -> file.toFile().length()).sum() >> 10);
      }
    }
  }

  private static long number(String text, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    assertTrue(found.find(), () -> pattern + " in " + text);
    return Long.parseLong(found.group(1));
  }

  @Test
  void memoryDescriptorsAndLogStayFlat() throws Exception {
    List<Held> history = new ArrayList<>();
    Soak.Rounds rounds = Soak.rounds(5);
    while (rounds.next()) {
      int round = rounds.begun();
      for (int batch = 0; batch < BATCHES; batch++) {
        addOverHttp(round, batch);
        addOverRedis(round, batch);
        addOverMemcached(round);
        Thread.sleep(PAUSE_MILLIS);
      }
      expectSums(round, BATCHES);
      if (round > ROUNDS_KEPT) {
        delete(round - ROUNDS_KEPT);
        expectSums(round - ROUNDS_KEPT, 0);
      }
      Held held = Held.of(server, data);
      LOGGER.info("soak: SteadyIT round {} {}", round, held);
      history.add(held);
    }
    Progress.await("backup", () -> get("/metrics").contains("quipu_backup_lag_seconds 0.0"));
    server.process().toHandle().destroy();
    assertEquals(0, server.process().waitFor());
    expectCalmLog(server.said());
    expectExactBackup(rounds.begun());
    expectFlat(history);
  }

  /** A batch of new ids, and a tenth of the ids of this batch again. */
  private void addOverHttp(int round, int batch) throws Exception {
    String lines =
        IntStream.range(0, BATCH + BATCH / 10)
            .map(i -> i % BATCH)
            .mapToObj(i ->
                "{\"name\":\"http/%d/%d\",\"delta\":1,\"id\":\"%d-%d-%d\"}\n"
                    .formatted(round, i % COUNTERS, round, batch, i))
            .collect(Collectors.joining());
    HttpResponse<String> response =
        http.send(
            HttpRequest.newBuilder(server.uri().resolve("/v1/counters/bulk"))
                .header("Content-Type", "application/x-ndjson")
                .POST(HttpRequest.BodyPublishers.ofString(lines))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertEquals(200, response.statusCode(), response::body);
    assertEquals(
        BATCH / 10,
        response.body().lines().filter(line -> line.contains("\"replayed\":true")).count());
  }

  /** Half of a batch with ids, and half without. */
  private void addOverRedis(int round, int batch) throws Exception {
    List<RedisFuture<?>> replies = new ArrayList<>();
    for (int i = 0; i < BATCH / 2; i++) {
      String name = "redis/%d/%d".formatted(round, i % COUNTERS);
      replies.add(redis.incrby(name, 1));
      replies.add(
          redis.dispatch(
              QUIPU_ADD,
              new ArrayOutput<>(StringCodec.UTF8),
              new CommandArgs<>(StringCodec.UTF8)
                  .addKey(name)
                  .add(1)
                  .add("ID")
                  .add("r%d-%d-%d".formatted(round, batch, i))));
    }
    for (RedisFuture<?> reply : replies) {
      reply.get();
    }
  }

  private void addOverMemcached(int round) throws Exception {
    for (int i = 0; i < COUNTERS; i++) {
      memcached.incr("memcached/%d/%d".formatted(round, i), BATCH / COUNTERS, BATCH / COUNTERS);
    }
  }

  private void expectSums(int round, int batches) throws Exception {
    for (String port : List.of("http", "redis", "memcached")) {
      for (int i = 0; i < COUNTERS; i++) {
        String name = "%s/%d/%d".formatted(port, round, i);
        String value = redis.get(name).get();
        long expected = (long) batches * BATCH / COUNTERS;
        assertEquals(expected, value == null ? 0 : Long.parseLong(value), name);
      }
    }
  }

  private void delete(int round) throws Exception {
    for (int i = 0; i < COUNTERS; i++) {
      assertTrue(memcached.delete("memcached/%d/%d".formatted(round, i)));
      String suffix = "/%d/%d".formatted(round, i);
      assertEquals(2, redis.del("http" + suffix, "redis" + suffix).get());
    }
  }

  private String get(String path) throws Exception {
    return http.send(
            HttpRequest.newBuilder(server.uri().resolve(path)).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private static void expectCalmLog(List<String> said) {
    List<String> surprises =
        said.stream()
            .filter(line -> LEVEL.matcher(line).results().noneMatch(m -> m.group(1).equals("INFO")))
            .toList();
    assertEquals(List.of(), surprises);
    assertTrue(said.size() < 20, () -> "a log of %d lines: %s".formatted(said.size(), said));
  }

  private void expectExactBackup(int last) throws Exception {
    Path restored = temporary.resolve("restored");
    Path out = temporary.resolve("value");
    assertEquals(0, QuipuProcess.run(out, "check", "--data=" + backup).waitFor());
    assertEquals(
        0, QuipuProcess.run(out, "restore", "--from=" + backup, "--data=" + restored).waitFor());
    Files.delete(out);
    String name = "http/%d/0".formatted(last);
    assertEquals(0, QuipuProcess.run(out, "get", name, "--data=" + restored).waitFor());
    assertEquals(Long.toString((long) BATCHES * BATCH / COUNTERS), Files.readString(out).strip());
  }

  /** Compares the second quarter with the last one. */
  private static void expectFlat(List<Held> history) {
    int descriptors = history.getFirst().descriptors();
    for (Held each : history) {
      assertTrue(each.descriptors() <= descriptors + 8, () -> "descriptors: " + history);
    }
    if (history.size() < 2 * ROUNDS_UNTIL_STEADY) {
      return;
    }
    int quarter = history.size() / 4;
    Held early = most(history.subList(quarter, 2 * quarter));
    Held late = most(history.subList(history.size() - quarter, history.size()));
    LOGGER.info("soak: SteadyIT second quarter at most {}, last quarter {}", early, late);
    assertTrue(late.residentKib() <= early.residentKib() * 1.1, () -> early + " " + late);
    assertTrue(late.descriptors() <= early.descriptors() + 2, () -> early + " " + late);
    assertTrue(late.threads() <= early.threads() + 2, () -> early + " " + late);
    assertTrue(late.directoryKib() <= early.directoryKib() * 1.25, () -> early + " " + late);
  }

  private static Held most(List<Held> held) {
    return new Held(
        held.stream().mapToLong(Held::residentKib).max().orElseThrow(),
        held.stream().mapToInt(Held::descriptors).max().orElseThrow(),
        held.stream().mapToInt(Held::threads).max().orElseThrow(),
        held.stream().mapToLong(Held::directoryKib).max().orElseThrow());
  }
}
