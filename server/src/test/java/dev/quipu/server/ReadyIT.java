package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.server.resp.RawClient;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.LoopDisk;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** A server whose store, or disk, temporarily rejects writes is not ready and states the reason. */
final class ReadyIT {
  /** A block takes longer than the server waits for its disk. */
  private static final int SLOW_BYTES_PER_SECOND = 256;

  @TempDir Path temporary;

  private static void awaitReady(QuipuProcess server) throws Exception {
    Progress.await("ready", () -> server.send("/readyz", "").status() == 200);
  }

  /** Waits until the server is not ready; then an add is rejected with the same message. */
  private static void awaitRejecting(QuipuProcess server, String words) throws Exception {
    Progress.await("not ready", () -> server.send("/readyz", "").body().contains(words));
    assertEquals(503, server.send("/readyz", "").status());
    QuipuProcess.Answer add = server.send("/v1/counters/likes/add", "{\"delta\":1}");
    assertEquals(503, add.status(), add.body());
    assertTrue(add.body().contains(words), add.body());
    assertTrue(add.body().contains("\"outcome\":\"not-applied\""), add.body());
    assertEquals(200, server.send("/v1/counters/likes", "").status());
  }

  private QuipuProcess serve(String uri) throws IOException {
    return QuipuProcess.serve(temporary.resolve("out"), "--store", uri);
  }

  private static void addOne(QuipuProcess server) throws Exception {
    QuipuProcess.Answer add = server.send("/v1/counters/likes/add", "{\"delta\":1}");
    assertEquals(200, add.status(), add.body());
  }

  /** The engine without memory for new counters rejects them, and counts on existing ones. */
  @Test
  void atTheLimitOfMemory() throws Exception {
    Path data = temporary.resolve("data");
    try (QuipuProcess server =
        QuipuProcess.serve(
            temporary.resolve("out"), "--data", data.toString(), "--memory", "1m", "--resp", "0")) {
      addOne(server);
      QuipuProcess.Answer last = fill(server);
      assertTrue(last.body().contains("of 1,048,576 bytes"), last.body());
      assertTrue(last.body().contains("serve --memory"), last.body());
      assertTrue(last.body().contains("\"outcome\":\"not-applied\""), last.body());
      addOne(server);
      try (RawClient client = new RawClient(server.redisPort())) {
        String reply = client.ask("INCR " + "longer".repeat(80)); // than those that did fit
        assertTrue(reply.startsWith("-OOM "), reply);
        assertEquals(":3\r\n", client.ask("INCR likes"));
      }
    }
  }

  /** It is not damaged, and a restart would not help: a larger heap does. */
  @Test
  void dataThatExceedTheHeapAreNotOpened() throws Exception {
    Path lines = temporary.resolve("lines");
    String text =
        IntStream.range(0, 400_000)
            .mapToObj(i -> "{\"name\":\"%s%d\",\"delta\":1}".formatted("n".repeat(60), i))
            .collect(Collectors.joining("\n"));
    Files.writeString(lines, text);
    Path out = temporary.resolve("out");
    String data = temporary.resolve("data").toString();
    String[] fill = {"import", "--data", data, "--format", "ndjson", lines.toString()};
    String[] read = {"get", "--data", data, "n".repeat(60) + 7};
    assertEquals(0, QuipuProcess.runWith(Map.of(), out, fill).waitFor());
    assertEquals(6, QuipuProcess.runWith(Map.of(QuipuProcess.HEAP, "24m"), out, read).waitFor());
    assertEquals(0, QuipuProcess.runWith(Map.of(), out, read).waitFor());
  }

  private static QuipuProcess.Answer fill(QuipuProcess server) throws Exception {
    QuipuProcess.Answer last;
    int sent = 0;
    do {
      String lines =
          IntStream.range(sent, sent + 1_000)
              .mapToObj(i -> "{\"name\":\"%s%d\",\"delta\":1}".formatted("n".repeat(400), i))
              .collect(Collectors.joining("\n"));
      last = server.sendLines("/v1/counters/bulk", lines);
      sent += 1_000;
    } while (!last.body().contains("memory-full") && sent < 10_000);
    return last;
  }

  @Test
  void onRedis() throws Exception {
    RedisServer redis = RedisServer.startDurable();
    RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", redis.port()));
    try (redis;
        StatefulRedisConnection<String, String> admin = client.connect();
        QuipuProcess server = serve("redis://127.0.0.1:" + redis.port())) {
      addOne(server);
      awaitReady(server);
      admin.sync().configSet("appendfsync", "no");
      awaitRejecting(server, "appendfsync=no (set appendfsync always)");
      admin.sync().configSet("appendfsync", "always");
      awaitReady(server);
      admin.sync().replicaof("127.0.0.1", 1); // no server there
      awaitRejecting(server, "role=slave (use the master in the store's URI)");
      admin.sync().replicaofNoOne();
      awaitReady(server);
      addOne(server);
    } finally {
      client.shutdown();
    }
  }

  @Test
  void acceptedDurabilityIsShown() throws Exception {
    try (RedisServer redis = RedisServer.start("--appendonly", "yes", "--appendfsync", "no");
        QuipuProcess server =
            serve("redis://127.0.0.1:%d?durability=process".formatted(redis.port()))) {
      awaitReady(server);
      String details = send(server, "/readyz?verbose");
      assertTrue(details.contains("durability: process, accepted: appendfsync=no\n"), details);
      Progress.await(
          "log",
          () ->
              server
                  .said()
                  .toString()
                  .contains("\"labels.durability\":\"process, accepted: appendfsync=no\""));
    }
  }

  @Test
  void onPostgres() throws Exception {
    try (PostgresServer store = PostgresServer.start();
        QuipuProcess server =
            serve("postgresql://postgres@127.0.0.1:%d/postgres".formatted(store.port()))) {
      addOne(server);
      awaitReady(server);
      execute(
          store, "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()");
      awaitRejecting(server, "transaction_read_only=on (unset default_transaction_read_only)");
      execute(
          store, "ALTER SYSTEM SET default_transaction_read_only = off", "SELECT pg_reload_conf()");
      awaitReady(server);
      addOne(server);
    }
  }

  @Test
  void onDynamoDbWithoutItsTable() throws Exception {
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    try (DynamoDbServer store = started.get();
        DynamoDbClient admin = admin(store);
        QuipuProcess server =
            serve("dynamodb://key:secret@us-east-1/ready?endpoint=" + store.endpoint())) {
      addOne(server);
      awaitReady(server);
      var unusedDescription = admin.deleteTable(request -> request.tableName("ready"));
      Progress.await(
          "not ready", () -> send(server, "/readyz").contains("the table does not exist"));
      assertEquals(503, server.send("/readyz", "").status());
      assertTrue(metrics(server).contains("quipu_ready 0.0"));
      QuipuProcess.Answer add = server.send("/v1/counters/likes/add", "{\"delta\":1}");
      assertEquals(503, add.status(), add.body());
      assertTrue(add.body().contains("\"outcome\":\"not-applied\""), add.body());
      assertTrue(add.body().contains("quipu schema"), add.body());
    }
  }

  private static DynamoDbClient admin(DynamoDbServer store) {
    return DynamoDbClient.builder()
        .endpointOverride(store.endpoint())
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")))
        .httpClient(Apache5HttpClient.create())
        .build();
  }

  @Test
  void onAFullDisk() throws Exception {
    try (LoopDisk disk = LoopDisk.make(temporary, 200).orElseGet(ReadyIT::noDisk);
        QuipuProcess server =
            QuipuProcess.serve(
                temporary.resolve("out"), "--data", disk.path().resolve("data").toString())) {
      addOne(server);
      awaitReady(server);
      assertTrue(metrics(server).contains("quipu_ready 1.0"));
      Path ballast = disk.path().resolve("ballast");
      fill(ballast);
      Progress.await("a full log", () -> addMany(server).contains("disk full"));
      Progress.await("not ready", () -> send(server, "/readyz").contains("disk full"));
      assertTrue(metrics(server).contains("quipu_ready 0.0"));
      Progress.await("log", () -> server.said().toString().contains("Not ready"));
      QuipuProcess.Answer add = server.send("/v1/counters/likes/add", "{\"delta\":1}");
      assertEquals(507, add.status(), add.body());
      Files.delete(ballast);
      awaitReady(server);
      addOne(server);
      Progress.await("log", () -> server.said().toString().contains("Ready again"));
    }
  }

  @Test
  void onASlowDisk() throws Exception {
    try (LoopDisk disk = LoopDisk.make(temporary, 200).orElseGet(ReadyIT::noDisk);
        QuipuProcess server =
            QuipuProcess.serve(
                temporary.resolve("out"), "--data", disk.path().resolve("data").toString())) {
      addOne(server);
      awaitReady(server);
      assumeTrue(disk.throttle(SLOW_BYTES_PER_SECOND), "needs a control group of block devices");
      AtomicBoolean isReady = new AtomicBoolean(true);
      CompletableFuture<List<QuipuProcess.Answer>> waiting =
          CompletableFuture.supplyAsync(() -> addWhile(isReady, server));
      Progress.await(
          "not ready", () -> send(server, "/readyz").contains("the disk has not answered for"));
      isReady.set(false);
      assertEquals(503, server.send("/readyz", "").status());
      assertEquals(200, server.send("/livez", "").status());
      assertTrue(metrics(server).contains("quipu_ready 0.0"));
      Progress.await("log", () -> server.said().toString().contains("Not ready"));
      disk.throttle(0);
      awaitReady(server);
      List<QuipuProcess.Answer> adds = waiting.join();
      for (QuipuProcess.Answer add : adds) {
        boolean isUnknown = add.body().contains("\"outcome\":\"unknown\"");
        assertTrue(add.status() == 200 || isUnknown, add.body());
      }
      Progress.await("log", () -> server.said().toString().contains("Ready again"));
      for (int i = 0; i < adds.size(); i++) {
        String again = addUnderId(server, i).body();
        assertTrue(again.contains("\"replayed\":true"), again);
      }
      String value = "\"value\":\"%d\"".formatted(adds.size() + 1);
      assertTrue(send(server, "/v1/counters/likes").contains(value), value);
    }
  }

  /** Adds one after the other: the kernel lets the first writes of a throttled device through. */
  private static List<QuipuProcess.Answer> addWhile(AtomicBoolean isReady, QuipuProcess server) {
    List<QuipuProcess.Answer> adds = new ArrayList<>();
    while (isReady.get()) {
      adds.add(addUnderId(server, adds.size()));
    }
    return adds;
  }

  private static QuipuProcess.Answer addUnderId(QuipuProcess server, int id) {
    try {
      return server.sendLines(
          "/v1/counters/bulk",
          "{\"name\":\"likes\",\"delta\":1,\"id\":\"slow-%d\"}\n".formatted(id));
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sends an add; empty if the connection is closed without a reply. */
  private static Optional<QuipuProcess.Answer> addOrNothing(QuipuProcess server)
      throws InterruptedException {
    try {
      return Optional.of(server.send("/v1/counters/likes/add", "{\"delta\":1}"));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** A disk whose device is gone: each operation fails with an I/O error. */
  @Test
  void onADiskThatDisappears() throws Exception {
    String data = temporary.resolve("mnt/data").toString();
    Path out = temporary.resolve("out");
    int acknowledged = 0;
    int unknown = 0;
    try (LoopDisk disk = LoopDisk.make(temporary, 200).orElseGet(ReadyIT::noDisk)) {
      try (QuipuProcess server = QuipuProcess.serve(out, "--data", data, "--on-failure", "serve")) {
        addOne(server);
        acknowledged++;
        disk.cutPower();
        Optional<QuipuProcess.Answer> add = addOrNothing(server);
        add.ifPresent(each -> assertEquals(503, each.status(), each.body()));
        boolean isUnknown = add.isEmpty() || add.get().body().contains("\"outcome\":\"unknown\"");
        unknown += isUnknown ? 1 : 0;
        Progress.await("not ready", () -> server.send("/readyz", "").status() == 503);
        assertTrue(metrics(server).contains("quipu_ready 0.0"));
        Progress.await("log", () -> server.said().toString().contains("Input/output error"));
        QuipuProcess.Answer next = server.send("/v1/counters/likes/add", "{\"delta\":1}");
        assertEquals(503, next.status(), next.body());
        assertTrue(next.body().contains("\"outcome\":\"not-applied\""), next.body());
      }
      disk.powerUp();
      try (QuipuProcess server = QuipuProcess.serve(out, "--data", data)) {
        String value = send(server, "/v1/counters/likes");
        assertTrue(
            value.contains("\"value\":\"%d\"".formatted(acknowledged))
                || value.contains("\"value\":\"%d\"".formatted(acknowledged + unknown)),
            value);
        disk.cutPower();
        var unusedAnswer = addOrNothing(server); // it may end before it replies
        assertEquals(9, server.process().waitFor(), "by default it ends");
      }
    }
  }

  private static String metrics(QuipuProcess server) throws Exception {
    return send(server, "/metrics");
  }

  private static String send(QuipuProcess server, String path) throws Exception {
    return server.send(path, "").body();
  }

  /** Sends a bulk request with some megabytes of ids; returns the last line of the response. */
  private static String addMany(QuipuProcess server) throws Exception {
    String batch = UUID.randomUUID() + "x".repeat(200);
    String lines =
        IntStream.range(0, 10_000)
            .mapToObj(
                "{\"name\":\"likes\",\"delta\":1,\"id\":\"%s-%%d\"}\n".formatted(batch)::formatted)
            .collect(Collectors.joining());
    return server.sendLines("/v1/counters/bulk", lines).body();
  }

  /** The operating system destroys the socket of a port, which then accepts nothing. */
  @Test
  void onADeadPort() throws Exception {
    try (QuipuProcess server =
        QuipuProcess.serve(
            temporary.resolve("out"),
            "--resp",
            "0",
            "--data",
            temporary.resolve("data").toString())) {
      awaitReady(server);
      Process killing =
          new ProcessBuilder(
                  "ss", "-K", "state", "listening", "sport", "=", ":" + server.redisPort())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      killing.waitFor();
      assumeTrue(isDead(server.redisPort()), "needs a kernel that destroys sockets");
      Progress.await("not ready", () -> send(server, "/readyz").contains("no longer listens"));
      assertEquals(503, server.send("/readyz", "").status());
      assertEquals(200, server.send("/livez", "").status());
      assertTrue(metrics(server).contains("quipu_ready 0.0"));
      Progress.await("log", () -> server.said().toString().contains("Port no longer listens"));
      addOne(server);
    }
  }

  private static boolean isDead(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return !socket.isConnected();
    } catch (IOException e) {
      return true;
    }
  }

  private static void fill(Path ballast) throws IOException {
    byte[] block = new byte[1 << 16];
    try (OutputStream out = Files.newOutputStream(ballast)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      assertTrue(String.valueOf(full.getMessage()).contains("No space"), full.getMessage());
    }
  }

  private static LoopDisk noDisk() {
    return Assumptions.abort("needs root, loop devices and xfs_io");
  }

  private static void execute(PostgresServer server, String... statements) throws SQLException {
    String url = "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(server.port());
    try (Connection connection = DriverManager.getConnection(url, "postgres", "");
        Statement statement = connection.createStatement()) {
      statement.execute("SET default_transaction_read_only = off");
      for (String each : List.of(statements)) {
        statement.execute(each);
      }
    }
  }
}
