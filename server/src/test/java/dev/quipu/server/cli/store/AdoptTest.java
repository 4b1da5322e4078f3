package dev.quipu.server.cli.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Counter;
import dev.quipu.Quipu;
import dev.quipu.Reading;
import dev.quipu.hits.HitLog;
import dev.quipu.layer.Store;
import dev.quipu.record.StoreRecord;
import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.MarkerItem;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Commands on a store whose record is missing or differs, and the commands that fix it. */
final class AdoptTest {
  private static final Key RECORD = new Key("store-record", "record");

  @TempDir Path temporary;

  private record CommandResult(int code, String out, String err) {}

  /** Runs a command whose clock does not wait. */
  private static CommandResult run(String command) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line =
        QuipuCommand.commandLine(
            directory -> Quipu.builder().directory(directory).build(),
            new ManualClock(Clock.system().epochMillis()));
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int code = line.execute(command.split(" ", -1));
    return new CommandResult(code, out.toString(), err.toString());
  }

  private static void says(String command, int code, String words) {
    CommandResult result = run(command);
    assertEquals(code, result.code, result.toString());
    assertTrue((result.out + result.err).contains(words), result.toString());
  }

  @Test
  void countersWithoutARecordAreRejectedUntilTheStoreIsAdopted() {
    try (RedisServer redis = RedisServer.startDurable()) {
      String uri = "redis://127.0.0.1:" + redis.port();
      try (StoreDriver driver = StoreProvider.open(uri)) {
        new AtomicAdd(new Store(driver, Clock.system())).add(new Add("likes", 35, null));
      }
      says(
          "serve --http 0 --technique atomic-add --store " + uri,
          ExitCode.USAGE,
          "run: quipu adopt STORE-URI --technique atomic-add\n"); // it has no window
      says("adopt --technique atomic-add " + uri, ExitCode.OK, "technique atomic-add, window none");
      says("adopt --technique atomic-add " + uri, ExitCode.OK, "; unchanged");
      says(
          "serve --http 0 --store " + uri,
          ExitCode.USAGE,
          "technique: record atomic-add, this process marker-item; window: record none, this"
              + " process 24h.");
      says(
          "verify --technique optimistic --seconds 1 --store " + uri,
          ExitCode.USAGE,
          "technique: record atomic-add, this process optimistic");
      says(
          "adopt --window 48h " + uri,
          ExitCode.OK,
          "format 1, technique marker-item, window 48h, shards 1, floor none, ceiling none, regions"
              + " none; previous: format 1, technique atomic-add, window none, shards 1, floor none,"
              + " ceiling none, regions none");
      says(
          "serve --http 0 --window 47h --store " + uri,
          ExitCode.USAGE,
          "window: record 48h, this process 47h");
    }
  }

  /** A server that cannot start does not write the record. */
  @Test
  void aServerThatDoesNotStartLeavesNoRecord() throws IOException {
    try (RedisServer redis = RedisServer.startDurable();
        ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        StoreDriver driver = StoreProvider.open("redis://127.0.0.1:" + redis.port())) {
      String store = " --technique atomic-add --store redis://127.0.0.1:" + redis.port();
      String busy = "serve --http " + taken.getLocalPort() + store;
      assertNotEquals(ExitCode.OK, run(busy).code);
      says("serve --http 0 --resp 0" + store, ExitCode.USAGE, "needs the engine");
      assertEquals(Optional.empty(), driver.get(RECORD, Consistency.STRONG));
    }
    try (RedisServer redis = RedisServer.start("--appendonly", "no");
        StoreDriver driver = StoreProvider.open("redis://127.0.0.1:" + redis.port())) {
      says(
          "serve --http 0 --store redis://127.0.0.1:" + redis.port(), ExitCode.USAGE, "appendonly");
      assertEquals(Optional.empty(), driver.get(RECORD, Consistency.STRONG));
    }
  }

  @Test
  void noMessageRepeatsAPassword() {
    for (String command :
        List.of(
            "serve --store postgres//app:SECRET@x",
            "serve --store redis://app:SECRET",
            "serve --store redis://app:SECRET/x@h:1",
            "serve --store redis://app:SECRET|x@h:1",
            "serve --store memory: --cache memcached//app:SECRET@x",
            "serve --store memory: --queue http://app:SECRET|x@h",
            "serve --store memory: --queue ftp://app:SECRET@h/q",
            "ingest sqs --store memory: --queue http://app:SECRET|x@h",
            "adopt postgres//app:SECRET@x",
            "adopt Redis:/u:SECRET@h:1",
            "get likes --server ftp://app:SECRET@h",
            "get likes --server http://app:SECRET@127.0.0.1:1",
            "get likes --server http://app:SECRET|x@h")) {
      CommandResult result = run(command);
      assertEquals(ExitCode.USAGE, result.code, result.toString());
      assertFalse((result.out + result.err).contains("SECRET"), result.toString());
    }
  }

  @Test
  void aReplicaOfARegionIsAdoptedByItsTopology() throws IOException {
    try (RedisServer redis = RedisServer.startDurable()) {
      String uri = "redis://127.0.0.1:" + redis.port();
      Path file =
          Files.writeString(
              temporary.resolve("regions.json"),
              "{\"initial\":[\"eu\"],\"ceiling\":9,\"regions\":{\"eu\":\"%s\"}}".formatted(uri));
      String region = " --region eu --topology " + file;
      says("adopt" + region, ExitCode.OK, "technique regional, window 24h, shards per counter");
      says(
          "serve --http 0 --store " + uri,
          ExitCode.USAGE,
          "shards: record per counter, this process 1; ceiling: record 9, this process none; regions:"
              + " record eu, this process none");
      says(
          "regions --accept-loss eu" + region,
          ExitCode.USAGE,
          "region eu is not retired; retired regions: none");
      says("regions --accept-loss sa" + region, ExitCode.USAGE, "unknown region sa");
      says(
          "ingest sqs --queue http://127.0.0.1:1/000000000000/views --store " + uri,
          ExitCode.USAGE,
          "one of several regions");
      Files.writeString(
          file,
          "{\"initial\":[\"us\"],\"regions\":{\"eu\":\"%s\",\"us\":\"redis://127.0.0.1:1\"}}"
              .formatted(uri));
      String complaint = "ceiling: record 9, this process none; regions: record eu";
      says("serve --http 0" + region, ExitCode.USAGE, complaint);
      says("regions --retire us" + region, ExitCode.USAGE, complaint);
      says(
          "regions --retire us --window 48h" + region,
          ExitCode.USAGE,
          "window: record 24h, this process 48h");
    }
  }

  private static Quipu.Builder opener(String uri) {
    return Quipu.builder().store(uri).requestIdRetention(Duration.ofHours(24));
  }

  @Test
  void aProcessWithOtherScalesDoesNotWrite() {
    try (RedisServer redis = RedisServer.startDurable()) {
      String uri = "redis://127.0.0.1:" + redis.port();
      says("adopt --scale budget/*=2 " + uri, ExitCode.OK, "scale budget/*=2");
      try (Quipu quipu = opener(uri).scale("budget/*", 2).build()) {
        Counter budget = quipu.counter("budget/a");
        assertTrue(budget.add(new BigDecimal("1.5")).isApplied());
        assertEquals(Optional.of(Reading.exact(150, 2)), budget.read());
        assertThrows(UnsupportedOperationException.class, () -> budget.fixScale(3));
      }
      for (Quipu.Builder other : List.of(opener(uri), opener(uri).scale("budget/*", 3))) {
        var e = assertThrows(IllegalArgumentException.class, other::build);
        assertTrue(String.valueOf(e.getMessage()).contains("scale: record budget/*=2"));
      }
      CommandResult server = run("serve --http 0 --scale budget/*=3 --store " + uri);
      assertTrue(
          server.err.contains("scale: record budget/*=2, this process budget/*=3"), server.err);
    }
  }

  @Test
  void aCounterWithOtherBoundsIsRepaired() {
    try (RedisServer redis = RedisServer.startDurable();
        StoreDriver driver = StoreProvider.open("redis://127.0.0.1:" + redis.port())) {
      String uri = "redis://127.0.0.1:" + redis.port();
      Store store = new Store(driver, Clock.system());
      says("repair stock --shards 4 --store " + uri, ExitCode.FAILED, "no such counter: stock");
      assertEquals(Optional.empty(), store.get(StoreRecord.KEY));
      ShardOptions before = ShardOptions.fixed(4).within(Bounds.atLeast(0));
      new Sharded(store, new MarkerItem(store), before).add(new Add("stock", 50, null));
      String options = " --shards 4 --floor -10 --ceiling 60 ";
      String repair = "repair stock" + options + "--store " + uri;
      says(repair, ExitCode.USAGE, "no record");
      says("adopt" + options + uri, ExitCode.OK, "floor -10");
      says("repair stock --store " + uri, ExitCode.USAGE, "floor: record -10, this process none");
      CommandResult plain =
          run("serve --http 0 --store " + uri); // must not advise dropping the bounds
      assertTrue(
          plain.err.contains(
              "the values of the record (--technique marker-item --window 24h --floor -10 --ceiling"
                  + " 60). Adopting"),
          plain.err);
      assertFalse(plain.err.contains("quipu adopt"), plain.err);
      says(
          "repair nosuch" + options + "--store " + uri, ExitCode.FAILED, "no such counter: nosuch");
      says(repair, ExitCode.OK, "has the bounds of the record now");
      says(repair, ExitCode.OK, "needs no repair");
      ShardOptions after = ShardOptions.fixed(4).within(Bounds.between(-10, 60));
      Sharded counters = new Sharded(store, new MarkerItem(store), after);
      assertEquals(Optional.of(Reading.exact(50)), counters.read("stock"));
    }
  }

  /** A record that nobody can serve would end every start. */
  @Test
  void whatTheStoreCannotDoIsNeitherAdoptedNorComparedWithItsRecord() {
    try (RedisServer redis = RedisServer.startDurable();
        StoreDriver driver = StoreProvider.open("redis://127.0.0.1:" + redis.port())) {
      String uri = " redis://127.0.0.1:" + redis.port();
      String options = " --technique item-collection --shards 4";
      says("adopt" + options + uri, ExitCode.USAGE, "so it needs no shards");
      assertEquals(Optional.empty(), driver.get(RECORD, Consistency.STRONG));
      says("adopt --technique marker-item" + uri, ExitCode.OK, "marker-item");
      CommandResult serve = run("serve --http 0 --store" + uri + options);
      assertEquals(ExitCode.USAGE, serve.code);
      assertTrue(serve.err.contains("so it needs no shards"), serve.err);
      assertFalse(serve.err.contains("quipu adopt"), serve.err);
    }
  }

  @Test
  void hitsArePrintedThoughTheyAreNoTree() {
    try (RedisServer redis = RedisServer.startDurable();
        StoreDriver driver = StoreProvider.open("redis://127.0.0.1:" + redis.port())) {
      new HitLog(new Store(driver, Clock.system())).add(new Add("page", 3, null));
      CommandResult said =
          run(
              "explain page --store redis://127.0.0.1:%d --svg %s"
                  .formatted(redis.port(), temporary.resolve("page.svg")));
      assertEquals(ExitCode.FAILED, said.code, said.toString());
      assertTrue(said.out.startsWith("page = 3\n"), said.out);
      assertTrue(said.err.contains("page.svg was not written"), said.err);
    }
  }

  @Test
  void storesWithoutARecordCannotBeAdopted() {
    says("adopt", ExitCode.USAGE, "use either STORE-URI, or --region and --topology");
    says("adopt engine:x", ExitCode.USAGE, "needs no record");
    says("adopt memory:", ExitCode.USAGE, "needs no record");
    says("adopt redis://127.0.0.1:1", ExitCode.UNREACHABLE, "127.0.0.1");
  }
}
