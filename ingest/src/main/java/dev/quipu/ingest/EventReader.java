package dev.quipu.ingest;

import dev.quipu.view.ViewEvent;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Base64;
import java.util.OptionalLong;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Parses view events: {@code {"url","time","clientId"}} with an optional {@code "value"}, plain or
 * as the data of a CloudEvent 1.0 in JSON. The {@code subject} and {@code time} of a CloudEvent
 * replace a url and a time that are missing in its data. Other fields are ignored.
 */
public final class EventReader {
  /** Longest event, in characters: the limit of SQS. */
  public static final int LENGTH_MAX = 1 << 20;

  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNestingDepth(32).build())
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private EventReader() {}

  /**
   * Parses an event.
   *
   * @throws MalformedEvent naming the invalid field
   */
  public static ViewEvent read(String text) throws MalformedEvent {
    if (text.length() > LENGTH_MAX) {
      throw new MalformedEvent(
          "body", "%d characters; the limit is %d".formatted(text.length(), LENGTH_MAX));
    }
    JsonNode body = object("body", text);
    return body.has("specversion") ? cloudEvent(body) : event(body, body, "url", "");
  }

  private static JsonNode object(String field, String text) throws MalformedEvent {
    JsonNode node;
    try {
      node = MAPPER.readTree(text);
    } catch (JacksonException e) {
      throw new MalformedEvent(field, "not JSON: " + e.getOriginalMessage());
    }
    if (node == null || !node.isObject()) {
      throw new MalformedEvent(field, "not a JSON object");
    }
    return node;
  }

  private static ViewEvent cloudEvent(JsonNode envelope) throws MalformedEvent {
    String version = text(envelope, "specversion", "");
    if (!version.equals("1.0")) {
      throw new MalformedEvent("specversion", "it is '%s'; it must be 1.0".formatted(version));
    }
    for (String required : new String[] {"id", "source", "type"}) {
      if (text(envelope, required, "").isEmpty()) {
        throw new MalformedEvent(required, "missing");
      }
    }
    return event(data(envelope), envelope, "subject", "data.");
  }

  private static JsonNode data(JsonNode envelope) throws MalformedEvent {
    JsonNode data = envelope.get("data");
    if (data != null && data.isObject()) {
      return data;
    }
    if (!envelope.has("data_base64")) {
      throw new MalformedEvent("data", data == null ? "missing" : "not a JSON object");
    }
    try {
      byte[] bytes = Base64.getDecoder().decode(text(envelope, "data_base64", ""));
      return object("data_base64", new String(bytes, StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      throw new MalformedEvent("data_base64", "not base64");
    }
  }

  /**
   * Parses an event.
   *
   * @param around the envelope, with the url, under another name, and the time as fallbacks
   * @param prefix of the names of fields, for messages
   */
  private static ViewEvent event(JsonNode data, JsonNode around, String urlAround, String prefix)
      throws MalformedEvent {
    String url = either(data, "url", around, urlAround, prefix);
    Instant time = time(either(data, "time", around, "time", prefix), prefix + "time");
    String client = either(data, "clientId", data, "clientId", prefix);
    try {
      return new ViewEvent(url, time, client, value(data, prefix + "value"));
    } catch (IllegalArgumentException e) {
      String problem = String.valueOf(e.getMessage()); // it starts with the field
      throw new MalformedEvent(prefix + problem.split(" ", 2)[0], problem);
    }
  }

  private static String either(
      JsonNode data, String name, JsonNode around, String nameAround, String prefix)
      throws MalformedEvent {
    String found = data.has(name) ? text(data, name, prefix) : text(around, nameAround, prefix);
    if (found.isEmpty()) {
      throw new MalformedEvent(prefix + name, data.has(name) ? "empty" : "missing");
    }
    return found;
  }

  /** Returns a text; empty if it is missing. */
  private static String text(JsonNode node, String name, String prefix) throws MalformedEvent {
    JsonNode value = node.get(name);
    if (value == null) {
      return "";
    }
    if (!value.isString()) {
      throw new MalformedEvent(prefix + name, "not a string");
    }
    return value.stringValue();
  }

  private static OptionalLong value(JsonNode data, String field) throws MalformedEvent {
    JsonNode value = data.get("value");
    if (value == null || value.isNull()) {
      return OptionalLong.empty();
    }
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw new MalformedEvent(field, "not a 64-bit integer");
    }
    return OptionalLong.of(value.longValue());
  }

  private static Instant time(String text, String field) throws MalformedEvent {
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException e) {
      throw new MalformedEvent(
          field, "not a valid timestamp; use the format 2022-03-28T13:17:23+00:00");
    }
  }
}
