package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.resp.RawClient;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.testservers.LoopDisk;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server with clients on all ports is killed repeatedly while it takes snapshots, seals request
 * ids and sweeps expired counters every 50 ms: all acknowledged adds are stored exactly once.
 */
final class CrashIT {
  private static final int CLIENTS = 6;
  private static final Duration LOOK = Duration.ofMillis(1);
  private static final int KILLS = Integer.getInteger("crash.kills", 12);
  private static final int CUTS = Integer.getInteger("crash.cuts", 5);

  private static final List<CrashClient.Protocol> PROTOCOLS =
      List.of(
          CrashClient.Protocol.HTTP, CrashClient.Protocol.REDIS, CrashClient.Protocol.MEMCACHED);

  @TempDir Path directory;

  private final long seed = Long.getLong("seed", 20_261_122L);
  private final RandomGenerator random = Randomness.seeded(seed);
  private final Map<String, Long> sums = new HashMap<>();
  private final Map<Integer, Optional<Long>> own = new HashMap<>();
  private long requests;

  /** The ways in which a server dies. */
  private interface End {
    void end(Process server) throws Exception;
  }

  /** A server and its ports. */
  private record Server(Process process, int http, int redis, int memcached)
      implements AutoCloseable {
    static Server start(Path data) throws IOException {
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:+UseSerialGC",
                  "-XX:TieredStopAtLevel=1",
                  "-Xmx256m",
                  "--enable-native-access=ALL-UNNAMED",
                  "-cp",
                  System.getProperty("java.class.path"),
                  CrashServer.class.getName(),
                  data.toString())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      String line = lines.readLine();
      while (line != null && !line.matches("\\d+ \\d+ \\d+")) { // log lines
        line = lines.readLine();
      }
      assertTrue(line != null, "the directory cannot be opened");
      Thread.ofVirtual().start(() -> lines.lines().forEach(each -> {}));
      String[] ports = line.split(" ", -1);
      return new Server(
          process,
          Integer.parseInt(ports[0]),
          Integer.parseInt(ports[1]),
          Integer.parseInt(ports[2]));
    }

    int port(CrashClient.Protocol protocol) {
      return switch (protocol) {
        case HTTP -> http;
        case REDIS -> redis;
        case MEMCACHED -> memcached;
      };
    }

    @Override
    public void close() {
      process.toHandle().destroyForcibly();
      process.onExit().join();
    }
  }

  @Test
  void acknowledgedAddsAreStoredOnceAfterEveryKill() throws Exception {
    Path data = directory.resolve("data");
    begin(data);
    for (int run = 0; run < KILLS; run++) {
      List<CrashClient> clients = run(data, run, server -> server.toHandle().destroyForcibly());
      check(data, clients, run);
    }
    report("kills", KILLS);
  }

  @Test
  void acknowledgedAddsAreStoredOnceAfterEveryPowerCut() throws Exception {
    try (LoopDisk disk = LoopDisk.make(directory, 256).orElseGet(CrashIT::noDisk)) {
      Path data = disk.path().resolve("data");
      begin(data);
      for (int run = 0; run < CUTS; run++) {
        List<CrashClient> clients =
            run(
                data,
                run,
                server -> {
                  disk.cutPower();
                  server.toHandle().destroyForcibly();
                });
        disk.powerUp();
        check(data, clients, run);
      }
    }
    report("power cuts", CUTS);
  }

  private void report(String ends, int count) {
    assertTrue(requests > 10L * count, "too few requests for a meaningful run: " + requests);
    System.out.printf("CrashIT: %d %s, %d requests, seed %d%n", count, ends, requests, seed);
  }

  /** Creates the counters that memcached clients add to, since they must exist. */
  private static void begin(Path data) throws IOException {
    try (Server server = Server.start(data);
        RawClient client = new RawClient(server.redis)) {
      for (int i = 0; i < CrashClient.COUNTERS; i++) {
        assertEquals("+OK\r\n", client.ask("SET counter-" + i + " 0"));
      }
    }
  }

  private List<CrashClient> run(Path data, int run, End end) throws Exception {
    List<CrashClient> clients = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    AtomicInteger acknowledged = new AtomicInteger();
    try (Server server = Server.start(data)) {
      for (int i = 0; i < CLIENTS; i++) {
        CrashClient.Protocol protocol = PROTOCOLS.get(i % PROTOCOLS.size());
        CrashClient client =
            new CrashClient(
                protocol,
                run + "-" + i,
                server.port(protocol),
                own.getOrDefault(i, Optional.empty()),
                Randomness.seeded(random.nextLong()),
                acknowledged);
        clients.add(client);
        threads.add(Thread.ofPlatform().start(client));
      }
      int target = random.nextInt(Soak.size(1_500, 3_000));
      Progress progress = new Progress("acknowledged", acknowledged::get);
      while (acknowledged.get() < target) {
        progress.check();
        Clock.system().sleep(LOOK);
      }
      end.end(server.process);
      server.process.onExit().join();
      for (Thread each : threads) {
        each.join();
      }
    }
    return clients;
  }

  private void check(Path data, List<CrashClient> clients, int run) throws Exception {
    try (Server server = Server.start(data);
        RawClient redis = new RawClient(server.redis)) {
      for (CrashClient client : clients) {
        assertEquals(List.of(), client.wrong(), "run " + run);
        for (int number = 0; number < client.sent(); number++) {
          checkRequest(redis, client, number);
        }
      }
      for (int i = 0; i < CrashClient.COUNTERS; i++) {
        long value = value(redis, "counter-" + i).orElseThrow();
        assertEquals(sums.getOrDefault("counter-" + i, 0L), value, "counter " + i + ", run " + run);
      }
      for (int i = 0; i < CLIENTS; i++) {
        Optional<Long> now = value(redis, CrashClient.ownKey(i));
        List<Optional<Long>> mayBe = clients.get(i).mayBe();
        assertTrue(mayBe.contains(now), "own key %d is %s of %s".formatted(i, now, mayBe));
        own.put(i, now);
      }
    }
  }

  private void checkRequest(RawClient redis, CrashClient client, int number) throws IOException {
    String counter = client.counter(number);
    String outcome = redis.ask("QUIPU.OUTCOME %s %s".formatted(counter, client.id(number)));
    boolean isApplied = outcome.contains("applied");
    assertTrue(
        isApplied || !client.isAnswered(number),
        "LOST: %s was acknowledged, seed %d".formatted(client.id(number), seed));
    if (isApplied) {
      sums.merge(counter, (long) client.delta(number), Long::sum);
      requests++;
    }
  }

  private static Optional<Long> value(RawClient redis, String key) throws IOException {
    String answer = redis.ask("GET " + key);
    return answer.equals("$-1\r\n")
        ? Optional.empty()
        : Optional.of(Long.parseLong(answer.split("\r\n", -1)[1]));
  }

  private static LoopDisk noDisk() {
    return Assumptions.abort("needs root, loop devices and xfs_io");
  }
}
