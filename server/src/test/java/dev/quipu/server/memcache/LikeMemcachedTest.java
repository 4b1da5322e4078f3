package dev.quipu.server.memcache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.RawClient;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Sends the same bytes to a real memcached and to this server and compares the replies. */
final class LikeMemcachedTest {
  /** Scripts; {@code ~} stands for CRLF. */
  private static final String TEXT =
      """
      incr a 1|set a 0 0 1~5|incr a 1|incr a 10|get a|decr a 3|get a|decr a 2|get a|incr a
            incr a x|incr a -1|decr none 1|set t 7 0 5~hello|get t|incr t 1|get a t none
            set n 7 0 2~10|incr n 5|get n|add a 0 0 1~1|add b 0 0 1~1|replace b 0 0 2~42|get b
            replace none 0 0 1~1|append b 0 0 1~7|get b|incr b 1|prepend b 0 0 1~9|get b
      append none 0 0 1~1|      append t 0 0 4~ you|get t|delete t|delete t|delete|delete b 0
      touch a 100|touch none 100|      touch a|gat 100 a|gat 100 none|gat 0 a b|set e 0 -1 1~1
      get e|set e 0 1000 1~1|get e|      touch e -1|get e|get|gets|nonsense|set|set x|set x 0 0
      set x 0 0 x~|set x 0 0 -1|      set z 0 0 1~0|incr z 0|decr z 0|get z|set y 0 0 2~01|get y
      set y 0 0 0~|get y|      set y 4294967295 0 1~1|get y|verbosity 1|incr a 1 noreply|get a
      set q 0 0 1 noreply~1|      get q|delete q noreply|get q|decr a 1 noreply|get a
      touch a 0 noreply|add q 0 0 1 noreply~3|      get q|  get   a  |GET a2|Set a 0 0 1
      incr  a  1|set big 0 0 20~18446744073709551615
      """;

  private static final String META =
      """
      mg none v|mg none|ms a 1~5|mg a v|mg a|mg a k v|mg a k s t f v|mg a q v|mg none q v
      mg a Oabc v|      mg none k v|mg none Oabc v|ms a 2 F7~10|mg a f v|ms a 1 T1000~1|mg a t
      ms b 1 ME~1|ms b 1 ME~1|      ms c 1 MR~1|ms b 1 MR~2|mg b v|ms b 1 MA~3|mg b v
      ms b 1 MP~4|mg b v|ms b 1 MX~1|      ms c 1 MA~1|ms c 1 MP~1|ms b 1 q~5|ms b 1 k~5
      ms b 1 Oabc k~5|md none|md none q|md b|md b|      ms b 1~1|md b q|mg b v|ms b 1~1
      md b k Oabc|ma none|ma none q|ma n N0|mg n v|ma n|mg n v|ma n v|      ma n D5 v
      ma n MD D2 v|ma n M- v|ma n MI v|ma n M+ v|ma n MD D100 v|ma m N0 J13 v|ma m N0 J13 v
            ma p N100 J1 t v|ma p t v|ma p T0 t|ma p q|ma p q v|ma p k v|ms t 5~hello|ma t
            ma n MX|ma n Dx|mg|md|ma|ms|ms a|ms a x|ms a -1|mg YWJj b v|ms YWJj 1 b~7
      mg YWJj b k v|mg abc v|      ma YWJj b v|md YWJj b|mg abc v|mg a N0 v|mg a zz|mg a v v
      mg a Z|ms a 1 Fx~1|ms a 1 Tx~1|ma n Nx|mg a N0 v q|me none|      ma n C1|md n C1
      ms n 1 C1~1|ms nope 1 C1~1|ma nope C1|md nope C1|ms a 5 T0 S1~hello
      """;

  /** Replies about times, vivified keys and non-canonical numbers. */
  private static final String ODD =
      """
      ms a 1 c~5|ms a 1 c k O1 s~5|ms a 1 c q~5|ms a 1 C999999999 c~5|ms b 1 MR c~1|ms b 1 ME c~1
      ms b 1 ME c~1|ms b 1 MA c~2|mg b c v|mg none c k|ma none c|ma a C999999999 c|ma a c
      md a C999999999 k|mg new N30 v|mg new N30 v|mg new N30 v|mg new v t|mg new|ms new 1~5
      mg new N30 v|mg two N30 t c|mg two N30 t c|mg two q v k|ms two 0~|mg two v|mg tri N0|ma tri
      append tri 0 0 1~1|mg tri v|ma cnt N0 q v|ma cnt N0 q v|ma cnt q v|ma cnt q|ma none q v
      ma p N100 J1 t v|ma p T50 t v|ma p t|ma p t T20|mg p t|ma p T0 t v|mg p t|ma p T-1 v|mg p
      ma p N0|mg p T30 t|mg p t T60|mg p t|mg p T0 t|ma past N-1 v|mg past v|ma past N-1 J5|mg past
      mg past N-1 v|mg past v|mg past N-1|ma past N2600000 v|mg past|mg past N2600000 v|mg past
      ma p N0 Tx|mg p v|mg none N0 Tx|mg none v|ma p D1 Nx|ma p Jx|mg p v|ms p 1 Fx~1|mg p v
      set n 0 0 2~9 |get n|incr n 1|get n|set n 0 0 3~9 x|incr n 1|set n 0 0 2~ 9|incr n 1|get n
      set n 0 0 3~09 |incr n 1|get n|set n 0 0 4~9   |incr n 1|get n|set n 0 0 2~+9|incr n 1
      set n 0 0 2~-9|incr n 1|set n 5 0 3~100|decr n 1|get n|decr n 98|get n|incr n 98|get n
      set n 0 0 2~9x|incr n 1|set n 0 0 1~ |incr n 1|set n 0 0 3~9~|incr n 1|get n
      set n 0 0 20~18446744073709551615|incr n 1|get n|set n 0 0 20~18446744073709551616|incr n 1
      set n 0 0 21~                    9|incr n 1|set n 0 0 20~                   9|incr n 1|get n
      set n 5 0 1~1|touch n 0|incr n 1|mg n t f v|ma n D18446744073709551615 v|gat 10 n|gat x n
      """;

  @TempDir Path directory;

  static CommandPort serve(Engine engine, PortOptions options, List<String> unsigned)
      throws IOException {
    return MemcacheServer.start(options, engine, unsigned, "test", Clock.system());
  }

  static Stream<Arguments> scripts() {
    Map<String, String> scripts = new TreeMap<>(Map.of("text", TEXT, "meta", META, "odd", ODD));
    return scripts.entrySet().stream()
        .map(each -> Arguments.argumentSet(each.getKey(), each.getValue()));
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void same(String script) throws IOException {
    Optional<MemcachedServer> real = MemcachedServer.start();
    assumeTrue(real.isPresent(), "no memcached here");
    List<String> differ = new ArrayList<>();
    try (MemcachedServer memcached = real.get();
        Engine engine = Engine.open(directory, EngineOptions.defaults());
        CommandPort server = serve(engine, PortOptions.at(0), List.of());
        RawClient theirs = new RawClient(memcached.port());
        RawClient ours = new RawClient(server.address().getPort())) {
      for (String line : script.strip().replace('\n', '|').split("\\|", -1)) {
        // Cas uniques differ between servers; only their absence is compared.
        String expected = ask(theirs, line).replaceAll(" c[1-9][0-9]*", " c#");
        String answer = ask(ours, line).replaceAll(" c[1-9][0-9]*", " c#");
        if (!answer.equals(expected)) {
          differ.add("%s: %s, not %s".formatted(line, shown(answer), shown(expected)));
        }
      }
    }
    assertEquals(List.of(), differ);
  }

  /** Reads all replies up to the reply to a command that always has one. */
  static String ask(RawClient client, String line) throws IOException {
    client.send(line.replace("~", "\r\n") + "\r\nmn\r\n");
    return client.readUntil("MN\r\n");
  }

  private static String shown(String bytes) {
    return bytes.replace("\r\n", "~");
  }
}
