package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.net.Transport;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.command.RespCommands;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Behavior of the Redis port that differs from Redis or needs more than one command. */
final class RespServerTest {
  private static final String TOKEN = "a-token-of-sixteen";
  @TempDir Path directory;

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final List<AutoCloseable> closing = new ArrayList<>();
  private Engine engine;
  private CommandPort server;

  @BeforeEach
  void start() throws IOException {
    engine = Engine.open(directory, EngineOptions.defaults().withClock(clock));
    server = serve(Optional.empty());
  }

  private CommandPort serve(Optional<String> token) throws IOException {
    CommandPort started =
        RespServer.start(
            PortOptions.at(0)
                .withAccess("127.0.0.1", token, Optional.empty())
                .withConnectionsMax(100),
            engine,
            "test",
            Clock.system());
    closing.addFirst(started);
    return started;
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void aPortInUseIsNamed(Transport transport) {
    assumeTrue(transport.isAvailable(), "not on this kernel: " + transport);
    int port = server.address().getPort();
    IOException e =
        assertThrows(
            IOException.class,
            () ->
                RespServer.start(
                        PortOptions.at(port).withTransport(transport),
                        engine,
                        "test",
                        Clock.system())
                    .close());
    assertEquals(
        "cannot listen on 127.0.0.1 port %d: Address already in use".formatted(port)
            + "; use another port (0 for any free port)",
        e.getMessage());
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : closing) {
      each.close();
    }
    engine.close();
  }

  private RawClient client() throws IOException {
    RawClient client = new RawClient(server.address().getPort());
    closing.addFirst(client);
    return client;
  }

  private static String numbers(long... numbers) {
    StringBuilder all = new StringBuilder("*" + numbers.length + "\r\n");
    for (long number : numbers) {
      all.append(':').append(number).append("\r\n");
    }
    return all.toString();
  }

  @Test
  void aRequestCountsOnceOverAnyPort() throws IOException {
    RawClient client = client();
    assertEquals(numbers(5, 5, 0), client.ask("QUIPU.ADD a 5 ID one"));
    assertEquals(numbers(5, 5, 1), client.ask("QUIPU.ADD a 5 ID one"));
    engine.add(new Add("a", 2, RequestId.of("two")));
    assertEquals(numbers(7, 2, 1), client.ask("QUIPU.ADD a 2 ID two"));
    assertTrue(client.ask("QUIPU.ADD a 3 ID two").startsWith("-CONFLICT"));
    assertTrue(client.ask("QUIPU.ADD a -9 ID three FLOOR 0").startsWith("-FLOOR"));
    assertTrue(client.ask("QUIPU.ADD a 9 ID four CEILING 10").startsWith("-CEILING"));
    assertEquals(numbers(0, -7, 0), client.ask("QUIPU.ADD a -7 ID five FLOOR 0 CEILING 9"));
    assertTrue(client.ask("QUIPU.CANCEL a six").contains("canceled"));
    assertTrue(client.ask("QUIPU.ADD a 1 ID six").startsWith("-CANCELED"));
    assertTrue(client.ask("QUIPU.OUTCOME a two").contains("applied"));
    assertTrue(client.ask("QUIPU.OUTCOME a seven").contains("not-seen"));
    assertTrue(client.ask("QUIPU.ADD a 0 ID eight").startsWith("-ERR delta must not be 0"));
    for (String command : List.of("QUIPU.ADD a 1 ID ", "QUIPU.CANCEL a ", "QUIPU.OUTCOME a ")) {
      String answer = client.ask(command + "\u00ff"); // the byte 0xff
      assertTrue(answer.startsWith("-ERR request id is not valid UTF-8"), answer);
    }
    assertTrue(client.ask("QUIPU.ADD a 1 FLOOR 0").startsWith("-ERR syntax error"));
    assertEquals(Optional.of(Reading.exact(0)), engine.read("a"));
    assertTrue(client.ask("DEL a").startsWith(":1"));
    assertTrue(client.ask("PFADD a x").startsWith(":1"));
    assertEquals(numbers(5, 5, 1), client.ask("QUIPU.ADD a 5 ID one"), "whatever a is by now");
    assertTrue(client.ask("QUIPU.ADD a 5 ID nine").startsWith("-WRONGTYPE"));
  }

  @ParameterizedTest
  @CsvSource({
    "INCREX a, 1, 1",
    "INCREX a BYINT 5, 5, 5",
    "INCREX a BYINT 5 UBOUND 3, 0, 0",
    "INCREX a BYINT 5 UBOUND 3 SATURATE, 3, 3",
    "INCREX a BYINT -5 LBOUND -2 SATURATE, -2, -2",
    "INCREX a BYINT -5 LBOUND -2, 0, 0",
    "INCREX a BYINT 9223372036854775807 EX 10, 9223372036854775807, 9223372036854775807",
  })
  void incrementsWithin(String command, long value, long applied) throws IOException {
    assertEquals(numbers(value, applied), client().ask(command));
  }

  @ParameterizedTest
  @CsvSource({
    "INCREX a BYINT x, ERR value is not an integer",
    "INCREX a BYFLOAT 1.5, ERR counters are integers",
    "INCREX a LBOUND 2 UBOUND 1, ERR LBOUND",
    "INCREX a ENX, ERR ENX",
    "INCREX a FOO, ERR syntax error",
    "INCREX a EX 0, ERR invalid expire time in 'increx' command",
    "EVAL x 0, ERR scripts are not supported: EVAL",
    "SET a text, ERR value is not an integer or out of range: only integers",
    "CONFIG SET a b, ERR only CONFIG GET",
  })
  void valuesThatAreNotCountersAreRejected(String command, String answer) throws IOException {
    String reply = client().ask(command);
    assertTrue(reply.startsWith("-" + answer), reply);
    assertEquals(Optional.empty(), engine.read("a"));
  }

  @Test
  void expiredCountersAreRemoved() throws IOException {
    RawClient client = client();
    client.ask("SET a 5 EX 10");
    clock.advance(Duration.ofMillis(9_400));
    assertEquals(":1\r\n", client.ask("TTL a")); // rounded, as in Redis
    assertEquals(":600\r\n", client.ask("PTTL a"));
    clock.advance(Duration.ofMillis(600));
    assertEquals("$-1\r\n", client.ask("GET a"));
    assertEquals(":1\r\n", client.ask("INCR a"));
    assertEquals(":-1\r\n", client.ask("TTL a"));
    client.ask("INCREX b EX 5 ENX");
    clock.advance(Duration.ofSeconds(3));
    client.ask("INCREX b EX 5 ENX"); // it already expires
    clock.advance(Duration.ofSeconds(2));
    assertEquals(":0\r\n", client.ask("EXISTS b"));
  }

  @Test
  void aTransactionFailsAfterAConcurrentChange() throws IOException {
    RawClient one = client();
    RawClient other = client();
    one.ask("SET a 1");
    one.ask("WATCH a");
    other.ask("INCR a");
    other.ask("DECR a"); // changed back to the same value
    one.ask("MULTI");
    one.ask("INCR a");
    assertEquals("*-1\r\n", one.ask("EXEC"));
    one.ask("WATCH a");
    engine.add(new Add("a", 1, null)); // over another port
    one.ask("MULTI");
    assertEquals("*-1\r\n", one.ask("EXEC"));
    one.ask("SET a 1 EX 10");
    one.ask("WATCH a");
    clock.advance(Duration.ofSeconds(10));
    one.ask("MULTI");
    assertEquals("*-1\r\n", one.ask("EXEC"));
    one.ask("MULTI");
    one.ask("INCR a");
    assertEquals("*1\r\n:1\r\n", one.ask("EXEC"));
  }

  @Test
  void aScanReturnsEachKeyOnce() throws IOException {
    RawClient client = client();
    Set<String> expected = new TreeSet<>();
    for (int i = 0; i < 250; i++) {
      client.ask("INCR c" + i);
      expected.add("c" + i);
    }
    client.ask("DEL c7");
    expected.remove("c7");
    List<String> keys = new ArrayList<>();
    String cursor = "0";
    do {
      String[] lines = client.ask("SCAN " + cursor + " COUNT 30 MATCH c*").split("\r\n", -1);
      cursor = lines[2];
      for (int i = 5; i < lines.length; i += 2) {
        keys.add(lines[i]);
      }
      client.ask("INCR new" + cursor);
    } while (!cursor.equals("0"));
    assertEquals(expected, new TreeSet<>(keys));
    assertEquals(expected.size(), keys.size());
  }

  @Test
  void aPipelineIsAnsweredInOrder() throws IOException {
    RawClient client = client();
    StringBuilder sent = new StringBuilder();
    StringBuilder expected = new StringBuilder();
    for (int i = 1; i <= 5_000; i++) {
      sent.append("*2\r\n$4\r\nINCR\r\n$1\r\na\r\nPING\r\n");
      expected.append(":").append(i).append("\r\n+PONG\r\n");
    }
    client.send(sent + "QUIT\r\n");
    assertEquals(expected + "+OK\r\n", client.readUntil("never"));
  }

  @Test
  void commandsMayArriveInPieces() throws IOException {
    RawClient client = client();
    for (char each : "*3\r\n$6\r\nINCRBY\r\n$1\r\na\r\n$2\r\n12\r\n".toCharArray()) {
      client.send(String.valueOf(each));
    }
    assertEquals(":12\r\n", client.answer());
  }

  @ParameterizedTest
  @CsvSource({
    "*x\\r\\n, invalid multibulk length",
    "*50000\\r\\n, invalid multibulk length",
    "*02\\r\\n$4\\r\\nINCR\\r\\n$1\\r\\na\\r\\n, invalid multibulk length",
    "*2\\r\\n$04\\r\\nINCR\\r\\n$1\\r\\na\\r\\n, invalid bulk length",
    "*2\\r\\n$4\\r\\nINCR\\r\\n$01\\r\\na\\r\\n, invalid bulk length",
    "*1\\r\\nINCR\\r\\n, expected '$'",
    "*1\\r\\n$-2\\r\\n, invalid bulk length",
    "*1\\r\\n$70000\\r\\n, invalid bulk length",
    "*1\\r\\n$x\\r\\n, invalid bulk length",
    "GET \"a\\r\\n, unbalanced quotes in request",
  })
  void aProtocolErrorClosesTheConnection(String bytes, String why) throws IOException {
    RawClient client = client();
    client.send("INCR a\r\n" + bytes.replace("\\r", "\r").replace("\\n", "\n") + "INCR a\r\n");
    String all = client.readUntil("never");
    assertTrue(all.startsWith(":1\r\n-ERR Protocol error: " + why), all);
    assertEquals(Optional.of(Reading.exact(1)), engine.read("a"));
  }

  /** It would block all other clients for minutes. */
  @ParameterizedTest
  @CsvSource({"KEYS", "SCAN 0 COUNT 10000 MATCH"})
  void aPatternThatTakesTooLongIsRejected(String command) throws IOException {
    RawClient client = client();
    for (int i = 0; i < 60; i++) {
      client.ask("INCR " + "a".repeat(500) + i);
    }
    String set = "*[" + "b".repeat(60_000) + "]";
    String answer = client.ask(command + " " + set);
    assertTrue(answer.startsWith("-ERR pattern takes more than 50000000 steps"), answer);
    assertTrue(client.ask(command + " *[a-z]?0").contains("a".repeat(500) + "10\r\n"));
  }

  @ParameterizedTest
  @CsvSource({"POST / HTTP/1.1", "GET / HTTP/1.1"})
  void httpRequestsCountNothing(String line) throws IOException {
    RawClient client = client();
    client.send(line + "\r\nHost: 127.0.0.1\r\n\r\nINCR a\r\n");
    assertTrue(client.readUntil("never").contains("not HTTP"));
    assertEquals(Optional.empty(), engine.read("a"));
  }

  @Test
  void aTokenAuthenticates() throws IOException {
    CommandPort guarded = serve(Optional.of(TOKEN));
    try (RawClient client = new RawClient(guarded.address().getPort())) {
      assertTrue(client.ask("INCR a").startsWith("-NOAUTH"));
      assertTrue(client.ask("HELLO 3").startsWith("-NOAUTH"));
      assertTrue(client.ask("AUTH wrong").startsWith("-WRONGPASS"));
      assertTrue(client.ask("AUTH other " + TOKEN).startsWith("-WRONGPASS"));
      assertEquals("+OK\r\n", client.ask("AUTH " + TOKEN));
      assertEquals(":1\r\n", client.ask("INCR a"));
      assertEquals("+RESET\r\n", client.ask("RESET"));
      assertTrue(client.ask("INCR a").startsWith("-NOAUTH"));
      assertTrue(client.ask("HELLO 3 AUTH default " + TOKEN + " SETNAME me").startsWith("%7"));
      assertTrue(client.ask("CLIENT LIST").contains("name=me"));
    }
  }

  @Test
  void clientHandshakesAreAnswered() throws IOException {
    RawClient client = client();
    assertTrue(client.ask("HELLO 3").startsWith("%7\r\n"));
    assertEquals("+OK\r\n", client.ask("CLIENT SETINFO LIB-NAME lib"));
    assertEquals("+OK\r\n", client.ask("CLIENT SETINFO LIB-VER 1.0"));
    assertTrue(client.ask("CLIENT INFO").contains("lib-name=lib lib-ver=1.0"));
    assertTrue(client.ask("INFO").contains("loading:0"));
    assertTrue(client.ask("INFO replication").contains("role:master"));
    assertEquals(":" + RespCommands.all().size() + "\r\n", client.ask("COMMAND COUNT"));
    assertTrue(client.ask("COMMAND DOCS incr").startsWith("%1\r\n$4\r\nincr\r\n%2"));
    assertTrue(client.ask("COMMAND INFO get none").startsWith("*2\r\n*10"));
  }

  @Test
  void aCounterIsExplained() throws IOException {
    RawClient client = client();
    assertEquals("$-1\r\n", client.ask("QUIPU.EXPLAIN a"));
    client.ask("INCR a");
    String reply = client.ask("QUIPU.EXPLAIN a");
    for (String part : List.of("counter", "BOUNDED", "fsync", "a repeat may count the add twice")) {
      assertTrue(reply.contains(part), reply);
    }
    client.ask("HINCRBY h f 1");
    assertTrue(client.ask("QUIPU.EXPLAIN h").contains("family of counters"));
    assertEquals(
        "*2\r\n$11\r\nappendfsync\r\n$6\r\nalways\r\n", client.ask("CONFIG GET appendfsync"));
  }

  @Test
  void fractionsAreRejected() throws IOException {
    RawClient client = client();
    assertEquals(
        "-ERR counters are integers unless they have a scale; use INCRBY\r\n",
        client.ask("INCRBYFLOAT a 1.5"));
    assertEquals(
        "-ERR counters are integers unless they have a scale; use HINCRBY\r\n",
        client.ask("HINCRBYFLOAT h f 1"));
    assertTrue(client.ask("ZINCRBY z 1.5 a").startsWith("-ERR value is not an integer"));
  }

  @Test
  void flushingRequiresTheOption() throws IOException {
    RawClient client = client();
    assertEquals(
        "-ERR flushing is disabled; start the server with --allow-flush\r\n",
        client.ask("FLUSHALL"));
    PortOptions options = PortOptions.at(0).withFlush(true);
    try (CommandPort flushing = RespServer.start(options, engine, "test", Clock.system());
        RawClient other = new RawClient(flushing.address().getPort())) {
      for (int i = 0; i < 10_000; i++) { // more than one part
        engine.add(new Add("k" + i, 1, null));
      }
      other.ask("HINCRBY h f 1");
      other.send("MULTI\r\nFLUSHDB\r\nEXEC\r\nINCR k1\r\nFLUSHALL\r\nDBSIZE\r\n");
      assertEquals("+OK\r\n", other.answer());
      assertEquals("+QUEUED\r\n", other.answer());
      assertEquals("*1\r\n-ERR flushing is not allowed in a transaction\r\n", other.answer());
      assertEquals(":2\r\n", other.answer());
      assertEquals("+OK\r\n", other.answer());
      assertEquals(":0\r\n", other.answer());
    }
  }

  /** Every available transport answers a pipeline in order. */
  @ParameterizedTest
  @EnumSource
  void everyTransportAnswersInOrder(Transport transport) throws IOException {
    assumeTrue(transport.isAvailable(), "not on this machine");
    PortOptions options = PortOptions.at(0).withTransport(transport);
    try (CommandPort other = RespServer.start(options, engine, "test", Clock.system());
        RawClient client = new RawClient(other.address().getPort())) {
      int commands = 5_000; // more than one batch and one read
      client.send("INCR piped\r\n*2\r\n$4\r\nINCR\r\n$5\r\npiped\r\n".repeat(commands));
      for (int i = 1; i <= 2 * commands; i++) {
        assertEquals(":" + i + "\r\n", client.answer());
      }
    }
  }

  /** Each command of a batch is answered in the protocol in which it was sent. */
  @Test
  void theProtocolMayChangeWithinAPipeline() throws IOException {
    RawClient client = client();
    String get = "*2\r\n$3\r\nGET\r\n$6\r\nnobody\r\n";
    client.send(get + "HELLO 3\r\n" + get + "HELLO 2\r\n" + get);
    assertEquals("$-1\r\n", client.answer());
    client.answer();
    assertEquals("_\r\n", client.answer());
    client.answer();
    assertEquals("$-1\r\n", client.answer());
  }

  /** A hash is removed and expires as a whole, and SCAN returns it once. */
  @Test
  void aFamilyIsOneKey() throws IOException {
    RawClient client = client();
    for (int i = 0; i < 2_000; i++) {
      client.send("HINCRBY big f%d 1\r\n".formatted(i));
    }
    for (int i = 0; i < 2_000; i++) {
      assertEquals(":1\r\n", client.answer());
    }
    client.ask("INCR big:er");
    assertEquals(":2000\r\n", client.ask("HLEN big"));
    assertEquals(":1\r\n", client.ask("EXPIRE big 100"));
    assertEquals(":1\r\n", client.ask("HINCRBY big late 1"));
    assertEquals(
        "*2\r\n$1\r\n0\r\n*2\r\n$3\r\nbig\r\n$6\r\nbig:er\r\n", client.ask("SCAN 0 COUNT 9999"));
    assertEquals(1, engine.list("", "", 10).counters().size(), "members are not shown");
    clock.advance(Duration.ofSeconds(101));
    assertEquals(":0\r\n", client.ask("EXISTS big"));
    assertEquals(":0\r\n", client.ask("HLEN big"));
    assertEquals(":1\r\n", client.ask("HINCRBY big f1 1"));
    assertEquals(":-1\r\n", client.ask("TTL big"));
  }

  /** A command that does not fit into a commit is rejected; others of its batch are executed. */
  @Test
  void aFamilyThatIsTooLargeIsRejectedAlone() throws IOException {
    RawClient client = client();
    int members = 70_000;
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < members; i++) {
      all.append("HINCRBY big f%d 1\r\n".formatted(i));
    }
    Thread.ofVirtual().start(() -> sendAll(client, all.toString()));
    for (int i = 0; i < members; i++) {
      assertEquals(":1\r\n", client.answer());
    }
    client.send("INCR before\r\nDEL big\r\nINCR behind\r\n");
    assertEquals(":1\r\n", client.answer());
    String rejection = client.answer();
    assertTrue(
        rejection.matches("-ERR changes may need more than the [0-9]+ bytes .* fewer .*\r\n"),
        rejection);
    assertEquals(":1\r\n", client.answer());
    assertEquals(":70000\r\n", client.ask("HLEN big"));
  }

  private static void sendAll(RawClient client, String bytes) {
    try {
      client.send(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
