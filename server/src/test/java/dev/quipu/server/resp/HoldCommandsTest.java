package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Transactions over several keys, and holds, over the Redis protocol. */
final class HoldCommandsTest {
  private static final long NOW = 1_800_000_000_000L;

  @TempDir Path directory;
  private final ManualClock clock = new ManualClock(NOW);
  private Engine engine;
  private CommandPort server;
  private RawClient client;

  @SuppressWarnings("NullAway.Init") // JUnit calls start before each test
  HoldCommandsTest() {}

  @BeforeEach
  void start() throws IOException {
    engine = Engine.open(directory, EngineOptions.defaults().withClock(clock));
    server = RespServer.start(PortOptions.at(0), engine, "test", Clock.system());
    client = new RawClient(server.address().getPort());
    assertEquals(":10", ask("INCRBY stock 10"));
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
    engine.close();
  }

  /** Returns the reply, with blanks between its lines. */
  private String ask(String line) throws IOException {
    return client.ask(line).replace("\r\n", " ").strip();
  }

  private static String state(String state, long expires, int late, int replayed) {
    return "*4 $%d %s :%d :%d :%d".formatted(state.length(), state, expires, late, replayed);
  }

  @Test
  void allKeysChangeOrNone() throws IOException {
    assertEquals(
        "*2 *2 *2 :5 :-5 *2 :5 :5 :0", ask("QUIPU.TX t-1 2 stock -5 FLOOR 0 sold 5 CEILING 9"));
    assertEquals(
        "*2 *2 *2 :5 :-5 *2 :5 :5 :1", ask("QUIPU.TX t-1 2 stock -5 FLOOR 0 sold 5 CEILING 9"));
    assertEquals(
        "-CONFLICT this id was first used for other adds, or for a hold",
        ask("QUIPU.TX t-1 1 stock -4"));
    assertEquals(
        "-CEILING value would exceed the ceiling; the value is 5, of key sold",
        ask("QUIPU.TX t-2 2 stock -5 FLOOR 0 sold 5 CEILING 9"));
    assertEquals(
        "-FLOOR value would fall below the floor; the value is 5, of key stock",
        ask("QUIPU.TX t-2 2 sold 1 stock -6 floor 0"));
    assertEquals("*2 $7 applied *2 *2 :5 :-5 *2 :5 :5", ask("QUIPU.OUTCOME t-1"));
    assertEquals("*1 $8 not-seen", ask("QUIPU.OUTCOME t-2"));
    assertEquals("*1 $8 canceled", ask("QUIPU.CANCEL t-2"));
    assertEquals(
        "-CANCELED request was canceled and will never be applied", ask("QUIPU.TX t-2 1 stock 1"));
    assertEquals("*2 $1 5 $1 5", ask("MGET stock sold"));
    assertEquals("*1 $8 not-seen", ask("QUIPU.OUTCOME stock t-1"));
  }

  @Test
  void aHoldIsPlacedSettledReleasedAndExtended() throws IOException {
    long expires = NOW + 60_000;
    String place = "QUIPU.HOLD stock -3 ID h TTL 60000 FLOOR 2";
    assertEquals(state("open", expires, 0, 0), ask(place));
    assertEquals("$1 7", ask("GET stock"));
    clock.advance(Duration.ofSeconds(30));
    assertEquals(state("open", expires, 0, 1), ask(place));
    assertEquals(state("open", expires + 30_000, 0, 0), ask("QUIPU.EXTEND h 60000"));
    assertEquals("*2 $4 held $4 open", ask("QUIPU.OUTCOME h"));
    String cancel = ask("QUIPU.CANCEL h");
    assertTrue(
        cancel.startsWith("-ERR request ") && cancel.endsWith("if it is open, release it"), cancel);
    String key = "*1 *4 $3 key $5 stock $5 delta :-3";
    assertEquals(
        "*8 $5 state $4 open $13 expires-at-ms :%d $4 late :0 $4 keys %s"
            .formatted(expires + 30_000, key),
        ask("QUIPU.HOLDINFO h"));
    assertEquals(
        "-EXCEEDED the settlement of stock exceeds the -3 that the hold reserved; EXCESS ALLOW"
            + " of QUIPU.HOLD permits that",
        ask("QUIPU.SETTLE h -4"));
    assertEquals(state("settled", expires + 30_000, 0, 0), ask("QUIPU.SETTLE h -1"));
    assertEquals(state("settled", expires + 30_000, 0, 1), ask("QUIPU.SETTLE h -1"));
    assertEquals("-CLOSED hold was settled and kept stock=-1", ask("QUIPU.SETTLE h -2"));
    assertEquals("-CLOSED hold was settled and kept stock=-1", ask("QUIPU.RELEASE h"));
    assertEquals("-CLOSED hold was settled and kept stock=-1", ask("QUIPU.EXTEND h 1000"));
    assertTrue(ask("QUIPU.HOLDINFO h").endsWith("$5 delta :-3 $7 settled :-1"));
    assertEquals("$1 9", ask("GET stock"));

    assertEquals(state("open", NOW + 31_000, 0, 0), ask("QUIPU.HOLD stock -9 ID r TTL 1000"));
    assertEquals(state("released", NOW + 31_000, 0, 0), ask("QUIPU.RELEASE r"));
    assertEquals(state("released", NOW + 31_000, 0, 1), ask("QUIPU.RELEASE r"));
    assertEquals("$1 9", ask("GET stock"));
    assertEquals(
        "-FLOOR value would fall below the floor; the value is 9, of key stock",
        ask("QUIPU.HOLD stock -10 ID x TTL 1000 FLOOR 0"));
    assertTrue(ask("QUIPU.SETTLE none 1").startsWith("-NOHOLD no hold with this id is known"));
    assertEquals("$-1", ask("QUIPU.HOLDINFO none"));
  }

  @Test
  void policiesApplyToExcessAndToLateSettlements() throws IOException {
    assertEquals(
        state("open", NOW + 1_000, 0, 0),
        ask("QUIPU.HOLD stock -2 ID l TTL 1000 FLOOR 0 LATE apply EXCESS ALLOW"));
    assertEquals(
        state("open", NOW + 1_000, 0, 0), ask("QUIPU.HOLD stock -2 ID s TTL 1000 LATE REJECT"));
    clock.advance(Duration.ofSeconds(2));
    assertEquals(
        "-CLOSED hold has expired; only a hold with LATE APPLY, whose counters exist, can be"
            + " settled after its expiry. Add what was used",
        ask("QUIPU.SETTLE s -2"));
    assertEquals(
        "-FLOOR value would fall below the floor; the value is 10, of key stock",
        ask("QUIPU.SETTLE l -11"));
    assertEquals(state("settled", NOW + 1_000, 1, 0), ask("QUIPU.SETTLE l -10"));
    assertEquals("$1 0", ask("GET stock"));
  }

  @Test
  void aTransactionOfCommandsContainsThem() throws IOException {
    assertEquals("+OK", ask("MULTI"));
    assertEquals("+QUEUED", ask("QUIPU.TX t 2 stock -1 sold 1"));
    assertEquals("+QUEUED", ask("QUIPU.HOLD stock -2 ID h TTL 1000"));
    assertEquals("+QUEUED", ask("QUIPU.HOLD stock -20 ID x TTL 1000 FLOOR 0"));
    assertEquals("+QUEUED", ask("QUIPU.HOLD stock x ID x TTL 1000"));
    assertEquals("+QUEUED", ask("QUIPU.SETTLE h -1"));
    assertEquals(
        "*5 *2 *2 *2 :9 :-1 *2 :1 :1 :0 "
            + state("open", NOW + 1_000, 0, 0)
            + " -FLOOR value would fall below the floor; the value is 7, of key stock"
            + " -ERR delta is not an integer or a decimal of at most 64 characters; send one such as 1"
            + " or -0.25 "
            + state("settled", NOW + 1_000, 0, 0),
        ask("EXEC"));
    assertEquals("$1 8", ask("GET stock"));
  }

  @Test
  void aKeyOfAnotherKindIsRejectedButARepeatIsAnswered() throws IOException {
    assertEquals("*2 *1 *2 :1 :1 :0", ask("QUIPU.TX t 1 other 1"));
    assertEquals(":1", ask("DEL other"));
    assertEquals(":1", ask("HSET other f 1"));
    String wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    assertEquals(wrong, ask("QUIPU.TX t-2 2 stock 1 other 1"));
    assertEquals(wrong, ask("QUIPU.HOLD other 1 ID h TTL 1000"));
    assertEquals("*2 *1 *2 :1 :1 :1", ask("QUIPU.TX t 1 other 1"));
    assertEquals("$2 10", ask("GET stock"));
    assertEquals("+hash", ask("TYPE other"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "QUIPU.TX t|wrong number of arguments",
        "QUIPU.TX t 1 stock|wrong number of arguments",
        "QUIPU.TX t 2 stock -1 sold|syntax error; use QUIPU.TX id count key delta",
        "QUIPU.TX t 2 stock -1 stock 1|two adds are to the counter stock",
        "QUIPU.TX t 0 stock 1|count is 0; it must be from 1 to 64",
        "QUIPU.TX t 65 stock 1|count is 65; it must be from 1 to 64",
        "QUIPU.TX t 2 stock 1|syntax error",
        "QUIPU.TX t 1 stock 1 other 1|syntax error",
        "QUIPU.TX t 1 stock 0|delta must not be 0",
        "QUIPU.TX t 1 stock 1 FLOOR 0 FLOOR 1|FLOOR occurs twice",
        "QUIPU.TX t 1 stock 1.5|amount of stock: field delta is not an integer",
        "QUIPU.TX t 1 stock 1 FLOOR x|FLOOR is not an integer or a decimal",
        "QUIPU.TX t 1 stock 1 FLOOR 3 CEILING 2|floor 3 is above ceiling 2",
        "QUIPU.TX t 1 '' 1|key is empty",
        "QUIPU.TX '' 1 stock 1|request id is empty",
        "QUIPU.HOLD stock -1 ID h TTL|wrong number of arguments",
        "QUIPU.HOLD stock -1 TTL 1000 ID h|syntax error; use QUIPU.HOLD key delta",
        "QUIPU.HOLD stock -1 ID h TTL 1000 FLOOR|syntax error",
        "QUIPU.HOLD stock -1 ID h TTL 1000 LATE ALLOW|syntax error",
        "QUIPU.HOLD stock -1 ID h TTL 1000 EXCESS x|syntax error",
        "QUIPU.HOLD stock -1 ID h TTL 999|ttl is 999ms; it must be from 1s to 366d",
        "QUIPU.HOLD stock -1 ID h TTL 31622400001|it must be from 1s to 366d",
        "QUIPU.HOLD stock -1 ID h TTL -9223372036854775808|it must be from 1s to 366d",
        "QUIPU.HOLD stock 0 ID h TTL 1000|delta must not be 0",
        "QUIPU.HOLD stock -1,5 ID h TTL 1000|delta is not an integer or a decimal",
        "QUIPU.HOLD stock -1 ID h TTL 10m|milliseconds is not an integer; it must be from 1000 to",
        "QUIPU.EXTEND h 10m|milliseconds is not an integer; it must be from 1000 to 31622400000",
        "QUIPU.SETTLE h|wrong number of arguments",
        "QUIPU.SETTLE h x|delta is not an integer or a decimal",
        "QUIPU.EXTEND h 0|it must be from 1s to 366d",
        "QUIPU.OUTCOME a b c|wrong number of arguments",
        "QUIPU.CANCEL a b c|wrong number of arguments",
      })
  void anInvalidCommandIsNamedAndChangesNothing(String command, String error) throws IOException {
    String reply = ask(command.replace("''", "\"\""));
    assertTrue(reply.startsWith("-ERR ") && reply.contains(error), reply);
    assertEquals("$2 10", ask("GET stock"));
    assertEquals("*1 $8 not-seen", ask("QUIPU.OUTCOME h"));
  }

  @Test
  void moreThanSixtyFourKeysAreRejected() throws IOException {
    StringBuilder adds = new StringBuilder();
    for (int i = 0; i < 64; i++) {
      adds.append(" %02d%s 1".formatted(i, "n".repeat(510)));
    }
    assertEquals(
        "-ERR count is 65; it must be from 1 to 64", ask("QUIPU.TX t 65" + adds + " more 1"));
    assertTrue(ask("QUIPU.TX t 64" + adds).startsWith("*2 *64 *2 :1 :1"));
    assertEquals(":65", ask("DBSIZE"));
  }

  @Test
  void commandsAreDescribed() throws IOException {
    String described = ask("COMMAND INFO quipu.tx quipu.hold quipu.holdinfo");
    assertTrue(described.contains("$8 quipu.tx :-5 *3 +denyoom +fast +write :0 :0 :0"), described);
    assertTrue(
        described.contains("$10 quipu.hold :-7 *3 +denyoom +fast +write :1 :1 :1"), described);
    assertTrue(described.contains("$14 quipu.holdinfo :2 *2 +fast +readonly :0 :0 :0"), described);
  }

  @Test
  void allPortsShareTheHolds() throws IOException {
    assertEquals(state("open", NOW + 1_000, 0, 0), ask("QUIPU.HOLD stock -3 ID h TTL 1000"));
    assertEquals(RequestId.of("h"), engine.holds().list("stock", null, 10).getFirst().id());
    assertEquals(-3, engine.holds().balance("stock").orElseThrow().held());
  }
}
