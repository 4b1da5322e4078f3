package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Item.Version;
import dev.quipu.testkit.ConcurrentClients;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of {@link AtomicOperations} on every store: memcached's own rules. */
public abstract class OperationsContract extends EmptyStoreFixture {
  /** No expiry. */
  protected static final Optional<Duration> KEPT = Optional.empty();

  private static final Optional<Duration> MINUTE = Optional.of(Duration.ofMinutes(1));
  private static final OptionalLong MISS = OptionalLong.empty();

  private AtomicOperations operations;
  private boolean isNative;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openOperations before each test
  protected OperationsContract() {}

  @BeforeEach
  final void openOperations() {
    operations = store.operations();
    isNative = driver.operations().isPresent();
  }

  private String text(String key) {
    return operations.get(key).orElseThrow().text();
  }

  private long number(String key) {
    return operations.get(key).orElseThrow().number().orElseThrow();
  }

  private Version version(String key) {
    return operations.get(key).orElseThrow().version();
  }

  /** Advances the clock by a minute; returns false if items expire by the clock of a server. */
  private boolean passMinute() {
    clock.advance(Duration.ofMinutes(1));
    return !isNative;
  }

  @Test
  final void aMissingItemIsAMissAndStaysMissing() {
    assertEquals(Optional.empty(), operations.get("k"));
    assertEquals(MISS, operations.incr("k", 1));
    assertEquals(MISS, operations.decr("k", 1));
    assertFalse(operations.replace("k", "x", KEPT));
    assertFalse(operations.append("k", "x"));
    assertFalse(operations.prepend("k", "x"));
    assertFalse(operations.touch("k", MINUTE));
    assertFalse(operations.delete("k"));
    assertFalse(operations.cas("k", "x", new Version("1"), KEPT));
    assertEquals(Optional.empty(), operations.get("k"));
  }

  @Test
  final void addStoresOnlyMissingItemsAndReplaceOnlyExistingOnes() {
    assertTrue(operations.add("k", "first", KEPT));
    assertFalse(operations.add("k", "second", KEPT));
    assertEquals("first", text("k"));
    assertTrue(operations.replace("k", "third", KEPT));
    assertEquals("third", text("k"));
    operations.set("k", "fourth", KEPT);
    operations.set("other", "数 \n %", KEPT);
    assertEquals("fourth", text("k"));
    assertEquals("数 \n %", text("other"));
    assertTrue(operations.delete("k"));
    assertTrue(operations.add("k", "", KEPT));
    assertEquals("", text("k"));
  }

  @Test
  final void textsGrowAtBothEnds() {
    operations.set("k", "b", KEPT);
    assertTrue(operations.append("k", "c"));
    assertTrue(operations.prepend("k", "a"));
    assertEquals("abc", text("k"));
    operations.set("digits", "5", KEPT);
    assertTrue(operations.append("digits", "0"));
    assertEquals(OptionalLong.of(51), operations.incr("digits", 1));
    String large = "x".repeat(30_000);
    assertTrue(operations.append("k", large));
    assertEquals("abc" + large, text("k"));
  }

  @Test
  final void casStoresOnlyIfNothingHappened() {
    operations.set("k", "1", KEPT);
    Version before = version("k");
    assertTrue(operations.cas("k", "2", before, KEPT));
    assertFalse(operations.cas("k", "3", before, KEPT));
    Version second = version("k");
    assertEquals(OptionalLong.of(3), operations.incr("k", 1));
    assertFalse(operations.cas("k", "4", second, KEPT), "an incr is a change too");
    assertEquals(3, number("k"));
  }

  @Test
  final void incrBeginsAgainBeyondTheEndAndDecrStopsAtZero() {
    operations.set("k", "9223372036854775806", KEPT);
    assertEquals(OptionalLong.of(Long.MAX_VALUE), operations.incr("k", 1));
    assertEquals(OptionalLong.of(Long.MIN_VALUE), operations.incr("k", 1));
    assertEquals("9223372036854775808", Long.toUnsignedString(number("k")));
    assertEquals(OptionalLong.of(Long.MAX_VALUE), operations.decr("k", 1));
    operations.set("k", "18446744073709551615", KEPT);
    assertEquals(OptionalLong.of(-1), operations.incr("k", 0));
    assertEquals(OptionalLong.of(0), operations.incr("k", 1));
    assertEquals(OptionalLong.of(5), operations.incr("k", 5));
    assertEquals(OptionalLong.of(3), operations.decr("k", 2));
    assertEquals(OptionalLong.of(0), operations.decr("k", Long.MAX_VALUE));
    operations.set("k", "10", KEPT);
    assertEquals(OptionalLong.of(9), operations.decr("k", 1));
    assertEquals(9, number("k"), "whatever blanks are behind it");
    assertEquals(OptionalLong.of(10), operations.incr("k", 1));
    operations.set("k", "007", KEPT);
    assertEquals(OptionalLong.of(8), operations.incr("k", 1));
  }

  @Test
  final void aTextThatIsNotANumberIsNotCounted() {
    for (String text : List.of("x", "", "-1", "1.5", "18446744073709551616")) {
      operations.set("k", text, KEPT);
      QuipuException e = assertThrows(QuipuException.class, () -> operations.incr("k", 1), text);
      assertEquals(Reason.INVALID, e.reason(), text);
      assertEquals(Outcome.NOT_APPLIED, e.outcome(), text);
      assertEquals(text, text("k"));
      assertEquals(OptionalLong.empty(), operations.get("k").orElseThrow().number());
    }
  }

  @Test
  final void severalAreReadTogether() {
    operations.set("a", "1", KEPT);
    operations.set("c", "3", KEPT);
    List<Optional<AtomicOperations.Value>> found = operations.getAll(List.of("a", "b", "c"));
    assertEquals(
        List.of(Optional.of("1"), Optional.empty(), Optional.of("3")),
        found.stream().map(each -> each.map(AtomicOperations.Value::text)).toList());
    assertEquals(List.of(), operations.getAll(List.of()));
  }

  @Test
  final void expiredItemsAreMissing() {
    assertTrue(operations.add("k", "1", MINUTE));
    assertTrue(operations.add("n", "1", MINUTE));
    assertEquals(OptionalLong.of(2), operations.incr("n", 1));
    assertTrue(operations.append("k", "0"));
    Version old = version("k");
    if (passMinute()) {
      assertEquals(MISS, operations.incr("n", 1), "an incr must keep the expiry");
      assertEquals(MISS, operations.incr("k", 1), "an append must keep the expiry");
      assertFalse(operations.cas("k", "x", old, KEPT));
      assertFalse(operations.replace("k", "x", KEPT));
      assertFalse(operations.touch("k", KEPT));
      assertFalse(operations.delete("k"));
      assertTrue(operations.add("k", "2", MINUTE));
    }
    assertTrue(operations.touch("k", KEPT));
    if (passMinute()) {
      assertEquals("2", text("k"), "touch took the expiry away");
    }
  }

  @Test
  final void noConcurrentIncrIsLost() throws Exception {
    operations.set("k", "0", KEPT);
    ConcurrentClients.run(
        8,
        client -> {
          for (int i = 0; i < 50; i++) {
            operations.incr("k", 2);
            operations.decr("k", 1);
          }
          return 0;
        });
    assertEquals(400, number("k"));
  }

  @Test
  final void ofConcurrentAddsOneIsFirstAndNoConcurrentAppendIsLost() throws Exception {
    List<Boolean> added =
        ConcurrentClients.run(8, client -> operations.add("k", Integer.toString(client), KEPT));
    assertEquals(1, added.stream().filter(each -> each).count());
    ConcurrentClients.run(8, client -> operations.append("k", "."));
    assertEquals(9, text("k").length());
  }

  @Test
  final void valuesOutsideTheLimitsAreRejected() {
    for (String key : List.of("", "a b", "a\nb", "x".repeat(AtomicOperations.KEY_BYTES_MAX + 1))) {
      assertThrows(IllegalArgumentException.class, () -> operations.get(key));
      assertThrows(IllegalArgumentException.class, () -> operations.getAll(List.of(key)));
      assertThrows(IllegalArgumentException.class, () -> operations.incr(key, 1));
      assertThrows(IllegalArgumentException.class, () -> operations.set(key, "", KEPT));
      assertThrows(IllegalArgumentException.class, () -> operations.append(key, ""));
      assertThrows(IllegalArgumentException.class, () -> operations.delete(key));
    }
    String longest = "数".repeat(83) + "x";
    operations.set(longest, "1", KEPT);
    assertEquals(OptionalLong.of(2), operations.incr(longest, 1));
    assertThrows(IllegalArgumentException.class, () -> operations.incr("k", -1));
    assertThrows(IllegalArgumentException.class, () -> operations.decr("k", -1));
    for (Duration expiry :
        List.of(Duration.ZERO, AtomicOperations.EXPIRY_MAX.plusMillis(1), Duration.ofDays(-1))) {
      assertThrows(
          IllegalArgumentException.class, () -> operations.add("k", "1", Optional.of(expiry)));
    }
    for (String value :
        List.of("a\0b", "\ud800", "x".repeat(AtomicOperations.VALUE_BYTES_MAX + 1))) {
      assertThrows(IllegalArgumentException.class, () -> operations.set("k", value, KEPT));
    }
    assertEquals(Optional.empty(), operations.get("k"));
    assertTrue(operations.add("k", "1", Optional.of(AtomicOperations.EXPIRY_MAX)));
    assertEquals("1", text("k"));
  }
}
