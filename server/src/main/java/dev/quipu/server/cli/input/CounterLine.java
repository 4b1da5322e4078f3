package dev.quipu.server.cli.input;

import dev.quipu.Add;
import dev.quipu.Decimal;
import dev.quipu.RequestId;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Parses lines of NDJSON that add to counters: {@code {"name","delta","id"}}, with an optional id,
 * or {@code {"name","value"}} as printed by export.
 *
 * <p>An unknown field is an error: a line with a floor must not be added without it.
 */
public final class CounterLine {
  private static final Set<String> ADD = Set.of("name", "delta", "id");
  private static final Set<String> EXPORTED = Set.of("name", "value", "scale");
  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .build();

  private CounterLine() {}

  /**
   * What a line adds.
   *
   * @param scale of an exported counter, 0 if it has none
   */
  public record Line(Add add, int scale) {}

  /**
   * Parses a line.
   *
   * @param id returns the request id of a line that has none
   * @return empty if there is nothing to add: a blank line, or an exported counter with value 0
   * @throws IllegalArgumentException naming the invalid field
   */
  public static Optional<Line> parse(String line, UnaryOperator<String> id) {
    if (line.isBlank()) {
      return Optional.empty();
    }
    JsonNode node = object(CombinedLog.checkEncoding("line", line));
    boolean exported = node.has("value");
    for (String field : node.propertyNames()) {
      if (!(exported ? EXPORTED : ADD).contains(field)) {
        throw new IllegalArgumentException(
            field
                + ": unknown field; known fields are name, delta and id, or name, value and scale");
      }
    }
    String name = text(node, "name");
    Decimal delta = number(node, exported ? "value" : "delta");
    if (exported && delta.units() == 0) {
      return Optional.empty();
    }
    String own = node.has("id") ? text(node, "id") : id.apply(line);
    Add add = Add.of(name, delta, null, null, RequestId.of(own));
    int scale =
        node.has("scale") ? Decimal.checkScale(number(node, "scale").unitsAt("scale:", 0)) : 0;
    return Optional.of(new Line(add, scale));
  }

  /** Parses an object; a member that occurs twice, or text after the object, is an error. */
  static JsonNode object(String line) {
    JsonNode node;
    try {
      node = MAPPER.readTree(line);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("not JSON: " + e.getOriginalMessage(), e);
    }
    if (!node.isObject()) {
      throw new IllegalArgumentException("not a JSON object");
    }
    return node;
  }

  private static String text(JsonNode node, String field) {
    JsonNode value = node.path(field);
    if (!value.isString()) {
      throw new IllegalArgumentException(field + ": not a string");
    }
    return value.stringValue();
  }

  private static Decimal number(JsonNode node, String field) {
    JsonNode value = node.path(field);
    if (value.isNumber()) {
      return Decimal.of(field + ":", value.decimalValue());
    }
    return Decimal.parse(field + ":", value.isString() ? value.stringValue() : "");
  }
}
