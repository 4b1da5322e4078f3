package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SCAN while keys are added and removed; what must be found is kept by the test itself. */
final class ScanTest {
  private static final int KEYS = 2_000;
  private static final int HASHES = 40;

  @TempDir Path directory;
  private Engine engine;
  private CommandPort server;
  private RawClient client;
  private final Map<String, String> types = new HashMap<>(); // of keys that are never removed

  @BeforeEach
  void start() throws Exception {
    engine = Engine.open(directory, EngineOptions.defaults().withDurability(Durability.NONE));
    server = RespServer.start(PortOptions.at(0), engine, "test", Clock.system());
    client = new RawClient(server.address().getPort());
    for (int i = 0; i < KEYS; i++) {
      sent(i % 7 == 0 ? "SET text:%d 3".formatted(i) : "INCRBY key:%d 5".formatted(i));
      types.put((i % 7 == 0 ? "text:" : "key:") + i, "string");
      if (i % (KEYS / HASHES) == 0) {
        for (int field = 0; field < 30; field++) { // among others: a family is in several pages
          sent("HINCRBY hash:%d f%d 1".formatted(i, field));
          sent("INCR hash-like:" + i + ":" + field);
          types.put("hash-like:" + i + ":" + field, "string");
        }
        sent("ZINCRBY ranking:%d 2 m".formatted(i));
        types.put("hash:" + i, "hash");
        types.put("ranking:" + i, "zset");
      }
    }
  }

  @AfterEach
  void stop() throws Exception {
    client.close();
    server.close();
    engine.close();
  }

  private void sent(String command) throws IOException {
    String answer = client.ask(command);
    assertTrue(!answer.startsWith("-"), () -> command + ": " + answer);
  }

  /** What runs between the calls of a scan. */
  private interface Between {
    void run() throws IOException;
  }

  /** Returns how often each key was returned. */
  private Map<String, Integer> scan(String options, Between between) throws IOException {
    Map<String, Integer> found = new HashMap<>();
    String cursor = "0";
    do {
      String[] lines = client.ask("SCAN " + cursor + options).split("\r\n", -1);
      assertEquals("*2", lines[0], () -> String.join(" ", lines));
      cursor = lines[2];
      List<String> page = new ArrayList<>();
      for (int i = 5; i < lines.length; i += 2) { // after *N, a length before each key
        page.add(lines[i]);
      }
      assertEquals("*" + page.size(), lines[3]);
      assertEquals(page.size(), new HashSet<>(page).size(), "a key twice in a page");
      page.forEach(key -> found.merge(key, 1, Integer::sum));
      between.run();
    } while (!cursor.equals("0"));
    return found;
  }

  @Test
  void everyKeyIsReturnedWithEachCount() throws Exception {
    for (String options : List.of("", " COUNT 1", " COUNT 7", " COUNT 1000", " COUNT 1000000")) {
      Map<String, Integer> found = scan(options, () -> {});
      assertEquals(types.keySet(), found.keySet(), options);
      found.forEach((key, times) -> {
        if ("string".equals(types.get(key))) {
          assertEquals(1, times, key);
        }
      });
    }
  }

  @Test
  void matchAndTypeSelect() throws Exception {
    for (String type : List.of("string", "hash", "zset", "list")) {
      Set<String> expected = new HashSet<>(types.keySet());
      expected.removeIf(key -> !type.equals(types.get(key)));
      assertEquals(expected, scan(" COUNT 100 TYPE " + type, () -> {}).keySet(), type);
      expected.removeIf(key -> !key.startsWith("hash"));
      assertEquals(expected, scan(" MATCH hash* COUNT 100 TYPE " + type, () -> {}).keySet(), type);
    }
  }

  @Test
  void keysThatExistThroughoutAreReturnedWhileOthersComeAndGo() throws Exception {
    long seed = Long.getLong("seed", 20261129);
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 4; round++) {
      Map<String, Integer> found =
          scan(
              " COUNT " + (1 + random.nextInt(60)),
              () -> {
                for (int i = 0; i < 10; i++) {
                  String key = "passing:" + random.nextInt(500);
                  sent(random.nextInt(3) == 0 ? "DEL " + key : "INCR " + key);
                  sent("HINCRBY passing-hash:%d f%d 1".formatted(random.nextInt(20), i));
                  sent("DEL passing-hash:" + random.nextInt(20));
                }
              });
      types.forEach((key, type) -> {
        int times = found.getOrDefault(key, 0);
        assertTrue(type.equals("string") ? times == 1 : times >= 1, key + " " + times);
      });
      found.keySet().removeAll(types.keySet());
      assertTrue(
          found.keySet().stream().allMatch(key -> key.startsWith("passing")), found::toString);
    }
  }
}
