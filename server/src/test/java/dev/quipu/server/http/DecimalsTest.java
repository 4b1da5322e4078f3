package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Counter;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.ScaleRules;
import dev.quipu.SetResult;
import dev.quipu.server.resp.RawClient;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Counters with a scale, on all ports of an engine. */
final class DecimalsTest {
  @TempDir static Path directory;
  private static AllPorts ports;
  private static Client client;
  private static Quipu remote;

  @BeforeAll
  static void start() throws IOException {
    ports = AllPorts.start(directory, ScaleRules.parse(List.of("budget/*=2", "tiny=18")));
    client = ports.client();
    remote = Quipu.connect(URI.create("http://127.0.0.1:" + ports.http().address().getPort()));
  }

  @AfterAll
  static void stop() {
    remote.close();
    ports.close();
  }

  private static Client.Reply put(String name, String body) {
    return client.send(
        client
            .request("/v1/counters/" + name)
            .header("Content-Type", "application/json")
            .PUT(BodyPublishers.ofString(body)));
  }

  private static String value(String name) {
    return client.get("/v1/counters/" + name).text("value");
  }

  private static String bulk(String text) {
    return "$%d\r\n%s\r\n".formatted(text.length(), text);
  }

  @Test
  void aScaleIsSetByPut() {
    Client.Reply reply = put("put", "{\"scale\":2}");
    assertEquals(200, reply.status(), reply.body());
    assertEquals("0.00", reply.text("value"));
    assertEquals(2, reply.json().path("scale").asInt());
    assertEquals("1.25", client.add("put", "{\"delta\":1.25}").text("value"));
    assertEquals(200, put("put", "{\"scale\":2}").status());
    assertEquals("1.25", put("put", "{\"scale\":\"2\"}").text("value"));
    Client.Reply other = put("put", "{\"scale\":3}");
    assertEquals(409, other.status());
    assertEquals("/problems/scale-fixed", other.text("type"));
    assertEquals(2, other.json().path("scale").asInt());
    assertEquals("-7.50", put("put", "{\"value\":-7.5,\"ifValue\":\"1.25\"}").text("value"));
    Client.Reply mismatch = put("put", "{\"value\":1,\"ifValue\":2}");
    assertEquals(409, mismatch.status());
    assertEquals("-7.50", mismatch.text("value"));
    assertEquals("0.100", put("both", "{\"scale\":3,\"value\":\"0.1\"}").text("value"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{`scale`:19}|scale is 19; it must be from 0 to 18",
        "{`scale`:-1}|scale is -1; it must be from 0 to 18",
        "{`scale`:1.5}|field scale is not an integer",
        "{}|field value is missing",
        "{`scale`:1,`ifValue`:0}|field value is missing",
        "{`scale`:1,`value`:0.12}|has 2 digits after the point; the limit is 1",
      })
  void aBadPutChangesNothing(String body, String detail) {
    Client.Reply reply = put("bad", body.replace('`', '"'));
    assertEquals(400, reply.status(), reply.body());
    assertTrue(reply.text("detail").contains(detail), reply.body());
    assertEquals(404, client.get("/v1/counters/bad").status());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0.001",
        "\"0.001\"",
        "1.000",
        "1e-3",
        "\"1e\"",
        "\".5\"",
        "\"1.\"",
        "\"+1\"",
        "\"1,5\"",
        "1e999999999",
        "1e-999999999",
        "\"1e999999999\"",
        "92233720368547758.08",
        "true",
        "\"0.1e99999\"",
        "\"NaN\"",
        "\"0x1p3\"",
        "\" 1\""
      })
  void aBadAmountIsRejected(String delta) {
    Client.Reply reply = client.add("budget/bad", "{\"delta\":" + delta + "}");
    assertEquals(400, reply.status(), delta + reply.body());
    assertTrue(reply.text("detail").startsWith("field delta "), reply.body());
    assertEquals(404, client.get("/v1/counters/budget%2Fbad").status());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1|1.00",
        "\"1\"|1.00",
        "0.01|0.01",
        "-0.01|-0.01",
        "\"1.5\"|1.50",
        "1e2|100.00",
        "2.5e1|25.00",
        "\"125e-2\"|1.25",
        "0.1|0.10",
        "92233720368547758.07|92233720368547758.07",
        "-92233720368547758.08|-92233720368547758.08",
        "1.15|1.15",
        "0.29|0.29"
      })
  void anAmountIsParsedExactly(String delta, String value) {
    String name = "budget%2Fexact-" + Integer.toHexString(delta.hashCode());
    Client.Reply reply = client.add(name, "{\"delta\":" + delta + "}");
    assertEquals(200, reply.status(), reply.body());
    assertEquals(value, reply.text("value"));
    assertEquals(value, reply.text("added"));
    assertEquals(value, value(name));
  }

  @Test
  void boundsAndRepeatsAreDecimals() {
    String name = "budget%2Fbounds";
    String key = "Idempotency-Key";
    assertEquals("1.00", client.add(name, "{\"delta\":1}", key, "first").text("value"));
    Client.Reply again = client.add(name, "{\"delta\":\"1.0\"}", key, "first");
    assertEquals("true", again.text("replayed"));
    Client.Reply conflict = client.add(name, "{\"delta\":1.01}", key, "first");
    assertEquals(422, conflict.status());
    assertEquals("1.00", conflict.text("added"));
    Client.Reply low = client.add(name, "{\"delta\":-1.01,\"floor\":0}");
    assertEquals(409, low.status());
    assertEquals("-1.01 cannot be added to 1.00: the floor is 0.00", low.text("detail"));
    assertEquals("0.00", low.text("limit"));
    assertEquals("1.00", client.get("/v1/requests/first?counter=" + name).text("added"));
    assertEquals(
        "[{\"name\":\"budget/bounds\",\"value\":\"1.00\",\"low\":\"1.00\",\"high\":\"1.00\"}]",
        client.get("/v1/counters?prefix=" + name).json().path("counters").toString());
    assertEquals(200, client.post("/v1/display/" + name + "/view", "").status());
    assertEquals("2.00", value(name));
    assertEquals("2.00", client.get("/v1/display/" + name).text("value"));
  }

  @Test
  void redisCommandsAddWholeNumbersAndDecimals() throws IOException {
    try (RawClient redis = ports.respClient()) {
      assertEquals(bulk("1.00"), redis.ask("INCRBY budget/r 1"));
      assertEquals(bulk("2.00"), redis.ask("INCR budget/r"));
      assertEquals(bulk("1.00"), redis.ask("DECR budget/r"));
      assertEquals(bulk("-1.00"), redis.ask("DECRBY budget/r 2"));
      assertEquals(bulk("-0.75"), redis.ask("INCRBYFLOAT budget/r 0.25"));
      assertEquals(bulk("19.25"), redis.ask("INCRBYFLOAT budget/r 2.0e1"));
      assertEquals(bulk("19.25"), redis.ask("GET budget/r"));
      assertTrue(redis.ask("INCRBYFLOAT budget/r 0.001").startsWith("-ERR value has 3 digits"));
      assertTrue(redis.ask("INCRBY budget/r 0.1").startsWith("-ERR value is not an integer"));
      assertEquals(
          "-ERR increment or decrement would overflow\r\n",
          redis.ask("INCRBY budget/r 92233720368547758"));
      assertEquals("+OK\r\n", redis.ask("SET budget/r 3.5"));
      assertEquals("*2\r\n" + bulk("3.50") + "$-1\r\n", redis.ask("MGET budget/r budget/none"));
      assertEquals(
          "*3\r\n" + bulk("4.75") + bulk("1.25") + ":0\r\n",
          redis.ask("QUIPU.ADD budget/r 1.25 ID x CEILING 4.75"));
      assertEquals(
          "*3\r\n" + bulk("4.75") + bulk("1.25") + ":1\r\n",
          redis.ask("QUIPU.ADD budget/r 1.25 ID x CEILING 4.75"));
      assertEquals(
          "-CEILING value would exceed the ceiling; the value is 4.75\r\n",
          redis.ask("QUIPU.ADD budget/r 0.01 ID y CEILING 4.75"));
      assertEquals(
          "*3\r\n$7\r\napplied\r\n" + bulk("1.25") + bulk("4.75"),
          redis.ask("QUIPU.OUTCOME budget/r x"));
      assertEquals(
          "*2\r\n" + bulk("5.00") + bulk("0.25"),
          redis.ask("INCREX budget/r BYFLOAT 0.5 UBOUND 5.00 SATURATE"));
      assertEquals(bulk("1.50"), redis.ask("HINCRBYFLOAT budget/h f 1.5"));
      assertEquals(bulk("2.50"), redis.ask("HINCRBY budget/h f 1"));
      assertEquals(":1\r\n", redis.ask("HSET budget/h g 0.05"));
      assertEquals(
          "*4\r\n" + bulk("f") + bulk("2.50") + bulk("g") + bulk("0.05"),
          redis.ask("HGETALL budget/h"));
      assertEquals(
          "-ERR counters are integers unless they have a scale; use INCRBY\r\n",
          redis.ask("INCRBYFLOAT i 1.5"));
      assertEquals(
          "-ERR counters are integers unless they have a scale; use HINCRBY\r\n",
          redis.ask("HINCRBYFLOAT h f 1"));
      assertEquals(":1\r\n", redis.ask("ZADD budget/z 5 m"));
      assertEquals(bulk("6"), redis.ask("ZINCRBY budget/z 1 m"));
      assertEquals("*2\r\n" + bulk("m") + bulk("6"), redis.ask("ZRANGE budget/z 0 -1 WITHSCORES"));
    }
    assertEquals("5.00", value("budget%2Fr"));
  }

  /** The form that clients send takes the fast path for integers; a scale must not be bypassed. */
  @Test
  void pipelinedCommandsInArraysKnowTheScale() throws IOException {
    put("fast", "{\"scale\":3,\"value\":1}");
    try (RawClient redis = ports.respClient()) {
      String incr = "*3\r\n$6\r\nINCRBY\r\n$4\r\nfast\r\n$1\r\n5\r\n";
      String get = "*2\r\n$3\r\nGET\r\n$4\r\nfast\r\n";
      String once = "*5\r\n$9\r\nQUIPU.ADD\r\n$4\r\nfast\r\n$1\r\n2\r\n$2\r\nID\r\n$4\r\nid-1\r\n";
      redis.send(incr + get + once + get);
      assertEquals(bulk("6.000"), redis.answer());
      assertEquals(bulk("6.000"), redis.answer());
      assertEquals("*3\r\n" + bulk("8.000") + bulk("2.000") + ":0\r\n", redis.answer());
      assertEquals(bulk("8.000"), redis.answer());
    }
  }

  @Test
  void memcachedPrintsDecimalsAndDoesNotIncrementThem() throws IOException {
    try (RawClient redis = ports.respClient();
        RawClient memcached = ports.memcachedClient()) {
      redis.ask("SET budget/m 1.5");
      assertEquals("VALUE budget/m 0 4\r\n", memcached.askLine("get budget/m"));
      assertEquals("1.50\r\n", memcached.readUntil("\r\n"));
      assertEquals("END\r\n", memcached.readUntil("\r\n"));
      for (String each :
          List.of(
              "incr budget/m 1",
              "decr budget/m 1",
              "ma budget/m",
              "ma budget/m Oid-1",
              "ma budget/new N0 J5")) {
        String reply = memcached.askLine(each);
        assertTrue(reply.startsWith("CLIENT_ERROR cannot increment or decrement a decimal"), reply);
      }
      assertEquals("NOT_FOUND\r\n", memcached.askLine("incr budget/missing 1"));
      assertEquals("STORED\r\n", memcached.askLine("set budget/m 0 0 4\r\n2.25"));
      assertEquals("STORED\r\n", memcached.askLine("set budget/n 0 0 1\r\n7"));
      assertEquals("STORED\r\n", memcached.askLine("set budget/e 0 0 3\r\n1e1"));
      assertEquals(bulk("10.00"), redis.ask("GET budget/e"));
      String tooFine = memcached.askLine("set budget/m 0 0 5\r\n2.255");
      assertTrue(tooFine.startsWith("CLIENT_ERROR value has 3 digits"), tooFine);
      assertEquals(bulk("2.25"), redis.ask("GET budget/m"));
      assertEquals(bulk("7.00"), redis.ask("GET budget/n"));
      assertEquals("$-1\r\n", redis.ask("GET budget/new"));
    }
  }

  @Test
  void theJavaClientHasUnitsAndDecimals() {
    Counter counter = remote.counter("budget/java");
    assertEquals(150, counter.add(150).orElseThrow().value());
    assertEquals(
        new BigDecimal("1.75"),
        counter.add(new BigDecimal("0.25"), RequestId.of("j")).orElseThrow().valueDecimal());
    assertEquals(new BigDecimal("1.75"), counter.read().orElseThrow().decimal());
    assertEquals(
        new RequestOutcome.Applied(25, OptionalLong.of(175), 2),
        counter.outcome(RequestId.of("j")));
    assertEquals(new SetResult.Done(300, 2), counter.set(300, 175));
    counter.set(new BigDecimal("-0.5"));
    assertEquals("-0.50", value("budget%2Fjava"));
    assertThrows(
        IllegalArgumentException.class, () -> counter.add(new BigDecimal("0.001")).isApplied());
    assertInstanceOf(SetResult.Done.class, remote.counter("java-fixed").fixScale(5));
    assertEquals(new SetResult.OtherScale(5), remote.counter("java-fixed").fixScale(4));
  }

  /** The oracle is BigDecimal; a number that went through a double would differ in its digits. */
  @Test
  void randomAmountsEqualTheDecimalSumOnEachPort() throws IOException {
    SplittableRandom random = new SplittableRandom(42);
    BigDecimal sum = BigDecimal.ZERO;
    try (RawClient redis = ports.respClient()) {
      for (int i = 0; i < 400; i++) {
        BigDecimal delta =
            BigDecimal.valueOf(random.nextLong(-(1L << 49), 1L << 49), random.nextInt(16, 19));
        sum = sum.add(delta);
        String text = delta.toPlainString();
        BigDecimal after =
            switch (i % 4) {
              case 0 ->
                  new BigDecimal(client.add("tiny", "{\"delta\":" + text + "}").text("value"));
              case 1 ->
                  new BigDecimal(client.add("tiny", "{\"delta\":\"" + text + "\"}").text("value"));
              case 2 -> new BigDecimal(redis.ask("INCRBYFLOAT tiny " + text).split("\r\n", -1)[1]);
              default -> remote.counter("tiny").add(delta).orElseThrow().valueDecimal();
            };
        assertEquals(sum.setScale(18), after);
      }
    }
  }
}
