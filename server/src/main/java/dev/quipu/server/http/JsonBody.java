package dev.quipu.server.http;

import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A JSON object that a client sent: every mistake is named with its field and its limit. */
final class JsonBody {
  /** Reads and writes all JSON of the server. */
  static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(16)
                          .maxNumberLength(64)
                          .maxStringLength(16_384)
                          .maxNameLength(256)
                          .build())
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private final JsonNode object;

  private JsonBody(JsonNode object) {
    this.object = object;
  }

  /** Reads an object with no other fields than these. */
  static JsonBody parse(String text, Set<String> fields) {
    JsonNode node;
    try {
      node = MAPPER.readTree(text);
    } catch (JacksonException e) {
      throw Problem.badRequest("the body is not valid JSON: " + e.getOriginalMessage());
    }
    if (node == null || !node.isObject()) {
      throw Problem.badRequest("the body is not a JSON object");
    }
    for (String name : node.propertyNames()) {
      if (!fields.contains(name)) {
        throw Problem.badRequest(
            "field %s is not known; known are %s".formatted(name, String.join(", ", fields)));
      }
    }
    return new JsonBody(node);
  }

  /** A text that must be there. */
  String text(String field) {
    return optionalText(field)
        .orElseThrow(() -> Problem.badRequest("field " + field + " is missing"));
  }

  /** A text. */
  Optional<String> optionalText(String field) {
    JsonNode value = object.get(field);
    if (value == null) {
      return Optional.empty();
    }
    if (!value.isString()) {
      throw Problem.badRequest("field " + field + " is not a string");
    }
    return Optional.of(value.stringValue());
  }

  /** A 64-bit integer that must be there. */
  long number(String field) {
    return optionalNumber(field)
        .orElseThrow(() -> Problem.badRequest("field " + field + " is missing"));
  }

  /** A 64-bit integer, as a JSON number or as a string of decimal digits. */
  Optional<Long> optionalNumber(String field) {
    JsonNode value = object.get(field);
    if (value == null) {
      return Optional.empty();
    }
    if (value.isString()) {
      return Optional.of(decimal(field, value.stringValue()));
    }
    if (!value.isIntegralNumber()) {
      throw Problem.badRequest("field " + field + " is not an integer");
    }
    if (!value.canConvertToLong()) {
      throw beyond(field);
    }
    return Optional.of(value.longValue());
  }

  private static long decimal(String field, String text) {
    if (!text.matches("-?(0|[1-9][0-9]{0,63})")) {
      throw Problem.badRequest("field " + field + " is not an integer");
    }
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw beyond(field);
    }
  }

  private static Problem beyond(String field) {
    return Problem.badRequest(
        "field %s is beyond 64 bits: the limits are %d and %d"
            .formatted(field, Long.MIN_VALUE, Long.MAX_VALUE));
  }
}
