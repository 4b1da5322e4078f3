package dev.quipu.server.memcache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.RawClient;
import dev.quipu.simulation.time.ManualClock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Behavior of the memcached port that differs from memcached, and its errors. */
final class MemcacheServerTest {
  private static final String HUGE = "9223372036854775807";

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final List<AutoCloseable> closing = new ArrayList<>();
  private Engine engine;
  private RawClient client;

  @BeforeEach
  void start() throws IOException {
    engine = Engine.open(directory, EngineOptions.defaults().withClock(clock));
    client = client(PortOptions.at(0));
  }

  private RawClient client(PortOptions options) throws IOException {
    CommandPort server = LikeMemcachedTest.serve(engine, options, List.of("u:"));
    closing.addFirst(server);
    RawClient opened = new RawClient(server.address().getPort());
    closing.addFirst(opened);
    return opened;
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : closing) {
      each.close();
    }
    engine.close();
  }

  /** Sends a command and returns its reply. */
  private String ask(String line) throws IOException {
    String answer = LikeMemcachedTest.ask(client, line);
    return answer.substring(0, answer.length() - "MN\r\n".length()).replace("\r\n", "~");
  }

  @Test
  void aCounterIsTheSameOnEveryPort() throws IOException {
    assertEquals("STORED~", ask("set a 0 0 1~5"));
    assertEquals(Optional.of(Reading.exact(5)), engine.read("a"));
    engine.add(new Add("a", 2, null));
    assertEquals("8~", ask("incr a 1"));
    engine.add(new Add("a", -20, null));
    assertEquals("VALUE a 0 3~-12~END~", ask("get a"));
    assertEquals(TextCommands.NOT_NUMERIC + "~", ask("incr a 1"));
    assertEquals("STORED~", ask("set t 0 0 5~hello"));
    assertEquals(Optional.empty(), engine.read("t"), "a text is not a counter");
  }

  @Test
  void unsignedIsByNamespace() throws IOException {
    ask("set s 0 0 19~" + HUGE);
    assertEquals(TextCommands.WOULD_OVERFLOW + "~", ask("incr s 1"));
    assertEquals("VALUE s 0 19~" + HUGE + "~END~", ask("get s"));
    assertEquals("9223372036854775806~", ask("decr s 1"));
    assertEquals("0~", ask("decr s 18446744073709551615"));
    ask("set u:a 0 0 19~" + HUGE);
    assertEquals("9223372036854775808~", ask("incr u:a 1"));
    assertEquals("VALUE u:a 0 19~9223372036854775808~END~", ask("get u:a"));
    assertEquals("STORED~", ask("set u:a 0 0 20~18446744073709551615"));
    assertEquals("0~", ask("incr u:a 1"));
    assertEquals("0~", ask("decr u:a 5"));
  }

  @Test
  void anOpaqueTokenIsARequestId() throws IOException {
    assertEquals("NF Oone~", ask("ma a Oone v"));
    assertEquals("VA 1 Oone~0~", ask("ma a Oone N0 v"));
    assertEquals("VA 1 Oone~0~", ask("ma a Oone N0 v"));
    assertEquals("VA 1 Otwo~7~", ask("ma a Otwo N0 D7 v"));
    assertEquals("VA 1 Othree~9~", ask("ma a Othree D2 v"));
    assertEquals("VA 1 Otwo~7~", ask("ma a Otwo N0 D7 v"), "the first answer");
    assertTrue(ask("ma a Otwo D8 v").startsWith("CLIENT_ERROR the first request"));
    assertEquals("NS Ofour~", ask("ma a Ofour MD D10 v"), "it would go below 0");
    assertEquals("VA 1 Ofour~0~", ask("ma a Ofour MD D9 v"));
    assertEquals("VA 1 Ofour~0~", ask("ma a Ofour MD D9 v"));
    assertEquals(
        new RequestOutcome.Applied(2, OptionalLong.of(9)),
        engine.outcome("a", RequestId.of("three")));
    engine.cancel("a", RequestId.of("five"));
    assertEquals("NS Ofive~", ask("ma a Ofive v"));
    assertTrue(ask("ma a O v").startsWith("CLIENT_ERROR O is"));
    assertTrue(ask("ma a Osix D0 v").startsWith("CLIENT_ERROR O is"));
    assertEquals("CLIENT_ERROR opaque token too long~", ask("ma a O" + "x".repeat(33)));
    for (String token : new String[] {"\u00ff", "\u00fe"}) { // bytes 0xff and 0xfe
      assertEquals("CLIENT_ERROR opaque token is not valid UTF-8~", ask("ma a O" + token));
    }
    assertEquals("VA 1 Oone~5~", ask("ma b Oone N0 J5 v"), "ids belong to one counter");
    assertEquals(Optional.of(Reading.exact(0)), engine.read("a"));
  }

  @Test
  void casDetectsEveryChange() throws IOException {
    ask("set a 0 0 1~5");
    String unique = ask("gets a").replaceAll("(?s).* 1 ([0-9]+)~.*", "$1");
    assertEquals("EXISTS~", ask("cas a 0 0 1 1~6"));
    assertEquals("STORED~", ask("cas a 0 0 1 %s~6".formatted(unique)));
    assertEquals("EXISTS~", ask("cas a 0 0 1 %s~7".formatted(unique)));
    String next = ask("mg a c").replaceAll("HD c([0-9]+)~", "$1");
    engine.add(new Add("a", 1, null));
    engine.add(new Add("a", -1, null));
    assertEquals("EX~", ask("ma a C" + next), "it changed, and changed back");
    String last = ask("mg a c").replaceAll("HD c([0-9]+)~", "$1");
    assertNotEquals(next, last);
    assertEquals("EX~", ask("md a C" + next));
    assertEquals("HD~", ask("md a C" + last));
    assertEquals("NOT_FOUND~", ask("cas a 0 0 1 %s~7".formatted(last)));
  }

  @Test
  void textsOutliveARestart() throws Exception {
    ask("set t 42 0 5~hello");
    ask("set short 0 100 3~abc");
    ask("set gone 0 0 1~x");
    ask("delete gone");
    ask("set n 0 0 1~x");
    ask("set n 0 0 1~7");
    for (boolean takesSnapshot : List.of(false, true)) {
      if (takesSnapshot) {
        engine.checkpoint();
      }
      stop();
      closing.clear();
      start();
      assertEquals("VALUE t 42 5~hello~VALUE n 0 1~7~END~", ask("get t gone n"));
    }
    assertEquals("HD t100~", ask("mg short t"));
    clock.advance(Duration.ofSeconds(101));
    assertEquals("END~", ask("get short"));
  }

  @Test
  void errorsStateTheLimits() throws IOException {
    assertEquals("ERROR~", ask("nonsense"));
    assertEquals(Line.BAD_FORMAT + "~", ask("get " + "k".repeat(251)));
    assertEquals("END~", ask("get" + " k".repeat(1_023)));
    assertEquals("CLIENT_ERROR at most 1023 keys~", ask("get" + " k".repeat(1_024)));
    assertEquals("CLIENT_ERROR at most 1022 keys~", ask("gat 0" + " k".repeat(1_023)));
    assertEquals("ERROR~", ask("incr" + " k".repeat(1_024)));
    assertEquals("ERROR~", ask("get"));
    assertEquals(
        "SERVER_ERROR object too large for cache~", ask("set a 0 0 5000~" + "x".repeat(5_000)));
    assertEquals("CLIENT_ERROR bad data chunk~", ask("set a 0 0 1~xyz"));
    assertEquals(
        "CLIENT_ERROR flush_all is disabled; start the server with --allow-flush~",
        ask("flush_all"));
    assertTrue(ask("get \u0001").startsWith("CLIENT_ERROR key has a control character"));
    client.send("get " + "k".repeat(70_000));
    assertEquals("CLIENT_ERROR line too long\r\n", client.readUntil("never"));
  }

  @Test
  void anIncompleteCommandWaitsForItsRest() throws IOException {
    client.send("set a 0 0");
    client.send(" 3\r\n12");
    client.send("3\r");
    client.send("\nincr a 1\r\n");
    assertEquals("STORED\r\n", client.readUntil("\r\n"));
    assertEquals("124\r\n", client.readUntil("\r\n"));
    client.send("quit\r\n");
    assertEquals("", client.readUntil("never"));
  }

  @Test
  void flushRemovesAllAndIsAnsweredInOrder() throws IOException {
    client = client(PortOptions.at(0).withFlush(true));
    for (int i = 0; i < 10_000; i++) { // more than one part of it
      engine.add(new Add("k" + i, 1, null));
    }
    client.send("incr k1 1\r\nflush_all\r\nget k1\r\nflush_all noreply\r\nmn\r\n");
    assertEquals("2\r\nOK\r\nEND\r\nMN\r\n", client.readUntil("MN\r\n"));
    assertEquals(List.of(), engine.list("", "", 10).counters());
    assertEquals("CLIENT_ERROR flush_all does not support a delay~", ask("flush_all 10"));
  }

  @Test
  void clientsAuthenticateWithTheToken() throws IOException {
    client =
        client(PortOptions.at(0).withAccess("127.0.0.1", Optional.of("secret"), Optional.empty()));
    assertEquals("CLIENT_ERROR unauthenticated\r\n", client.askLine("get a"));
    assertEquals(
        "CLIENT_ERROR authentication failure\r\n", client.askLine("set x 0 0 9\r\nme sesame"));
    assertEquals("CLIENT_ERROR unauthenticated\r\n", client.askLine("incr a 1"));
    assertEquals("STORED\r\n", client.askLine("set x 0 0 9\r\nme secret"));
    assertEquals("END\r\n", client.askLine("get x"), "the token is not stored");
  }

  @Test
  void httpRequestsAreRejected() throws IOException {
    client.send("POST / HTTP/1.1\r\nHost: a\r\n\r\nset a 0 0 1\r\n5\r\n");
    assertEquals("ERROR\r\n", client.readUntil("never"));
    assertEquals(Optional.empty(), engine.read("a"));
  }
}
