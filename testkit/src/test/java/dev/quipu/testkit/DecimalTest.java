package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Decimal;
import dev.quipu.ScaleRules;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Exact decimals against {@link BigDecimal}, and the rules of names. */
final class DecimalTest {
  private static final BigInteger LEAST = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);

  @Test
  void randomTextsEqualBigDecimal() {
    SplittableRandom random = new SplittableRandom(59);
    int inRange = 0;
    for (int i = 0; i < 200_000; i++) {
      String text = text(random);
      int scale = random.nextInt(19);
      BigDecimal exact = new BigDecimal(text);
      boolean hasExponent = text.contains("e");
      int digits = Math.max(exact.scale(), hasExponent ? 1 : 0);
      Optional<Long> expected =
          digits > scale ? Optional.empty() : units(exact.setScale(scale).unscaledValue());
      // It must also fit with its own digits, of which there are no more than those.
      Optional<Long> found;
      try {
        found = Optional.of(Decimal.parse("x", text).unitsAt("x", scale));
      } catch (IllegalArgumentException e) {
        assertTrue(String.valueOf(e.getMessage()).startsWith("x "), e.getMessage());
        found = Optional.empty();
      }
      assertEquals(expected, found, text + " at " + scale);
      if (found.isPresent()) {
        inRange++;
        String shown = Decimal.text(found.get(), scale);
        assertEquals(exact.setScale(scale).toPlainString(), shown);
        assertEquals(found.get(), Decimal.parse("x", shown).unitsAt("x", scale));
      }
    }
    assertTrue(inRange > 20_000, "most are out of range: " + inRange);
  }

  private static Optional<Long> units(BigInteger number) {
    return number.compareTo(LEAST) < 0 || number.compareTo(MOST) > 0
        ? Optional.empty()
        : Optional.of(number.longValueExact());
  }

  private static String text(SplittableRandom random) {
    StringBuilder text = new StringBuilder(random.nextInt(3) == 0 ? "-" : "");
    int whole = random.nextInt(12);
    text.append(whole == 0 ? "0" : Integer.toString(random.nextInt(1, 10)));
    for (int i = 1; i < whole; i++) {
      text.append(random.nextInt(10));
    }
    int fraction = random.nextInt(12);
    for (int i = 0; i < fraction; i++) {
      text.append(i == 0 ? "." : "").append(random.nextInt(10));
    }
    if (random.nextInt(4) == 0) {
      text.append('e').append(random.nextInt(-12, 12));
    }
    return text.toString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "+1",
        "01",
        "-01",
        "00",
        ".5",
        "5.",
        "1e",
        "1e+",
        "e1",
        "1_0",
        "1,5",
        " 1",
        "1 ",
        "NaN",
        "Infinity",
        "0x10",
        "1f",
        "1d",
        "١",
        "1..2",
        "1.2.3",
        "--1"
      })
  void otherTextsAreRejected(String text) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> Decimal.parse("field x", text))
            .getMessage();
    assertTrue(String.valueOf(message).startsWith("field x is not an integer or a decimal"), text);
  }

  /** A small text must not become a number of many digits. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "1e9999",
        "-1e9999",
        "1e-9999",
        "1e99999",
        "1e-999999999",
        "1e999999999",
        "9223372036854775808",
        "1e20"
      })
  void numbersBeyondTheRangeAreRejected(String text) {
    assertThrows(IllegalArgumentException.class, () -> Decimal.parse("x", text));
  }

  @ParameterizedTest
  @CsvSource({"0e9999, 0, 1", "0.000, 0, 3", "-0, 0, 0", "1e2, 1000, 1", "1.50, 150, 2"})
  void digitsCountAsTheyAreWritten(String text, long units, int scale) {
    assertEquals(new Decimal(units, scale), Decimal.parse("x", text));
  }

  @Test
  void errorsStateTheLength() {
    assertEquals(
        "x has 65 characters; the limit of a number is 64. Shorten it",
        assertThrows(IllegalArgumentException.class, () -> Decimal.parse("x", "1".repeat(65)))
            .getMessage());
  }

  @Test
  void errorsStateTheDigitsAndTheLimit() {
    Decimal fine = Decimal.parse("field x", "1.234");
    assertEquals(
        "field x has 3 digits after the point; the limit is 2, the scale of the counter",
        assertThrows(IllegalArgumentException.class, () -> fine.unitsAt("field x", 2))
            .getMessage());
    assertEquals(
        "x has 19 digits after the point; the limit is 18",
        assertThrows(
                IllegalArgumentException.class, () -> Decimal.parse("x", "0.1234567890123456789"))
            .getMessage());
    assertEquals(
        "x does not fit into 64 bits; with 2 digits after the point it must be from"
            + " -92233720368547758.08 to 92233720368547758.07",
        assertThrows(
                IllegalArgumentException.class, () -> Decimal.parse("x", "92233720368547758.08"))
            .getMessage());
  }

  @Test
  void amountsOfAnAddHaveOneScale() {
    Add add =
        Add.of(
            "a",
            Decimal.parse("delta", "1"),
            Decimal.parse("floor", "-0.5"),
            Decimal.parse("ceiling", "10.25"),
            null);
    assertEquals(new Add("a", 100, Bounds.between(-50, 1_025), null, 2), add);
    assertEquals(new Add("a", 1_000, Bounds.between(-500, 10_250), null, 3), add.at(3));
    assertThrows(IllegalArgumentException.class, () -> add.at(1));
    Add open = Add.of("a", Decimal.parse("delta", "1"), Decimal.parse("floor", "0"), null, null);
    assertEquals(Bounds.atLeast(0), open.at(18).bounds(), "no ceiling stays none");
    Add units = new Add("a", 7, null);
    assertEquals(units, units.at(5));
  }

  @ParameterizedTest
  @CsvSource({
    "budget, 0",
    "budget/, 2",
    "budget/x, 2",
    "budget/team/x, 4",
    "rate, 6",
    "rate2, 0",
    "x, 0"
  })
  void theLongestPrefixGivesTheScale(String name, int scale) {
    ScaleRules rules = ScaleRules.parse(List.of("budget/*=2", "budget/team/*=4", "rate=6"));
    assertEquals(scale, rules.of(name));
    assertEquals("budget/*=2,budget/team/*=4,rate=6", rules.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "=2", "a=", "a=x", "a=-1", "a=19", "a*b=2", "**=1", "a=1.0"})
  void malformedRulesAreRejected(String rule) {
    assertThrows(IllegalArgumentException.class, () -> ScaleRules.parse(List.of(rule)));
  }

  @Test
  void aPatternHasOneScale() {
    assertThrows(IllegalArgumentException.class, () -> ScaleRules.parse(List.of("a*=1", "a*=1")));
  }
}
