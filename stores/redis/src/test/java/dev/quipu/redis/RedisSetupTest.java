package dev.quipu.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.group.Group;
import dev.quipu.store.group.Member;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.FlushMode;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Loading of the script, and clients of the user. */
final class RedisSetupTest {
  private static final RedisServer SERVER = RedisServer.startDurable();
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final Key KEY = new Key("p", "s");
  private static final Write ADD =
      new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, 1)), Condition.always());

  private static final Write MARKER =
      new Write.Put(new Key("p", "marker"), Map.of(), Optional.empty(), new Condition.Absent());

  private static RedisClient client() {
    return RedisClient.create(RedisURI.create("127.0.0.1", SERVER.port()));
  }

  private static AclSetuserArgs mayDoAll(String password) {
    return AclSetuserArgs.Builder.on().addPassword(password).allKeys().allChannels().allCommands();
  }

  private static long value(StoreDriver driver) {
    return driver.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE);
  }

  @Test
  void aServerThatForgotTheScriptGetsItAgain() {
    RedisClient client = client();
    try (StatefulRedisConnection<String, String> admin = client.connect();
        StoreDriver driver = StoreProvider.open(Stores.newUri("redis", SERVER.port(), TIMEOUT))) {
      driver.write(ADD);
      admin.sync().functionFlush(FlushMode.SYNC);
      driver.write(ADD);
      assertEquals(2, value(driver));
    } finally {
      client.shutdown();
    }
  }

  @Test
  void whereFunctionsAreNotAllowedTheScriptIsCalledByItsDigest() {
    RedisClient client = client();
    String secret = "without-functions";
    try (StatefulRedisConnection<String, String> admin = client.connect()) {
      admin
          .sync()
          .aclSetuser(
              "plain",
              mayDoAll(secret)
                  .removeCommand(CommandType.FUNCTION)
                  .removeCommand(CommandType.FCALL));
      String uri = "redis://plain:%s@127.0.0.1:%d?prefix=digest".formatted(secret, SERVER.port());
      try (StoreDriver driver = StoreProvider.open(uri)) {
        driver.write(ADD);
        admin.sync().scriptFlush();
        driver.write(ADD);
        assertEquals(2, value(driver));
        assertEquals(1, ScanDriver.of(driver).scan(Scan.all("p")).items().size());
      }
    } finally {
      client.shutdown();
    }
  }

  @Test
  void aClientThatRepeatsByItselfIsNoticed() {
    assertTrue(RedisConnection.repeats(ClientOptions.create()));
    assertFalse(RedisConnection.repeats(ClientOptions.builder().autoReconnect(false).build()));
    assertFalse(
        RedisConnection.repeats(ClientOptions.builder().replayFilter(command -> true).build()));
  }

  @Test
  void aClientThatWasHandedInStaysOpen() {
    RedisClient client = client();
    try {
      StoreDriver driver = RedisDriver.of(client, "handed-in", TIMEOUT);
      driver.write(ADD);
      driver.close();
      try (StatefulRedisConnection<String, String> own = client.connect()) {
        assertEquals("PONG", own.sync().ping());
        assertTrue(own.sync().exists("handed-in:{p}:s") == 1);
      }
    } finally {
      client.shutdown();
    }
  }

  @Test
  void durabilityIsWhatTheServerSays() {
    try (RedisServer careless =
            RedisServer.start("--appendonly", "yes", "--appendfsync", "everysec");
        StoreDriver durable = StoreProvider.open(Stores.newUri("redis", SERVER.port(), TIMEOUT));
        StoreDriver not = StoreProvider.open(Stores.newUri("redis", careless.port(), TIMEOUT))) {
      assertTrue(durable.profile().has(Capability.DURABLE));
      assertFalse(not.profile().has(Capability.DURABLE));
    }
  }

  @Test
  void aServerWithoutRoomSaysSoAndKeepsWhatItHas() {
    try (RedisServer small =
            RedisServer.start("--maxmemory", "1500kb", "--maxmemory-policy", "noeviction");
        StoreDriver driver = StoreProvider.open(Stores.newUri("redis", small.port(), TIMEOUT))) {
      driver.write(ADD);
      QuipuException full =
          assertThrows(
              QuipuException.class,
              () -> {
                for (int i = 0; i < 1_000; i++) {
                  Field text = new Field.Text("x".repeat(10_000));
                  driver.write(
                      new Write.Put(
                          new Key("p", "fill" + i),
                          Map.of("t", text),
                          Optional.empty(),
                          Condition.always()));
                }
              });
      assertEquals(Outcome.NOT_APPLIED, full.outcome());
      assertEquals(Reason.FULL, full.reason());
      assertEquals(1, value(driver));
    }
  }

  /** A failed step must not leave earlier steps applied: the marker without the count. */
  @Test
  void aBatchWhoseIndexIsSomethingElseWritesNothing() {
    RedisClient client = client();
    try (StatefulRedisConnection<String, String> admin = client.connect();
        StoreDriver driver =
            StoreProvider.open("redis://127.0.0.1:%d?prefix=wrong".formatted(SERVER.port()))) {
      admin.sync().set("wrong:{p}", "not an index");
      expectNothingWritten(driver, Reason.CORRUPT, "WRONGTYPE");
      assertEquals(List.of("wrong:{p}"), admin.sync().keys("wrong:*"));
      admin.sync().del("wrong:{p}");
      BatchDriver.of(driver).writeAll(List.of(MARKER, ADD), null);
      assertEquals(1, value(driver));
    } finally {
      client.shutdown();
    }
  }

  @Test
  void aBatchOfWhichAStepIsNotAllowedWritesNothing() {
    RedisClient client = client();
    try (StatefulRedisConnection<String, String> admin = client.connect()) {
      admin.sync().aclSetuser("partly", mayDoAll("p"));
      String uri = "redis://partly:p@127.0.0.1:%d?prefix=partly".formatted(SERVER.port());
      try (StoreDriver driver = StoreProvider.open(uri)) {
        for (CommandType command :
            List.of(CommandType.ZADD, CommandType.HSET, CommandType.HGETALL)) {
          admin
              .sync()
              .aclSetuser("partly", AclSetuserArgs.Builder.allCommands().removeCommand(command));
          expectNothingWritten(driver, Reason.DENIED, "NOPERM " + command);
          assertEquals(List.of(), admin.sync().keys("partly:*"));
        }
        admin
            .sync()
            .aclSetuser(
                "partly", AclSetuserArgs.Builder.allCommands().removeCommand(CommandType.HGET));
        expectNothingWritten(driver, Reason.DENIED, "can't run this command");
        admin.sync().aclSetuser("partly", AclSetuserArgs.Builder.allCommands());
        BatchDriver.of(driver).writeAll(List.of(MARKER, ADD), null);
        assertEquals(1, value(driver));
      }
    } finally {
      client.shutdown();
    }
  }

  /** So that no marker is there without its add: a repeat would be taken for counted. */
  @Test
  void aGroupOfWhichAStepIsNotAllowedWritesNothing() {
    RedisClient client = client();
    try (StatefulRedisConnection<String, String> admin = client.connect()) {
      admin.sync().aclSetuser("grouped", mayDoAll("p"));
      String uri = "redis://grouped:p@127.0.0.1:%d?prefix=grouped".formatted(SERVER.port());
      try (RedisDriver driver = (RedisDriver) StoreProvider.open(uri)) {
        var adds = new Group(KEY, List.of(member("a"), member("b"), member("c")));
        for (CommandType command :
            List.of(
                CommandType.HSET, CommandType.PEXPIREAT, CommandType.ZADD, CommandType.HGETALL)) {
          admin
              .sync()
              .aclSetuser("grouped", AclSetuserArgs.Builder.allCommands().removeCommand(command));
          List<Object> answer = driver.group(adds);
          assertEquals(List.of("failed", "NOPERM %s is not allowed".formatted(command)), answer);
          assertEquals(List.of(), admin.sync().keys("grouped:*"));
        }
        admin.sync().aclSetuser("grouped", AclSetuserArgs.Builder.allCommands());
        admin.sync().set("grouped:{q}", "not an index"); // that of the markers
        assertEquals("failed", driver.group(adds).getFirst());
        assertEquals(List.of("grouped:{q}"), admin.sync().keys("grouped:*"));
        admin.sync().del("grouped:{q}");
        assertEquals("done", driver.group(adds).getFirst());
        assertEquals(3, value(driver));
        assertTrue(admin.sync().pttl("grouped:{q}:a") > 60_000);
        assertEquals(3, ScanDriver.of(driver).scan(Scan.all("q")).items().size());
        assertEquals(1, ScanDriver.of(driver).scan(Scan.all("p")).items().size());
      }
    } finally {
      client.shutdown();
    }
  }

  /** A number that is none of the driver's, and one that exceeds 64 bits. */
  @Test
  void aDamagedValueIsNotAddedTo() {
    RedisClient client = client();
    String name = "damaged:{p}:s";
    try (StatefulRedisConnection<String, String> admin = client.connect();
        RedisDriver driver =
            (RedisDriver)
                StoreProvider.open(
                    "redis://127.0.0.1:%d?prefix=damaged".formatted(SERVER.port()))) {
      driver.write(ADD);
      var adds = new Group(KEY, List.of(member("a"), member("b")));
      for (String value :
          List.of("abc", "12x", "", "-", "1.5", "1e3", " 5", "+5", "9223372036854775808")) {
        admin.sync().hset(name, "n:value", value);
        Map<String, String> before = admin.sync().hgetall(name);
        expectNothingWritten(driver, Reason.CORRUPT, "damaged");
        assertEquals(List.of("type"), driver.group(adds), value);
        assertEquals(before, admin.sync().hgetall(name));
        assertEquals(1, admin.sync().keys("damaged:*:*").size());
      }
      for (String value : List.of("-9223372036854775808", "9223372036854775806", "-1", "0")) {
        admin.sync().hset(name, "n:value", value);
        driver.write(ADD);
        assertEquals(Long.parseLong(value) + 1, value(driver));
      }
    } finally {
      client.shutdown();
    }
  }

  /** Returns an add of 1 whose marker expires in a minute. */
  private static Member member(String marker) {
    Instant soon = Instant.ofEpochMilli(Clock.system().epochMillis()).plusSeconds(60);
    Write put =
        new Write.Put(new Key("q", marker), Map.of(), Optional.of(soon), new Condition.Absent());
    return Member.of(List.of(put, ADD)).orElseThrow();
  }

  private static void expectNothingWritten(StoreDriver driver, Reason reason, String answer) {
    QuipuException why =
        assertThrows(
            QuipuException.class,
            () -> BatchDriver.of(driver).writeAll(List.of(MARKER, ADD), null));
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(reason, why.reason());
    assertTrue(String.valueOf(why.getMessage()).contains(answer), why.getMessage());
  }

  /** The next scan removes an expired item from the index. */
  @Test
  void whatRedisDroppedIsNoLongerScanned() {
    RedisClient client = client();
    try (StatefulRedisConnection<String, String> admin = client.connect();
        StoreDriver driver =
            StoreProvider.open("redis://127.0.0.1:%d?prefix=dropped".formatted(SERVER.port()))) {
      Instant soon = Instant.ofEpochMilli(Clock.system().epochMillis()).plusSeconds(60);
      driver.write(new Write.Put(KEY, Map.of(), Optional.of(soon), Condition.always()));
      driver.write(
          new Write.Put(new Key("p", "t"), Map.of(), Optional.empty(), Condition.always()));
      assertTrue(admin.sync().pttl("dropped:{p}:s") > 60_000);
      admin.sync().del("dropped:{p}:s"); // as expiry does
      assertEquals(2, admin.sync().zcard("dropped:{p}"));
      assertEquals(1, ScanDriver.of(driver).scan(Scan.all("p")).items().size());
      assertEquals(1, admin.sync().zcard("dropped:{p}"));
    } finally {
      client.shutdown();
    }
  }

  @Test
  void connectionErrorsStateTheCauseAndTheRemedy() {
    try (RedisServer closed = RedisServer.start("--requirepass", "the-secret")) {
      int port = closed.port();
      String remedy = "Check the user and the password in the store's URI";
      unconnected("redis://:wrong@127.0.0.1:" + port, Reason.DENIED, "WRONGPASS", remedy);
      unconnected("redis://nobody:wrong@127.0.0.1:" + port, Reason.DENIED, "WRONGPASS", remedy);
      unconnected(
          "redis://127.0.0.1:" + port, Reason.DENIED, "NOAUTH", "The server requires a password");
      unconnected(
          "redis://:the-secret@127.0.0.1:%d/99".formatted(port),
          Reason.DENIED,
          "DB index is out of range",
          "Check the database, the number after HOST:PORT/");
      unconnected("redis-cluster://:wrong@127.0.0.1:" + port, Reason.DENIED, "WRONGPASS", remedy);
    }
    unconnected(
        "redis://127.0.0.1:1",
        Reason.UNAVAILABLE,
        "Redis (127.0.0.1:1): cannot connect: Connection refused",
        "Check that the server is running");
  }

  private static void unconnected(String uri, Reason reason, String why, String remedy) {
    QuipuException e = assertThrows(QuipuException.class, () -> StoreProvider.open(uri).close());
    String message = String.valueOf(e.getMessage());
    assertTrue(message.contains(why) && message.contains(remedy), message);
    assertFalse(
        message.contains("secret") || message.contains(":wrong") || message.contains("unresolved"),
        message);
    assertEquals(reason, e.reason(), message);
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
  }

  @Test
  void whatIsWrongInAUriIsNamed() {
    wrong("redis://127.0.0.1/database", "the database in the store's URI is 'database'");
    wrong("redis://127.0.0.1:6379,127.0.0.1:6380", "several hosts");
    wrong("redis://127.0.0.1?prefix={x}", "not well-formed");
    wrong("redis://127.0.0.1?prefix=a%20b", "prefix is 'a b'");
    wrong("redis://", "not well-formed");
  }

  private static void wrong(String uri, String message) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> StoreProvider.open(uri));
    assertTrue(String.valueOf(e.getMessage()).contains(message), e.getMessage());
  }
}
