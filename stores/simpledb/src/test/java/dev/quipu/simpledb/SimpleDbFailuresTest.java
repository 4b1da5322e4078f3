package dev.quipu.simpledb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.simpledbserver.SimpleDbFault;
import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Failures reported by the driver, compared with the server's statistics. */
final class SimpleDbFailuresTest {
  private static final Key KEY = new Key("p", "s");

  private final SimpleDbServer server =
      SimpleDbServer.start(SimpleDbOptions.DEFAULT.countingInPartsOf(7), Clock.system());
  private final StoreDriver driver = Servers.open(server, 5_000);

  @AfterEach
  void close() {
    driver.close();
    server.close();
  }

  private static Write number(Key key, long value) {
    return new Write.Put(
        key, Map.of(Item.VALUE, new Field.Number(value)), Optional.empty(), Condition.always());
  }

  private long value() {
    return driver.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE);
  }

  @Test
  void onlyA4xxReplyIsNotAppliedAndCallsAreSentOnce() {
    driver.write(number(KEY, 0));
    long value = 0;
    for (SimpleDbFault fault : SimpleDbFault.values()) {
      long before = server.applied();
      server.use(Map.of(fault, 1.0));
      Write write = number(KEY, value + 1);
      QuipuException e = assertThrows(QuipuException.class, () -> driver.write(write));
      QuipuException ofTokens =
          assertThrows(
              QuipuException.class,
              () -> driver.addTokens(new Key("p", "t"), "f", Set.of(fault.name())));
      server.use(Map.of());
      assertEquals(Outcome.UNKNOWN, e.outcome(), fault::name);
      assertEquals(Outcome.UNKNOWN, ofTokens.outcome(), fault::name);
      assertTrue(e.reason().isTemporary());
      boolean none =
          fault == SimpleDbFault.UNAVAILABLE || fault == SimpleDbFault.ERROR_BEFORE_APPLY;
      assertEquals(before + (none ? 0 : 2), server.applied(), fault::name);
      assertEquals(2, server.fired().get(fault));
      value += none ? 0 : 1;
      assertEquals(value, value());
    }
  }

  @Test
  void afterALostReplyAConditionalWriteFindsItsOwnState() {
    driver.write(number(KEY, 1));
    Item before = driver.get(KEY, Consistency.STRONG).orElseThrow();
    Write write = number(KEY, 2).when(new Condition.VersionIs(before.version()));
    server.use(Map.of(SimpleDbFault.REPLY_DROPPED, 1.0));
    assertThrows(QuipuException.class, () -> driver.write(write));
    server.use(Map.of());
    WriteResult.ConditionFailed again =
        assertInstanceOf(WriteResult.ConditionFailed.class, driver.write(write));
    assertEquals(2, again.found().orElseThrow().number(Item.VALUE));
  }

  @Test
  void noAnswerInTimeIsUnknown() throws Exception {
    try (ServerSocket deaf = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        SimpleDbClient client =
            new SimpleDbClient(
                URI.create("http://127.0.0.1:" + deaf.getLocalPort()),
                new SimpleDbClient.Credentials("key", "secret", Optional.empty()),
                Duration.ofMillis(200),
                Clock.system());
        SimpleDbDriver slow = SimpleDbDriver.of(client, List.of(Servers.DOMAIN))) {
      QuipuException write = assertThrows(QuipuException.class, () -> slow.write(number(KEY, 1)));
      assertEquals(Outcome.UNKNOWN, write.outcome());
      assertEquals(Reason.TIMEOUT, write.reason());
      QuipuException read =
          assertThrows(QuipuException.class, () -> slow.get(KEY, Consistency.STRONG));
      assertEquals(Outcome.NOT_APPLIED, read.outcome());
    }
  }

  @Test
  void aRejectedConnectionIsNotApplied() {
    server.close();
    QuipuException e = assertThrows(QuipuException.class, () -> driver.write(number(KEY, 1)));
    while (e.outcome() == Outcome.UNKNOWN) { // pooled connections are closed first
      e = assertThrows(QuipuException.class, () -> driver.write(number(KEY, 1)));
    }
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(Reason.UNAVAILABLE, e.reason());
  }

  @Test
  void wrongCredentialsAreDeniedAndNotShown() {
    String uri =
        "simpledb://key:wrong-secret@us-east-1/abc?endpoint=%s".formatted(server.endpoint());
    QuipuException e = assertThrows(QuipuException.class, () -> StoreProvider.open(uri));
    assertEquals(Reason.DENIED, e.reason());
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertFalse(e.getMessage().contains("wrong-secret"));
  }

  @Test
  void exceededLimitsAreNamedAndNothingIsWritten() {
    // 252 values of 1,019 bytes, less "t f " and the end of the line
    String most = "x".repeat(252 * 1_019 - 5);
    Map<String, Field> fields = Map.of("f", new Field.Text(most));
    assertInstanceOf(WriteResult.Applied.class, driver.write(put(fields)));
    assertEquals(fields, driver.get(KEY, Consistency.STRONG).orElseThrow().fields());
    invalid(
        "would have 257 pairs; the limit of SimpleDB is 256",
        put(Map.of("f", new Field.Text(most + "x"))));
    QuipuException e =
        assertThrows(
            QuipuException.class,
            () -> driver.addTokens(new Key("p", "t"), "f", Set.of("x".repeat(1_021))));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertTrue(
        e.getMessage().contains("1025 bytes with its field; the limit of SimpleDB is 1024"),
        e::getMessage);
    assertEquals(fields, driver.get(KEY, Consistency.STRONG).orElseThrow().fields());
  }

  private static Write put(Map<String, Field> fields) {
    return new Write.Put(KEY, fields, Optional.empty(), Condition.always());
  }

  private void invalid(String message, Write write) {
    QuipuException e = assertThrows(QuipuException.class, () -> driver.write(write));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(Reason.INVALID, e.reason());
    assertTrue(e.getMessage().contains(message), e::getMessage);
  }

  @Test
  void everyTextRoundTrips() {
    for (String text : List.of("", "\r\n \n", "%20 %0A %250D%", "a\tb'`\"<&>", "数\uD83D\uDE00")) {
      Map<String, Field> fields =
          Map.of("name" + text, new Field.Text(text), "s", new Field.Tokens(Set.of(text, "x")));
      driver.write(put(fields));
      assertEquals(fields, driver.get(KEY, Consistency.STRONG).orElseThrow().fields());
      Key key = new Key("p", "tokens");
      driver.addTokens(key, "f", Set.of(text));
      assertTrue(driver.get(key, Consistency.STRONG).orElseThrow().tokens("f").contains(text));
    }
  }

  @Test
  void tokensAreAddedAndDroppedUntilTheItemIsFull() {
    Key key = new Key("p", "t");
    driver.addTokens(key, "f", Set.of("a", "b", " c %"));
    driver.addTokens(key, "g", Set.of(""));
    driver.addTokens(key, "f", Set.of("a"));
    driver.dropTokens(key, "f", Set.of("b", "never"));
    Item item = driver.get(key, Consistency.STRONG).orElseThrow();
    assertEquals(Set.of("a", " c %"), item.tokens("f"));
    assertEquals(Set.of(""), item.tokens("g"));
    assertEquals(List.of(item), ScanDriver.of(driver).scan(Scan.all("p")).items());
    WriteResult unmet = driver.write(number(key, 1).when(new Condition.VersionIs(new Version(""))));
    assertInstanceOf(WriteResult.ConditionFailed.class, unmet);
    for (int i = 0; i < 251; i++) { // beside two tokens of f, one of g, partition and sort
      driver.addTokens(key, "f", Set.of("t" + i));
    }
    QuipuException e =
        assertThrows(QuipuException.class, () -> driver.addTokens(key, "f", Set.of("more")));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(Reason.FULL, e.reason());
    driver.dropTokens(key, "f", Set.of("t0"));
    driver.addTokens(key, "f", Set.of("more"));
  }

  @Test
  void partialCountsAreSummed() {
    for (int i = 0; i < 30; i++) {
      driver.write(number(new Key("p", "%02d".formatted(i)), i));
    }
    driver.write(number(new Key("o", "05"), 1));
    assertEquals(30, ScanDriver.of(driver).count(Scan.all("p")));
    Scan some = new Scan("p", "05", Optional.of("25"), true, 3, Consistency.EVENTUAL);
    assertEquals(20, ScanDriver.of(driver).count(some));
    assertEquals(0, ScanDriver.of(driver).count(Scan.all("q")));
  }
}
