package dev.quipu.server.http;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/*
 * Read token by token, up to the first field that is not known: a tree of what a client sent may
 * hold thirty times its bytes.
 */

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
          .build();

  /** Values by field: a String, a Long, or one of {@link Other}. */
  private final Map<String, Object> object;

  /** A value that no field may have. */
  private enum Other {
    BEYOND_64_BITS,
    NO_INTEGER
  }

  private JsonBody(Map<String, Object> object) {
    this.object = object;
  }

  /** Reads an object with no other fields than these. */
  static JsonBody parse(String text, Set<String> fields) {
    try (JsonParser parser = MAPPER.createParser(text)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        parser.skipChildren();
        checkEnd(parser);
        throw Problem.badRequest("the body is not a JSON object");
      }
      Map<String, Object> object = new HashMap<>();
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String name = parser.currentName();
        if (!fields.contains(name)) {
          throw Problem.badRequest(
              "field %s is not known; known are %s".formatted(name, String.join(", ", fields)));
        }
        parser.nextToken();
        object.put(name, value(parser));
      }
      checkEnd(parser);
      return new JsonBody(object);
    } catch (JacksonException e) {
      throw Problem.badRequest("the body is not valid JSON: " + e.getOriginalMessage());
    }
  }

  private static Object value(JsonParser parser) {
    if (parser.currentToken() == JsonToken.VALUE_STRING) {
      return parser.getString();
    }
    if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT) {
      return parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
          ? Other.BEYOND_64_BITS
          : (Object) parser.getLongValue();
    }
    parser.skipChildren();
    return Other.NO_INTEGER;
  }

  private static void checkEnd(JsonParser parser) {
    if (parser.nextToken() != null) {
      throw Problem.badRequest("the body is not valid JSON: there is more after its end");
    }
  }

  /** A text that must be there. */
  String text(String field) {
    return optionalText(field)
        .orElseThrow(() -> Problem.badRequest("field " + field + " is missing"));
  }

  /** A text. */
  Optional<String> optionalText(String field) {
    Object value = object.get(field);
    if (value == null) {
      return Optional.empty();
    }
    if (value instanceof String text) {
      return Optional.of(text);
    }
    throw Problem.badRequest("field " + field + " is not a string");
  }

  /** A 64-bit integer that must be there. */
  long number(String field) {
    return optionalNumber(field)
        .orElseThrow(() -> Problem.badRequest("field " + field + " is missing"));
  }

  /** A 64-bit integer, as a JSON number or as a string of decimal digits. */
  Optional<Long> optionalNumber(String field) {
    Object value = object.get(field);
    if (value == null) {
      return Optional.empty();
    }
    if (value instanceof String text) {
      return Optional.of(decimal(field, text));
    }
    if (value instanceof Long number) {
      return Optional.of(number);
    }
    if (value == Other.BEYOND_64_BITS) {
      throw beyond(field);
    }
    throw Problem.badRequest("field " + field + " is not an integer");
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
