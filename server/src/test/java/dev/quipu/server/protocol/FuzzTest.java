package dev.quipu.server.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Reading;
import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.memcache.MemcacheServer;
import dev.quipu.server.resp.RawClient;
import dev.quipu.server.resp.RespServer;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/*
 * Commands that are complete, truncated, mutated, made of wrong numbers, or noise: a hundred
 * thousand to each port (a million in a soak), over connections that close anywhere. Meanwhile one
 * connection counts, and its count must stay exact.
 */

/** Malformed input causes no crash, no leak and no wrong count. */
final class FuzzTest {
  /** The seed; set by {@code -Dseed=N}. */
  private static final long SEED = Long.getLong("seed", 20_261_122);

  private static final int INPUTS = Soak.size(100_000, 1_000_000);

  /** A malformed command closes a Redis connection but not a memcached one. */
  private static final int OF_A_REDIS_CONNECTION = 20;

  private static final int OF_A_MEMCACHED_CONNECTION = 1_000;
  private static final long LEAK_BYTES_MAX = 64L << 20;
  private static final List<String> RESP_WORDS =
      List.of(
          "INCR",
          "INCRBY",
          "GET",
          "SET",
          "DEL",
          "MSET",
          "INCREX",
          "EXPIRE",
          "TTL",
          "SCAN",
          "KEYS",
          "MULTI",
          "EXEC",
          "WATCH",
          "DISCARD",
          "HINCRBY",
          "HGETALL",
          "ZINCRBY",
          "ZREVRANGE",
          "PFADD",
          "PFCOUNT",
          "QUIPU.ADD",
          "QUIPU.CANCEL",
          "QUIPU.TX",
          "QUIPU.HOLD",
          "QUIPU.SETTLE",
          "QUIPU.RELEASE",
          "QUIPU.EXPLAIN",
          "HELLO",
          "CLIENT",
          "COMMAND",
          "CONFIG",
          "INFO",
          "RESET",
          "TYPE",
          "ID",
          "FLOOR",
          "EX",
          "LIST",
          "DOCS",
          "FLUSHALL",
          "k1",
          "k2",
          "k3",
          "0",
          "1",
          "-1",
          "3",
          "9223372036854775807",
          "-9223372036854775808",
          "1.5",
          "*");
  private static final List<String> MEMCACHED_WORDS =
      List.of(
          "get",
          "gets",
          "set",
          "add",
          "append",
          "cas",
          "incr",
          "decr",
          "delete",
          "touch",
          "gat",
          "mg",
          "ms",
          "md",
          "ma",
          "me",
          "mn",
          "stats",
          "version",
          "verbosity",
          "flush_all",
          "noreply",
          "k1",
          "k2",
          "k3",
          "0",
          "1",
          "-1",
          "2",
          "4",
          "5000",
          "18446744073709551615",
          "99999999999",
          "v",
          "q",
          "b",
          "N0",
          "J5",
          "D2",
          "MD",
          "Oid-1",
          "T1",
          "C1",
          "S9",
          "k",
          "t");

  @TempDir Path directory;

  /** Encodes words as a command. */
  private interface Form {
    String of(List<String> words, RandomGenerator random);
  }

  private static String resp(List<String> words, RandomGenerator random) {
    if (random.nextInt(4) == 0) {
      return String.join(" ", words) + "\r\n";
    }
    StringBuilder all = new StringBuilder("*" + words.size() + "\r\n");
    words.forEach(word -> all.append("$%d\r\n%s\r\n".formatted(word.length(), word)));
    return all.toString();
  }

  private static String memcached(List<String> words, RandomGenerator random) {
    String data = random.nextInt(3) == 0 ? "12\r\n" : "";
    return String.join(" ", words) + "\r\n" + data;
  }

  private static String input(List<String> known, Form form, RandomGenerator random) {
    int count = 1 + random.nextInt(6);
    List<String> words = random.ints(count, 0, known.size()).mapToObj(known::get).toList();
    StringBuilder whole = new StringBuilder(form.of(words, random));
    int at = random.nextInt(whole.length());
    switch (random.nextInt(8)) {
      case 0 -> whole.setLength(at);
      case 1 -> whole.setCharAt(at, (char) random.nextInt(256));
      case 2 -> whole.insert(at, random.nextInt());
      case 3 -> {
        whole.setLength(0);
        random.ints(random.nextInt(40), 0, 256).forEach(each -> whole.append((char) each));
      }
      default -> {
        // unchanged
      }
    }
    if (random.nextInt(20_000) == 0) {
      whole.insert(Math.min(at, whole.length()), "x".repeat(100_000));
    }
    return whole.toString();
  }

  private static void fuzz(
      int port, List<String> known, Form form, int most, RandomGenerator random)
      throws IOException {
    int sent = 0;
    while (sent < INPUTS) {
      int left = 1 + random.nextInt(most);
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        Thread reader = Thread.ofVirtual().start(() -> drain(socket));
        StringBuilder bytes = new StringBuilder();
        for (; left > 0; left--) {
          bytes.append(input(known, form, random));
          sent++;
          if (random.nextInt(50) == 0 || left == 1) {
            socket.getOutputStream().write(bytes.toString().getBytes(StandardCharsets.ISO_8859_1));
            bytes.setLength(0);
          }
        }
        if (random.nextBoolean()) {
          socket.shutdownOutput();
          reader.join();
        }
      } catch (IOException e) {
        // closed by the server after a malformed command
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }

  private static void drain(Socket socket) {
    byte[] buffer = new byte[1 << 16];
    try {
      while (socket.getInputStream().read(buffer) >= 0) {
        // discarded
      }
    } catch (IOException e) {
      // closed
    }
  }

  /** Fails a run in which nearly all commands were lost with their connections. */
  private static void requireTaken(String figures, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(figures);
    assertTrue(found.find(), figures);
    long taken = Long.parseLong(found.group(1));
    assertTrue(taken > INPUTS / 4, () -> taken + " commands were taken: this run is void");
  }

  private Engine open() {
    return Engine.open(directory, EngineOptions.defaults().withDurability(Durability.NONE));
  }

  /** Returns the number of network buffers in use. */
  private static long used() {
    return PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
  }

  @Test
  void redis() throws IOException {
    RandomGenerator random = Randomness.seeded(SEED);
    try (Engine engine = open();
        CommandPort server = RespServer.start(PortOptions.at(0), engine, "test", Clock.system());
        RawClient steady = new RawClient(server.address().getPort())) {
      long before = used();
      for (int part = 1; part <= 2; part++) {
        assertEquals(":" + part + "\r\n", steady.ask("INCR steady"), () -> "seed " + SEED);
        if (part < 2) {
          fuzz(
              server.address().getPort(),
              RESP_WORDS,
              FuzzTest::resp,
              OF_A_REDIS_CONNECTION,
              random);
        }
      }
      assertEquals("+PONG\r\n", steady.ask("PING"));
      requireTaken(steady.ask("INFO stats"), "total_commands_processed:([0-9]+)");
      assertEquals(Optional.of(Reading.exact(2)), engine.read("steady"));
      assertTrue(used() - before < LEAK_BYTES_MAX, "%d bytes are held".formatted(used()));
    }
  }

  @Test
  void memcached() throws IOException {
    RandomGenerator random = Randomness.seeded(SEED);
    try (Engine engine = open();
        CommandPort server =
            MemcacheServer.start(PortOptions.at(0), engine, List.of(), "test", Clock.system());
        RawClient steady = new RawClient(server.address().getPort())) {
      long before = used();
      assertEquals("STORED\r\n", steady.askLine("set steady 0 0 1\r\n0"));
      fuzz(
          server.address().getPort(),
          MEMCACHED_WORDS,
          FuzzTest::memcached,
          OF_A_MEMCACHED_CONNECTION,
          random);
      assertEquals("1\r\n", steady.askLine("incr steady 1"), () -> "seed " + SEED);
      assertEquals("MN\r\n", steady.askLine("mn"));
      steady.send("stats\r\n");
      requireTaken(steady.readUntil("END\r\n"), "STAT commands ([0-9]+)");
      assertEquals(Optional.of(Reading.exact(1)), engine.read("steady"));
      assertTrue(used() - before < LEAK_BYTES_MAX, "%d bytes are held".formatted(used()));
    }
  }
}
