package dev.quipu.server.http.message;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/*
 * Read token by token, up to the first field that is not known: a tree of what a client sent may
 * hold thirty times its bytes.
 */

/** A JSON object that a client sent: every mistake is named with its field and its limit. */
public final class JsonBody {
  private static final int DEPTH_MAX = 16;
  private static final int NUMBER_CHARACTERS_MAX = 64;
  private static final int STRING_CHARACTERS_MAX = 16_384;
  private static final int NAME_CHARACTERS_MAX = 256;

  /** Where a message of the parser begins to speak of its source. */
  private static final Pattern SOURCE =
      Pattern.compile(
          "\\s*\\((?:for|start marker) .*|\\[Source.*"
              + "|[:;,]?\\s*\\(?(?:enable|not recognized as one since)[^(]*Feature.*");

  /** Reads and writes all JSON of the server. */
  static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(DEPTH_MAX)
                          .maxNumberLength(NUMBER_CHARACTERS_MAX)
                          .maxStringLength(STRING_CHARACTERS_MAX)
                          .maxNameLength(NAME_CHARACTERS_MAX)
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

  /**
   * Reads an object with no other fields than these.
   *
   * @param what the text is: "body" or "line"
   */
  static JsonBody parse(String what, String text, Set<String> fields) {
    try (JsonParser parser = MAPPER.createParser(text)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        parser.skipChildren();
        checkEnd(what, parser);
        throw Problem.badRequest("the %s is not a JSON object".formatted(what));
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
      checkEnd(what, parser);
      return new JsonBody(object);
    } catch (JacksonException e) {
      throw Problem.badRequest("the %s is not valid JSON: %s".formatted(what, why(e)));
    }
  }

  /** What is wrong, without what only the parser's own code knows. */
  private static String why(JacksonException e) {
    String message = String.valueOf(e.getOriginalMessage());
    if (!(e instanceof StreamConstraintsException)) {
      return SOURCE.matcher(message.lines().findFirst().orElse("")).replaceFirst("");
    }
    if (message.contains("depth")) {
      return "it is nested deeper than %d, which is the limit; nest less".formatted(DEPTH_MAX);
    }
    if (message.startsWith("Number")) {
      return tooLong("number", NUMBER_CHARACTERS_MAX);
    }
    return message.startsWith("Name")
        ? tooLong("field name", NAME_CHARACTERS_MAX)
        : tooLong("string", STRING_CHARACTERS_MAX);
  }

  private static String tooLong(String value, int charactersMax) {
    return "a %s is longer than %d characters, which is the limit; shorten it"
        .formatted(value, charactersMax);
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

  private static void checkEnd(String what, JsonParser parser) {
    if (parser.nextToken() != null) {
      throw Problem.badRequest(
          "the %s is not valid JSON: there is more after its end".formatted(what));
    }
  }

  /** A text that must be there. */
  public String text(String field) {
    return optionalText(field).orElseThrow(() -> missing(field, "a string"));
  }

  private static Problem missing(String field, String type) {
    return Problem.badRequest("field %s is missing; send %s".formatted(field, type));
  }

  /** A text. */
  public Optional<String> optionalText(String field) {
    Object value = object.get(field);
    if (value == null) {
      return Optional.empty();
    }
    if (value instanceof String text) {
      return Optional.of(text);
    }
    throw Problem.badRequest("field %s is not a string; send one in quotes".formatted(field));
  }

  /** A 64-bit integer that must be there. */
  public long number(String field) {
    return optionalNumber(field).orElseThrow(() -> missing(field, "an integer of 64 bits"));
  }

  /** A 64-bit integer, as a JSON number or as a string of decimal digits. */
  public Optional<Long> optionalNumber(String field) {
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
    throw notInteger(field);
  }

  private static long decimal(String field, String text) {
    if (!text.matches("-?(0|[1-9][0-9]{0,63})")) {
      throw notInteger(field);
    }
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw beyond(field);
    }
  }

  private static Problem notInteger(String field) {
    return Problem.badRequest(
        "field %s is not an integer; send a JSON number or a string of decimal digits, from %d to %d"
            .formatted(field, Long.MIN_VALUE, Long.MAX_VALUE));
  }

  private static Problem beyond(String field) {
    return Problem.badRequest(
        "field %s is beyond 64 bits: the limits are %d and %d"
            .formatted(field, Long.MIN_VALUE, Long.MAX_VALUE));
  }
}
