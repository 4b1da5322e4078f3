package dev.quipu.server.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.Operation;
import dev.quipu.server.memcache.MemcacheServer;
import dev.quipu.server.resp.RawClient;
import dev.quipu.server.resp.RespServer;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A command with an error reply has changed nothing, and no command stops the engine. */
final class WholeOrNothingTest {
  /** The seed; set by {@code -Dquipu.seed=N}. */
  private static final long SEED = Long.getLong("quipu.seed", 20_261_122);

  private static final int COMMANDS = 40_000;
  private static final List<String> RESP_COMMANDS =
      List.of(
          "SET k v NX",
          "SET k v EX v",
          "SET k v GET PX v",
          "SETNX k v",
          "SETEX k v v",
          "GETSET k v",
          "GETDEL k",
          "GETEX k EX v",
          "GETEX k PERSIST",
          "MSET k v k v",
          "MSET k v k",
          "DEL k k",
          "INCR k",
          "DECRBY k v",
          "INCRBY k v",
          "INCREX k BYINT v UBOUND v EX v",
          "INCREX k LBOUND v SATURATE PXAT v",
          "EXPIRE k v",
          "PEXPIREAT k v GT",
          "PERSIST k",
          "HSET k f v f v",
          "HSET k f v f",
          "HSETNX k f v",
          "HINCRBY k f v",
          "HDEL k f f f",
          "ZADD k v f v f",
          "ZADD k XX CH v f v",
          "ZINCRBY k v f",
          "ZREM k f f",
          "PFADD k f f",
          "PFMERGE k k k",
          "QUIPU.ADD k v ID f",
          "QUIPU.ADD k v ID f FLOOR v CEILING v",
          "QUIPU.CANCEL k f",
          "QUIPU.CANCEL f",
          "QUIPU.TX f 2 k v k v",
          "QUIPU.TX f 2 k v FLOOR v k v CEILING v",
          "QUIPU.HOLD k v ID f TTL 60000",
          "QUIPU.HOLD k v ID f TTL v FLOOR v CEILING v EXCESS ALLOW",
          "QUIPU.SETTLE f v",
          "QUIPU.RELEASE f",
          "QUIPU.EXTEND f v",
          "QUIPU.HOLDINFO f",
          "GET k",
          "MGET k k",
          "HGETALL k",
          "TTL k",
          "FLUSHALL f",
          "INCRBYFLOAT k v",
          "HELLO v",
          "UNLINK k f",
          "COPY k k",
          "RENAME k k");
  private static final List<String> MEMCACHED_COMMANDS =
      List.of(
          "set k v v 1~5",
          "add k 0 v 1~x",
          "replace k 0 v 2~77",
          "append k 0 0 1~7",
          "prepend k 0 0 1~7",
          "cas k 0 v 1 v~5",
          "incr k v",
          "decr k v",
          "delete k",
          "delete k v",
          "touch k v",
          "gat v k k",
          "gats v k f",
          "get k k",
          "mg k Nv Tv v t",
          "mg k Nv c",
          "mg k Tv",
          "ms k 1 Tv Fv~5",
          "ms k 1 MA Cv~7",
          "ms k 1 Mv~7",
          "md k Cv",
          "ma k Nv Jv Dv Tv v",
          "ma k MD Dv q",
          "ma k Of Dv Nv Jv Tv",
          "ma k Of MD Dv v",
          "ma k Nv Tv",
          "ma k Cv Dv",
          "flush_all v",
          "verbosity v",
          "incr k v noreply",
          "me k");
  private static final List<String> VALUES =
      List.of(
          "0",
          "1",
          "-1",
          "7",
          "x",
          "1.5",
          "''",
          "9223372036854775807",
          "-9223372036854775808",
          "18446744073709551615",
          "99999999999",
          "2600000",
          "4102444800000",
          "10");

  @TempDir Path directory;

  /** Returns the whole content as text. */
  private static final class Dump implements Operation {
    private final StringBuilder all = new StringBuilder();

    @Override
    public int bytesMax(CounterAccess counters) {
      return 0;
    }

    @Override
    public void on(CounterAccess counters) {
      for (String name : counters.names("", "", 1_000)) {
        all.append(name)
            .append('=')
            .append(counters.get(name))
            .append(Arrays.toString(counters.text(name)))
            .append('@')
            .append(counters.expiresAt(name))
            .append('\n');
      }
    }

    @Override
    public void failed(RuntimeException why) {
      throw why;
    }
  }

  private static String dump(Engine engine) {
    Dump dump = new Dump();
    engine.run(List.of(dump));
    return dump.all.toString();
  }

  private static String line(List<String> commands, String empty, RandomGenerator random) {
    String[] words = commands.get(random.nextInt(commands.size())).split(" ", -1);
    for (int i = 1; i < words.length; i++) {
      String value = VALUES.get(random.nextInt(VALUES.size()));
      words[i] =
          switch (words[i]) {
            case "k" -> random.nextInt(200) == 0 ? "x".repeat(600) : "k" + random.nextInt(4);
            case "f" -> random.nextInt(40) == 0 ? "y".repeat(509) : "f" + random.nextInt(3);
            default -> words[i].replace("v", value.equals("''") ? empty : value);
          };
    }
    return String.join(" ", words);
  }

  private Engine open() {
    return Engine.open(
        directory,
        EngineOptions.defaults()
            .withDurability(Durability.NONE)
            .withClock(new ManualClock(1_800_000_000_000L)));
  }

  @Test
  void redis() throws IOException {
    RandomGenerator random = Randomness.seeded(SEED);
    try (Engine engine = open();
        CommandPort server = RespServer.start(PortOptions.at(0), engine, "test", Clock.system());
        RawClient client = new RawClient(server.address().getPort())) {
      String before = "";
      for (int i = 0; i < COMMANDS; i++) {
        String line = line(RESP_COMMANDS, "''", random);
        String answer = client.ask(line);
        String after = dump(engine);
        if (answer.startsWith("-")) {
          assertEquals(before, after, () -> "seed %d: %s: %s".formatted(SEED, line, answer));
          assertFalse(answer.contains("internal error"), line);
        }
        before = after;
      }
      assertEquals(Optional.empty(), engine.failure());
    }
  }

  @Test
  void memcached() throws IOException {
    RandomGenerator random = Randomness.seeded(SEED);
    try (Engine engine = open();
        CommandPort server =
            MemcacheServer.start(PortOptions.at(0), engine, List.of("k3"), "test", Clock.system());
        RawClient client = new RawClient(server.address().getPort())) {
      String before = "";
      for (int i = 0; i < COMMANDS; i++) {
        String line = line(MEMCACHED_COMMANDS, "", random);
        client.send(line.replace("~", "\r\n") + "\r\nmn\r\n");
        String answer = client.readUntil("MN\r\n");
        String after = dump(engine);
        if (answer.matches("(?s)(CLIENT_ERROR|SERVER_ERROR|ERROR|N[FS]|EX).*")) {
          assertEquals(before, after, () -> "seed %d: %s: %s".formatted(SEED, line, answer));
          assertFalse(answer.contains("internal error"), line);
        }
        before = after;
      }
      assertEquals(Optional.empty(), engine.failure());
    }
  }
}
