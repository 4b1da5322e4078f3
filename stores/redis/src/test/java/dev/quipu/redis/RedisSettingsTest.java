package dev.quipu.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.layer.StoreWatch;
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
import dev.quipu.store.WriteResult;
import dev.quipu.technique.MarkerItem;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import io.lettuce.core.AclCategory;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.FlushMode;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Servers that can lose what they acknowledged, and servers that are full. */
final class RedisSettingsTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final Add FIRST = new Add("likes", 1, RequestId.of("request-first"));

  private static List<String> settings(StoreDriver driver) {
    return driver.inspect().stream().map(each -> each.effect() + " " + each.setting()).toList();
  }

  private static void admin(
      RedisServer server, Consumer<StatefulRedisConnection<String, String>> action) {
    RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      action.accept(connection);
    } finally {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
  }

  private static void set(RedisServer server, String name, String value) {
    admin(server, connection -> connection.sync().configSet(name, value));
  }

  private static StoreDriver open(RedisServer server, String more) {
    return StoreProvider.open(Stores.newUri("redis", server.port(), TIMEOUT) + more);
  }

  @Test
  void settingsThatCanLoseWritesAreFoundAtRuntime() {
    try (RedisServer server = RedisServer.startDurable();
        StoreDriver driver = open(server, "");
        StoreDriver accepting = open(server, "&durability=none")) {
      assertEquals(List.of(), settings(driver));
      set(server, "maxmemory-policy", "allkeys-lru");
      assertEquals(List.of(), settings(driver)); // without a limit nothing is evicted
      set(server, "maxmemory", "100mb");
      assertEquals(List.of("LOSES_WRITES maxmemory-policy=allkeys-lru"), settings(driver));
      set(server, "maxmemory-policy", "volatile-ttl"); // markers have an expiry
      assertEquals(List.of("LOSES_WRITES maxmemory-policy=volatile-ttl"), settings(driver));
      assertEquals(
          List.of("LOSES_WRITES_BY_CHOICE maxmemory-policy=volatile-ttl"), settings(accepting));
      set(server, "maxmemory-policy", "noeviction");
      assertEquals(List.of(), settings(driver));
      set(server, "appendfsync", "everysec");
      assertEquals(List.of("LOSES_WRITES appendfsync=everysec"), settings(driver));
      set(server, "appendfsync", "always");
      set(server, "no-appendfsync-on-rewrite", "yes");
      assertEquals(List.of("LOSES_WRITES no-appendfsync-on-rewrite=yes"), settings(driver));
      set(server, "appendonly", "no");
      assertEquals(List.of("LOSES_WRITES appendonly=no"), settings(driver));
    }
  }

  @Test
  void onlyALogThatIsWrittenBeforeTheReplySurvivesTheEndOfTheProcess() {
    try (RedisServer server = RedisServer.startDurable();
        StoreDriver accepting = open(server, "&durability=process")) {
      set(server, "appendfsync", "no");
      assertEquals(List.of("LOSES_WRITES_BY_CHOICE appendfsync=no"), settings(accepting));
      set(server, "appendfsync", "everysec"); // it is written later if a sync takes long
      assertEquals(List.of("LOSES_WRITES appendfsync=everysec"), settings(accepting));
    }
  }

  /** Changes the rights of a user, who may be new. */
  private static void allow(RedisServer server, String user, AclSetuserArgs rights) {
    admin(server, connection -> connection.sync().aclSetuser(user, rights));
  }

  @Test
  void hiddenSettingsAreNotAssumedSafe() {
    try (RedisServer server = RedisServer.startDurable()) {
      allow(
          server,
          "hosted",
          AclSetuserArgs.Builder.on()
              .addPassword("p")
              .allKeys()
              .allChannels()
              .allCommands()
              .removeCommand(CommandType.CONFIG));
      String uri = "redis://hosted:p@127.0.0.1:%d".formatted(server.port());
      try (StoreDriver driver = StoreProvider.open(uri)) {
        assertEquals(List.of("LOSES_WRITES appendfsync=unknown"), settings(driver));
        assertFalse(driver.profile().has(Capability.DURABLE));
      }
      allow(server, "hosted", AclSetuserArgs.Builder.removeCommand(CommandType.INFO));
      try (StoreDriver driver = StoreProvider.open(uri)) {
        assertEquals(List.of("LOSES_WRITES appendonly=unknown"), settings(driver));
      }
    }
  }

  /** The rights that the guide to stores lists. */
  @Test
  void theRightsOfTheGuideAreEnough() {
    try (RedisServer server = RedisServer.startDurable()) {
      allow(
          server,
          "quipu",
          AclSetuserArgs.Builder.on()
              .addPassword("p")
              .keyPattern("quipu*")
              .addCategory(AclCategory.READ)
              .addCategory(AclCategory.WRITE)
              .addCategory(AclCategory.SCRIPTING)
              .addCategory(AclCategory.CONNECTION)
              .addCommand(CommandType.CONFIG, CommandType.GET)
              .addCommand(CommandType.INFO)
              .addCommand(CommandType.TIME));
      String uri = "redis://quipu:p@127.0.0.1:%d".formatted(server.port());
      try (StoreDriver driver = StoreProvider.open(uri)) {
        assertEquals(List.of(), settings(driver));
        assertTrue(driver.profile().has(Capability.DURABLE));
        assertTrue(driver.time().isPresent());
        Key key = new Key("p", "s");
        Write add =
            new Write.Update(key, List.of(new Change.Add(Item.VALUE, 1)), Condition.always());
        driver.write(add);
        assertEquals(1, driver.get(key, Consistency.STRONG).orElseThrow().number(Item.VALUE));
        assertEquals(1, ScanDriver.of(driver).scan(Scan.all("p")).items().size());
        driver.write(new Write.Delete(key, Condition.always()));
      }
    }
  }

  /** A lost connection is no setting that is hidden. */
  @Test
  void anAnswerThatIsLostIsAskedForAgain() throws Exception {
    try (RedisServer server = RedisServer.startDurable();
        CutConnections proxy = new CutConnections(server.port(), "CONFIG");
        StoreDriver driver = StoreProvider.open(Stores.newUri("redis", proxy.port(), TIMEOUT))) {
      proxy.cut(2);
      QuipuException lost = assertThrows(QuipuException.class, driver::inspect);
      assertTrue(lost.reason().isTemporary(), lost.getMessage());
      assertTrue(
          lost.getMessage().startsWith("Redis (127.0.0.1:%d): ".formatted(proxy.port())),
          lost.getMessage());
      assertFalse(lost.getMessage().contains("null"), lost.getMessage());
      proxy.cut(2);
      try (StoreWatch watch = new StoreWatch(new Store(driver, Clock.system()))) {
        assertEquals(Optional.empty(), watch.impediment());
      }
      assertEquals(List.of(), settings(driver));
    }
  }

  @Test
  void aUserWhoMayNotCallWhatTheDriverCallsIsFound() {
    List<String> missing = List.of("REJECTS_WRITES rights=missing");
    try (RedisServer server = RedisServer.startDurable()) {
      AclSetuserArgs all =
          AclSetuserArgs.Builder.on().addPassword("p").allKeys().allChannels().allCommands();
      allow(server, "app", all);
      try (StoreDriver driver =
          StoreProvider.open("redis://app:p@127.0.0.1:%d".formatted(server.port()))) {
        assertEquals(List.of(), settings(driver));
        for (AclSetuserArgs less :
            List.of(
                AclSetuserArgs.Builder.removeCommand(CommandType.FCALL)
                    .removeCommand(CommandType.EVAL)
                    .removeCommand(CommandType.EVALSHA),
                AclSetuserArgs.Builder.removeCommand(CommandType.HSET),
                AclSetuserArgs.Builder.resetKeys().keyPattern("other*"))) {
          allow(server, "app", less);
          assertEquals(missing, settings(driver));
          allow(server, "app", all);
          assertEquals(List.of(), settings(driver));
        }
      }
    }
  }

  @Test
  void aStoreThatCanLoseWritesIsRejectedUnlessThatWasChosen() {
    try (RedisServer server = RedisServer.start("--appendonly", "no")) {
      try (StoreDriver driver = open(server, "")) {
        Store store = new Store(driver, Clock.system());
        IllegalArgumentException e =
            assertThrows(IllegalArgumentException.class, () -> new StoreWatch(store).close());
        assertTrue(String.valueOf(e.getMessage()).contains("appendonly=no"), e.getMessage());
        assertTrue(String.valueOf(e.getMessage()).contains("durability=none"), e.getMessage());
        QuipuException write =
            assertThrows(QuipuException.class, () -> new MarkerItem(store).add(FIRST));
        assertEquals(Outcome.NOT_APPLIED, write.outcome());
        assertEquals(Optional.empty(), new MarkerItem(store).read("likes"));
      }
      try (StoreDriver driver = open(server, "&durability=process")) {
        Store store = new Store(driver, Clock.system());
        assertThrows(IllegalArgumentException.class, () -> new StoreWatch(store).close());
      }
      try (StoreDriver driver = open(server, "&durability=none")) {
        Store store = new Store(driver, Clock.system());
        StoreWatch watch = new StoreWatch(store);
        assertEquals("none, accepted: appendonly=no", watch.durability());
        assertInstanceOf(AddResult.Applied.class, new MarkerItem(store).add(FIRST));
        watch.close();
      }
    }
  }

  /** Reads, repeats, deletes and restarts need no memory. */
  @Test
  void aFullServerIsReadAndRepeatsAreAnswered() {
    try (RedisServer server = RedisServer.startDurable()) {
      String uri = Stores.newUri("redis", server.port(), TIMEOUT);
      try (StoreDriver driver = StoreProvider.open(uri)) {
        new MarkerItem(new Store(driver, Clock.system())).add(FIRST);
        driver.write(filler());
      }
      set(server, "maxmemory", "1kb");
      try (StoreDriver driver = StoreProvider.open(uri)) { // it has the library
        assertFullButReadable(driver);
      }
      admin(server, connection -> connection.sync().functionFlush(FlushMode.SYNC));
      try (StoreDriver driver = StoreProvider.open(uri)) { // and there is no memory for the library
        assertFullButReadable(driver);
        assertInstanceOf(
            WriteResult.Applied.class,
            driver.write(new Write.Delete(filler().key(), Condition.always())));
        assertEquals(Optional.empty(), driver.get(filler().key(), Consistency.STRONG));
      }
      set(server, "maxmemory", "0");
      try (StoreDriver driver = StoreProvider.open(uri)) {
        MarkerItem counters = new MarkerItem(new Store(driver, Clock.system()));
        counters.add(new Add("likes", 1, RequestId.of("request-second")));
        assertEquals(2, counters.read("likes").orElseThrow().value());
      }
    }
  }

  private static Write filler() {
    Map<String, Field> fields = Map.of("t", new Field.Text("x".repeat(10_000)));
    return new Write.Put(new Key("p", "filler"), fields, Optional.empty(), Condition.always());
  }

  private static void assertFullButReadable(StoreDriver driver) {
    MarkerItem counters = new MarkerItem(new Store(driver, Clock.system()));
    assertEquals(1, counters.read("likes").orElseThrow().value());
    assertEquals(1, ScanDriver.of(driver).scan(Scan.all("p")).items().size());
    assertEquals(1, BatchDriver.of(driver).getAll(List.of(filler().key())).size());
    assertInstanceOf(AddResult.Replayed.class, counters.add(FIRST));
    QuipuException full =
        assertThrows(
            QuipuException.class,
            () -> counters.add(new Add("likes", 1, RequestId.of("request-second"))));
    assertEquals(Outcome.NOT_APPLIED, full.outcome());
    assertEquals(Reason.FULL, full.reason());
    assertEquals(1, counters.read("likes").orElseThrow().value());
  }
}
