package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.store.StoreUri;
import dev.quipu.store.Survival;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The parts of a store's URI, and invalid URIs. */
final class StoreUriTest {
  private static StoreUri uri(String text) {
    return new StoreUri(StoreUri.parse(text), 6_379, Set.of("prefix", "size"));
  }

  private static String rejected(String text) {
    return String.valueOf(
        assertThrows(IllegalArgumentException.class, () -> uri(text).hosts(), text).getMessage());
  }

  @Test
  void partsAreDecoded() {
    StoreUri whole = uri("redis://me%40a:s%2F%3Ae+cret@one,two:7000/a%20b/c?prefix=x%26y&size=7");
    assertEquals("redis", whole.scheme());
    assertEquals(Optional.of("me@a"), whole.user());
    assertEquals(Optional.of("s/:e+cret"), whole.password());
    assertEquals(
        List.of(new StoreUri.Host("one", 6_379), new StoreUri.Host("two", 7_000)), whole.hosts());
    assertEquals("a b/c", whole.path());
    assertEquals(Optional.of("x&y"), whole.parameter("prefix"));
    assertEquals(7, whole.parameter("size", 3, 1, 9));
    assertEquals(StoreUri.TIMEOUT, whole.timeout());
  }

  @Test
  void partsMayBeMissing() {
    StoreUri bare = uri("redis://one");
    assertEquals(Optional.empty(), bare.user());
    assertEquals(Optional.empty(), bare.password());
    assertEquals(new StoreUri.Host("one", 6_379), bare.host());
    assertEquals("", bare.path());
    assertEquals(Optional.empty(), bare.parameter("prefix"));
    assertEquals(3, bare.parameter("size", 3, 1, 9));
    assertEquals("", uri("redis:opaque").path());
    assertEquals(Optional.of("me"), uri("redis://me@one").user());
    assertEquals(Optional.empty(), uri("redis://me@one").password());
    assertEquals(Optional.empty(), uri("redis://:secret@one").user());
    assertEquals(Optional.of("secret"), uri("redis://:secret@one").password());
    assertEquals(Optional.empty(), uri("redis://me:@one").password());
  }

  @Test
  void anAddressOfIpVersion6KeepsItsColons() {
    assertEquals(new StoreUri.Host("[::1]", 6_379), uri("redis://[::1]").host());
    assertEquals(new StoreUri.Host("[::1]", 99), uri("redis://[::1]:99").host());
  }

  @ParameterizedTest
  @CsvSource({
    "redis:///0, no host",
    "redis://:99, empty host",
    "'redis://a,,b', empty host",
    "redis://a:0, port",
    "redis://a:65536, port",
    "redis://a:x, port",
    "redis://a:99999999999, port",
    "redis://a?other=1, unknown parameter 'other'",
    "redis://a?prefix, once",
    "redis://a?prefix=1&prefix=2, once",
    "redis://a#b, '#'",
    "redis://a/b@c, '@'"
  })
  void whatIsWrongIsNamed(String text, String part) {
    assertTrue(rejected(text).contains(part), rejected(text));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 65_535})
  void portsHaveLimits(int port) {
    assertEquals(port, uri("redis://a:" + port).host().port());
  }

  @Test
  void numbersHaveLimits() {
    assertEquals(9, uri("redis://a?size=9").parameter("size", 3, 1, 9));
    assertEquals(1, uri("redis://a?size=1").parameter("size", 3, 1, 9));
    for (String size : List.of("0", "10", "-1", "x", "")) {
      StoreUri wrong = uri("redis://a?size=" + size);
      assertThrows(IllegalArgumentException.class, () -> wrong.parameter("size", 3, 1, 9), size);
    }
    assertEquals(Duration.ofMillis(1), uri("redis://a?timeoutMillis=1").timeout());
    assertEquals(StoreUri.TIMEOUT_MAX, uri("redis://a?timeoutMillis=300000").timeout());
    StoreUri late = uri("redis://a?timeoutMillis=300001");
    assertThrows(IllegalArgumentException.class, late::timeout);
  }

  @Test
  void oneHostIsOne() {
    StoreUri two = uri("redis://a,b");
    assertThrows(IllegalArgumentException.class, two::host);
  }

  @Test
  void whatIsShownHasNoPasswordAndSaysWhichStoreOfTheServerItIs() {
    for (String hidden : List.of("user:secret@", "")) {
      URI uri = StoreUri.parse("redis://" + hidden + "one:1,two/0?timeoutMillis=5&prefix=eu");
      assertEquals("redis://one:1,two/0?prefix=eu", StoreUri.shown(uri));
    }
    assertEquals(
        "postgresql://one/db?table=eu",
        StoreUri.shown(StoreUri.parse("postgresql://one/db?table=eu&connections=3")));
    assertEquals("redis://one", StoreUri.shown(StoreUri.parse("redis://one")));
    assertEquals("memory:", StoreUri.shown(StoreUri.parse("memory:/")).replace("/", ""));
    assertEquals("engine:dir/a", StoreUri.shown(StoreUri.parse("engine:dir/a")));
  }

  @Test
  void whatIsNotAUriIsNotRepeated() {
    String why =
        String.valueOf(
            assertThrows(
                    IllegalArgumentException.class, () -> StoreUri.parse("redis://me:se cret@a"))
                .getMessage());
    assertTrue(!why.contains("cret") && why.contains("position 13"), why);
  }

  @Test
  void lostWritesAreAcceptedByOneWordOnly() {
    assertEquals(Survival.FSYNC, durability("").durability());
    assertEquals(Survival.FSYNC, durability("?durability=fsync").durability());
    assertEquals(Survival.PROCESS, durability("?durability=process").durability());
    assertEquals(Survival.NONE, durability("?durability=none").durability());
    StoreUri wrong = durability("?durability=Store");
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, wrong::durability);
    assertEquals(
        "durability in the store's URI is 'Store'; use one of: none, process, fsync",
        e.getMessage());
  }

  @Test
  void aPasswordMayBeInAFile(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("password"), "s:/@ e%41\n");
    String parameter = "one?passwordFile=" + file;
    assertEquals(Optional.of("s:/@ e%41"), uri("redis://me@" + parameter).password());
    assertEquals(Optional.of("me"), uri("redis://me@" + parameter).user());
    assertEquals(Optional.of("s:/@ e%41"), uri("redis://" + parameter).password());
    assertEquals("redis://one", StoreUri.shown(StoreUri.parse("redis://me@" + parameter)));
    assertTrue(rejected("redis://me:pw@" + parameter).contains("has a password and passwordFile"));
    assertTrue(rejected("redis://" + parameter + "x").contains("cannot read passwordFile"));
    Files.writeString(file, "\n");
    assertTrue(rejected("redis://" + parameter).contains("is empty"));
  }

  private static StoreUri durability(String query) {
    URI uri = StoreUri.parse("redis://one" + query);
    return new StoreUri(uri, 6_379, Set.of(StoreUri.DURABILITY_NAME));
  }
}
