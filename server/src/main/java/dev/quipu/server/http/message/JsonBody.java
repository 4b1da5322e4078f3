package dev.quipu.server.http.message;

import dev.quipu.Decimal;
import dev.quipu.Limits;
import dev.quipu.Transactions;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.UnexpectedEndOfInputException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/*
 * Parsed token by token, up to the first unknown field: a tree of the same JSON may take thirty
 * times its bytes.
 */

/** A JSON object in a request. Every error states the field and the limit. */
public final class JsonBody {
  private static final int DEPTH_MAX = 16;
  private static final int NUMBER_CHARACTERS_MAX = 64;
  private static final int STRING_CHARACTERS_MAX = 16_384;
  private static final int NAME_CHARACTERS_MAX = 256;
  private static final int ARRAY_MAX = Limits.PAGE_COUNTERS_MAX;
  private static final int OBJECTS_MAX = Transactions.COUNTERS_MAX;

  /** More than any object in an array may have, so that one of these is unknown. */
  private static final int NESTED_FIELDS_MAX = 8;

  /** The begin of a message of the parser. */
  private static final String DUPLICATE = "Duplicate Object property";

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
                  .rootValueSeparator("\n")
                  .build())
          .build();

  private static final int WRITTEN_BYTES = 256;

  /** Returns JSON that is written at once, without a tree of it. */
  public static byte[] written(Consumer<JsonGenerator> content) {
    ByteArrayOutputStream body = new ByteArrayOutputStream(WRITTEN_BYTES);
    try (JsonGenerator json = MAPPER.createGenerator(body)) {
      content.accept(json);
    }
    return body.toByteArray();
  }

  /**
   * Values by field: a String, a Long, a Boolean, {@link Fraction}, {@link Texts}, {@link Objects},
   * {@link Members}, or {@link Other}.
   */
  private final Map<String, Object> object;

  /** Where the object is in the body, for messages; empty for the body itself. */
  private final String prefix;

  /** A number with a point or an exponent, as it is written. */
  private record Fraction(String text) {}

  /** An array of {@code count} strings; those beyond the limit are not kept. */
  private record Texts(List<String> kept, int count) {}

  /** An array of {@code count} objects; those beyond the limit are not kept. */
  private record Objects(List<Map<String, Object>> kept, int count) {}

  /** An object whose values are strings; those beyond the limit are not kept. */
  private record Members(Map<String, String> kept, int count) {}

  /** A value that is invalid for every field. */
  private enum Other {
    BEYOND_64_BITS,
    OTHER_TYPE
  }

  private JsonBody(Map<String, Object> object, String prefix) {
    this.object = object;
    this.prefix = prefix;
  }

  /**
   * Parses an object with no other fields than these.
   *
   * @param what "body" or "line", for messages
   */
  static JsonBody parse(String what, ByteBuffer bytes, Set<String> fields) {
    try (JsonParser parser = parser(what, bytes)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        parser.skipChildren();
        checkEnd(what, parser);
        throw Problem.badRequest("the %s is not a JSON object".formatted(what));
      }
      JsonBody body = object(parser, fields);
      checkEnd(what, parser);
      return body;
    } catch (JacksonException e) {
      String problem =
          e instanceof StreamConstraintsException ? "exceeds a limit" : "is not valid JSON";
      throw Problem.badRequest("the %s %s: %s".formatted(what, problem, why(e)));
    }
  }

  /** Parses an object after its begin. */
  static JsonBody object(JsonParser parser, Set<String> fields) {
    Map<String, Object> object = new HashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      if (!fields.contains(name)) {
        throw unknown(name, fields);
      }
      parser.nextToken();
      object.put(name, value(parser));
    }
    return new JsonBody(object, "");
  }

  /** Returns a parser, which does not check by itself that all bytes are UTF-8. */
  private static JsonParser parser(String what, ByteBuffer bytes) {
    if (bytes.hasArray() && isAscii(bytes)) {
      return MAPPER.createParser(
          bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
    }
    try {
      return MAPPER.createParser(
          StandardCharsets.UTF_8.newDecoder().decode(bytes.duplicate()).toString());
    } catch (CharacterCodingException e) {
      throw Problem.badRequest("the %s is not valid UTF-8".formatted(what));
    }
  }

  /**
   * Returns whether all bytes, in an array, are ASCII, and none is 0, by which a parser detects
   * UTF-16.
   */
  static boolean isAscii(ByteBuffer bytes) {
    byte[] array = bytes.array(); // faster than from the buffer
    int end = bytes.arrayOffset() + bytes.limit();
    for (int i = bytes.arrayOffset() + bytes.position(); i < end; i++) {
      if (array[i] <= 0) {
        return false;
      }
    }
    return true;
  }

  private static Problem unknown(String name, Set<String> fields) {
    return Problem.badRequest(
        "unknown field %s; %s"
            .formatted(
                name,
                fields.isEmpty()
                    ? "send an empty object, or no body"
                    : "known fields are " + String.join(", ", new TreeSet<>(fields))));
  }

  /** Returns the reason, and where it is. */
  private static String why(JacksonException e) {
    String message = String.valueOf(e.getOriginalMessage());
    if (!(e instanceof StreamConstraintsException)) {
      TokenStreamLocation at = e.getLocation();
      String what =
          message.startsWith(DUPLICATE)
              ? "duplicate field"
                  + message.substring(DUPLICATE.length()).lines().findFirst().orElse("")
              : e instanceof UnexpectedEndOfInputException ? "unexpected end" : "unexpected text";
      return at == null
          ? what
          : "%s at line %d, column %d".formatted(what, at.getLineNr(), at.getColumnNr());
    }
    if (message.contains("depth")) {
      return "it is nested deeper than %d levels, which is the limit".formatted(DEPTH_MAX);
    }
    if (message.startsWith("Number")) {
      return tooLong("number", NUMBER_CHARACTERS_MAX);
    }
    return message.startsWith("Name")
        ? tooLong("field name", NAME_CHARACTERS_MAX)
        : "a string is longer than %d characters, or a number than %d, which are the limits; shorten it"
            .formatted(STRING_CHARACTERS_MAX, NUMBER_CHARACTERS_MAX);
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
    if (parser.currentToken() == JsonToken.VALUE_NUMBER_FLOAT) {
      return new Fraction(parser.getString());
    }
    if (parser.currentToken().isBoolean()) {
      return parser.currentToken() == JsonToken.VALUE_TRUE;
    }
    if (parser.currentToken() == JsonToken.START_ARRAY) {
      return array(parser);
    }
    if (parser.currentToken() == JsonToken.START_OBJECT) {
      return members(parser);
    }
    parser.skipChildren();
    return Other.OTHER_TYPE;
  }

  private static Object members(JsonParser parser) {
    Map<String, String> kept = new HashMap<>();
    int count = 0;
    boolean areTexts = true;
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      count++;
      if (parser.nextToken() != JsonToken.VALUE_STRING) {
        parser.skipChildren();
        areTexts = false;
      } else if (count <= ARRAY_MAX) {
        kept.put(name, parser.getString());
      }
    }
    return areTexts ? new Members(kept, count) : Other.OTHER_TYPE;
  }

  private static Object array(JsonParser parser) {
    List<String> texts = new ArrayList<>();
    List<Map<String, Object>> objects = new ArrayList<>();
    int count = 0;
    boolean areTexts = true;
    boolean areObjects = true;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      count++;
      boolean isText = parser.currentToken() == JsonToken.VALUE_STRING;
      boolean isObject = parser.currentToken() == JsonToken.START_OBJECT;
      areTexts &= isText;
      areObjects &= isObject;
      if (isText && areTexts && count <= ARRAY_MAX) {
        texts.add(parser.getString());
      } else if (isObject && areObjects && count <= OBJECTS_MAX) {
        objects.add(nested(parser));
      } else {
        parser.skipChildren();
      }
    }
    return areTexts
        ? new Texts(texts, count)
        : areObjects ? new Objects(objects, count) : Other.OTHER_TYPE;
  }

  /** Returns an object in an array. */
  private static Map<String, Object> nested(JsonParser parser) {
    Map<String, Object> kept = new HashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      parser.nextToken();
      if (kept.size() < NESTED_FIELDS_MAX) {
        boolean isNested = parser.currentToken().isStructStart();
        kept.put(name, isNested ? Other.OTHER_TYPE : value(parser));
      }
      parser.skipChildren();
    }
    return kept;
  }

  private static void checkEnd(String what, JsonParser parser) {
    if (parser.nextToken() != null) {
      throw Problem.badRequest(
          "the %s is not valid JSON: unexpected text after its end".formatted(what));
    }
  }

  /** Returns a required string. */
  public String text(String field) {
    return optionalText(field).orElseThrow(() -> missing(field, "a string"));
  }

  private Problem missing(String field, String type) {
    return Problem.badRequest("field %s%s is missing; send %s".formatted(prefix, field, type));
  }

  /** Returns where the object is in the body, for messages, as in "adds[3]: "; may be empty. */
  public String place() {
    return prefix.isEmpty() ? "" : prefix.substring(0, prefix.length() - 1) + ": ";
  }

  /** Returns whether the field was sent. */
  public boolean has(String field) {
    return object.containsKey(field);
  }

  /** Returns a string. */
  public Optional<String> optionalText(String field) {
    Object value = object.get(field);
    if (value == null) {
      return Optional.empty();
    }
    if (value instanceof String text) {
      return Optional.of(text);
    }
    throw Problem.badRequest(
        "field %s%s is not a string; send one in quotes".formatted(prefix, field));
  }

  /**
   * Returns the objects of an array, with no other fields than these.
   *
   * @param fields at most {@link #NESTED_FIELDS_MAX} - 1
   * @throws Problem if the field is missing, is something else, is empty, or has more than 64
   *     objects
   */
  public List<JsonBody> objects(String field, Set<String> fields) {
    Object value = object.get(field);
    if (value == null) {
      throw missing(field, "an array of objects");
    }
    boolean isEmpty = value instanceof Texts texts && texts.count == 0;
    if (!isEmpty && !(value instanceof Objects)) {
      throw Problem.badRequest("field " + field + " is not an array of objects");
    }
    Objects objects = value instanceof Objects sent ? sent : new Objects(List.of(), 0);
    if (objects.count < 1 || objects.count > OBJECTS_MAX) {
      throw Problem.badRequest(
          "field %s has %d entries; it must have 1 to %d"
              .formatted(field, objects.count, OBJECTS_MAX));
    }
    List<JsonBody> bodies = new ArrayList<>();
    for (Map<String, Object> each : objects.kept) {
      String place = "%s[%d].".formatted(field, bodies.size());
      for (String name : each.keySet()) {
        if (!fields.contains(name)) {
          throw unknown(place + name, fields);
        }
      }
      bodies.add(new JsonBody(each, place));
    }
    return bodies;
  }

  /**
   * Returns the strings of an array.
   *
   * @throws Problem if the field is missing, is something else, or has more than 1,000 strings
   */
  public List<String> texts(String field) {
    Object value = object.get(field);
    if (value == null) {
      throw Problem.badRequest("field " + field + " is missing");
    }
    if (!(value instanceof Texts texts)) {
      throw Problem.badRequest("field " + field + " is not an array of strings");
    }
    if (texts.count > ARRAY_MAX) {
      throw Problem.badRequest(
          "field %s has %d strings; the limit is %d. Send several requests"
              .formatted(field, texts.count, ARRAY_MAX));
    }
    return texts.kept;
  }

  /**
   * Returns the members of an object of strings; empty if the field is missing.
   *
   * @throws Problem if the field is something else, or has more members
   */
  public Map<String, String> members(String field, int membersMax) {
    Object value = object.get(field);
    if (value == null) {
      return Map.of();
    }
    if (!(value instanceof Members members)) {
      throw Problem.badRequest("field " + field + " is not an object of strings");
    }
    if (members.count > membersMax) {
      throw Problem.badRequest(
          "field %s has %d members; the limit is %d. Merge some of them"
              .formatted(field, members.count, membersMax));
    }
    return members.kept;
  }

  /** Returns a required 64-bit integer. */
  public long number(String field) {
    return optionalNumber(field).orElseThrow(() -> missing(field, "a 64-bit integer"));
  }

  /** Returns a 64-bit integer, sent as a JSON number or as a string of decimal digits. */
  public Optional<Long> optionalNumber(String field) {
    Object value = object.get(field);
    if (value == null) {
      return Optional.empty();
    }
    if (value instanceof String text) {
      return Optional.of(integer(prefix + field, text));
    }
    if (value instanceof Long number) {
      return Optional.of(number);
    }
    if (value == Other.BEYOND_64_BITS) {
      throw beyond(prefix + field);
    }
    throw notInteger(prefix + field);
  }

  /** Returns a required decimal number. */
  public Decimal decimal(String field) {
    return optionalDecimal(field).orElseThrow(() -> missing(field, "a number"));
  }

  /** Returns an exact decimal number, sent as a JSON number or as a string of one. */
  public Optional<Decimal> optionalDecimal(String field) {
    Object value = object.get(field);
    if (value instanceof Long number) {
      return Optional.of(new Decimal(number, 0));
    }
    if (value instanceof Fraction number) {
      return Optional.of(Decimal.parse("field " + prefix + field, number.text));
    }
    if (value instanceof String text) {
      return Optional.of(Decimal.parse("field " + prefix + field, text));
    }
    return optionalNumber(field).map(number -> new Decimal(number, 0));
  }

  /** Returns whether a field is true; false if it is missing. */
  public boolean flag(String field) {
    Object value = object.getOrDefault(field, false);
    if (value instanceof Boolean flag) {
      return flag;
    }
    throw Problem.badRequest("field %s is not a boolean; send true or false".formatted(field));
  }

  private static long integer(String field, String text) {
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
        "field %s does not fit into 64 bits; it must be from %d to %d"
            .formatted(field, Long.MIN_VALUE, Long.MAX_VALUE));
  }
}
