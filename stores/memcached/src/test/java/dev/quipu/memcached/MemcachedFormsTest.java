package dev.quipu.memcached;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.testservers.MemcachedServer;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The two forms of a number, and the conversion between them. */
final class MemcachedFormsTest {
  private static final Key KEY = new Key("p", "s");
  private static final String NAME = "quipu:p:s";
  private static final long NATIVE_MAX = 1L << 32;

  private MemcachedServer server;
  private StoreDriver driver;

  @SuppressWarnings("NullAway.Init") // JUnit calls open before each test
  MemcachedFormsTest() {}

  @BeforeEach
  void open() {
    server = Caches.emptyServer();
    driver = StoreProvider.open(Caches.uri(server.port(), Duration.ofMinutes(1)));
  }

  @AfterEach
  void close() {
    driver.close();
  }

  @Test
  void aServerThatDoesNotAnswerIsNamed() {
    String uri = "memcached://127.0.0.1:%d,127.0.0.1:1".formatted(server.port());
    QuipuException e = assertThrows(QuipuException.class, () -> StoreProvider.open(uri).close());
    assertEquals(
        "memcached (127.0.0.1:1): no reply. Check that each server of the store's URI is running",
        e.getMessage());
  }

  private long add(long delta) {
    Write add =
        new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, delta)), Condition.always());
    return assertInstanceOf(WriteResult.Applied.class, driver.write(add))
        .after()
        .orElseThrow()
        .number(Item.VALUE);
  }

  private long value() {
    return driver.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE);
  }

  private boolean isDigits() {
    return !Caches.ask(server, "incr " + NAME + " 0").startsWith("CLIENT_ERROR");
  }

  @Test
  void aNumberIsDigitsThatOthersCanReadAndGoesBelowZero() {
    assertEquals(5, add(5));
    assertEquals(-2, add(-7));
    assertEquals(Long.toString((1L << 62) - 2), Caches.ask(server, "incr " + NAME + " 0"));
    assertEquals(-2, value());
    assertTrue(isDigits());
  }

  @Test
  void beyondItsRangeANumberBecomesBinaryAndGoesOn() {
    long edge = 1L << 61;
    add(edge - NATIVE_MAX); // by cas: so it is binary at once
    assertFalse(isDigits());
    driver.write(new Write.Delete(KEY, Condition.always()));
    add(1);
    String near = Long.toUnsignedString((1L << 62) + edge - 1);
    Caches.ask(server, "set %s 0 0 %d\r\n%s".formatted(NAME, near.length(), near));
    assertEquals(edge - 1, value());
    assertEquals(edge, add(1));
    assertTrue(isDigits());
    assertEquals(edge + 1, add(1));
    assertFalse(isDigits(), "past its range it must be binary");
    assertEquals(edge + 1, value());
    assertEquals(edge + 3, add(2));
    assertEquals(edge + 3 - NATIVE_MAX, add(-NATIVE_MAX));
  }

  @Test
  void aNumberThatGotShorterIsRead() {
    add(0);
    String shorter = Long.toString((1L << 62) - (1L << 61));
    Caches.ask(server, "set %s 0 0 %d\r\n%s ".formatted(NAME, shorter.length() + 1, shorter));
    assertEquals(-(1L << 61), value());
  }

  @Test
  void foreignValuesAreReported() {
    Caches.ask(server, "set %s 0 0 5\r\nhello".formatted(NAME));
    QuipuException e = assertThrows(QuipuException.class, this::value);
    assertEquals(Reason.CORRUPT, e.reason());
    assertTrue(String.valueOf(e.getMessage()).contains(NAME), e.getMessage());
  }

  @Test
  void namesAreSafeAndNoTwoKeysShareOne() {
    Set<String> names = new HashSet<>();
    List<String> parts =
        List.of("a", "a:b", "b", ":", "%3A", "a b", "数", "x".repeat(200), "x".repeat(201), "A");
    for (String partition : parts) {
      for (String sort : parts) {
        String name = ItemCodec.name(new Key(partition, sort));
        assertTrue(name.matches("[!-~]{1,250}"), name);
        assertTrue(names.add(name), name);
      }
    }
  }

  @Test
  void aServerThatIsAwayIsNamedWhenTheStoreOpens() {
    QuipuException e =
        assertThrows(
            QuipuException.class, () -> StoreProvider.open(Caches.uri(1, Duration.ofMillis(500))));
    assertEquals(Reason.UNAVAILABLE, e.reason());
    assertNotEquals("", e.getMessage());
  }
}
