package dev.quipu.server.watch;

import dev.quipu.CounterPage;
import dev.quipu.Reading;
import dev.quipu.backend.CounterFeed.Change;
import dev.quipu.server.http.message.JsonBody;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/** The bytes of events: see docs/reference/http.md. */
final class Events {
  /** When a client that lost its connection connects again, in milliseconds. */
  private static final int RETRY_MILLIS = 1_000;

  private static final String COUNTERS = "event: counters";
  private static final byte[] NOTHING = ": nothing changed\n\n".getBytes(StandardCharsets.UTF_8);

  private Events() {}

  /** The client forgets what it has: all counters follow, and after them {@link #complete}. */
  static byte[] reset(String prefix) {
    return first("reset", prefix);
  }

  /** The client, which is sent changes only, was not sent all of them. */
  static byte[] missed(String prefix) {
    return first("missed", prefix);
  }

  /** The first event of a stream, which states what it is of, and when to connect again. */
  private static byte[] first(String type, String prefix) {
    return event(
        "retry: " + RETRY_MILLIS + "\nevent: " + type,
        json -> {
          json.writeStartObject();
          json.writeStringProperty("prefix", prefix);
          json.writeEndObject();
        });
  }

  /** All counters were sent. */
  static byte[] complete(String id, long counters) {
    return event(
        "event: complete\nid: " + id,
        json -> {
          json.writeStartObject();
          json.writeNumberProperty("counters", counters);
          json.writeEndObject();
        });
  }

  /** Something that shows that the server is alive. */
  static byte[] nothing() {
    return NOTHING;
  }

  /** A page of all counters. */
  static byte[] counters(CounterPage page) {
    return event(
        COUNTERS,
        json -> {
          json.writeStartArray();
          for (CounterPage.Entry each : page.counters()) {
            write(json, each.name(), Optional.of(each.reading()));
          }
          json.writeEndArray();
        });
  }

  /** Counters that changed; one that no longer exists has no value. */
  static byte[] changes(String id, Collection<Change> changes) {
    return event(
        COUNTERS + "\nid: " + id,
        json -> {
          json.writeStartArray();
          changes.forEach(each -> write(json, each.name(), each.reading()));
          json.writeEndArray();
        });
  }

  private static void write(JsonGenerator json, String name, Optional<Reading> reading) {
    json.writeStartObject();
    json.writeStringProperty("name", name);
    reading.ifPresent(each -> json.writeStringProperty("value", each.text(each.value())));
    json.writeEndObject();
  }

  private static byte[] event(String fields, Consumer<JsonGenerator> data) {
    byte[] head = (fields + "\ndata: ").getBytes(StandardCharsets.UTF_8);
    byte[] body = JsonBody.written(data);
    byte[] all = new byte[head.length + body.length + 2];
    System.arraycopy(head, 0, all, 0, head.length);
    System.arraycopy(body, 0, all, head.length, body.length);
    all[all.length - 2] = '\n';
    all[all.length - 1] = '\n';
    return all;
  }
}
