package dev.quipu.client;

import dev.quipu.CounterPage;
import dev.quipu.Decimal;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;

/** Reads a page of a listing token by token: a tree of it would cost most of the time. */
final class PageReader {
  private final Reply reply;
  private final JsonParser json;

  private PageReader(Reply reply, JsonParser json) {
    this.reply = reply;
    this.json = json;
  }

  /**
   * Returns the page of a response.
   *
   * @throws QuipuException if it is malformed
   */
  static CounterPage read(Reply reply) {
    try (JsonParser json = Request.MAPPER.createParser(reply.body())) {
      return new PageReader(reply, json).page();
    } catch (JacksonException e) {
      throw reply.malformed("the response is not JSON", e);
    }
  }

  private CounterPage page() {
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw reply.malformed("the response is not a JSON object", null);
    }
    List<CounterPage.Entry> counters = new ArrayList<>();
    boolean isLast = true;
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String field = json.currentName();
      boolean isArray = json.nextToken() == JsonToken.START_ARRAY;
      isLast &= !field.equals("cursor");
      if (field.equals("counters") && isArray) {
        while (json.nextToken() == JsonToken.START_OBJECT) {
          counters.add(entry());
        }
      } else {
        json.skipChildren();
      }
    }
    return new CounterPage(
        counters,
        isLast || counters.isEmpty() ? Optional.empty() : Optional.of(counters.getLast().name()));
  }

  private CounterPage.Entry entry() {
    String name = "";
    String value = null;
    String low = null;
    String high = null;
    JsonNode uncertainty = null;
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String field = json.currentName();
      boolean isText = json.nextToken().isScalarValue();
      switch (field) {
        case "name" -> name = isText ? json.getString() : "";
        case "value" -> value = isText ? json.getString() : null;
        case "low" -> low = isText ? json.getString() : null;
        case "high" -> high = isText ? json.getString() : null;
        case "uncertainty" -> uncertainty = Request.MAPPER.readTree(json);
        default -> json.skipChildren();
      }
    }
    Decimal exact = required("value", value);
    Reading reading =
        new Reading(
            exact.units(),
            low != null && low.equals(value) ? exact.units() : required("low", low).units(),
            high != null && high.equals(value) ? exact.units() : required("high", high).units(),
            uncertainty == null ? List.of() : RemoteCounters.uncertainties(uncertainty),
            exact.scale());
    return new CounterPage.Entry(name, reading);
  }

  private Decimal required(String field, @Nullable String text) {
    if (text == null) {
      throw reply.malformed(
          "the response has no number %s; is it a Quipu server?".formatted(field), null);
    }
    return Decimal.parse(field, text);
  }
}
