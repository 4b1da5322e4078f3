package dev.quipu.server.cli.input;

import dev.quipu.Decimal;
import dev.quipu.RequestId;
import dev.quipu.engine.transfer.Entry;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;

/**
 * Entries of a data directory as lines of JSON. 64-bit numbers are strings.
 *
 * <pre>{@code
 * {"export":"1","commands":"9","ageMillis":"184","time":"2026-11-28T01:02:03.004Z"}
 * {"counter":"likes","value":"7"}                    and "expiresAt"
 * {"counter":"session","base64":"YWJj"}              and "expiresAt"
 * {"counter":"budget","scale":"2"}                   value, added are in units of 0.01
 * {"partition":"p","sort":"s","version":"1a","fields":{"value":{"number":"5"}}}   and "expiresAt"
 * {"request":"0123456789abcdef0123456789abcdef","counter":"likes","added":"3","value":"7"}
 * {"request":"0123456789abcdef0123456789abcdef","counter":"likes","canceled":true}
 * {"transaction":"0123456789abcdef0123456789abcdef","state":"applied",…}     see TransactionLine
 * {"end":"5","sha256":"…"}                           of the lines before it, with their line feeds
 * }</pre>
 */
public final class EntryLine {
  private static final String FORMAT = "1";

  private EntryLine() {}

  /** Returns the members of an entry. */
  public static Map<String, Object> members(Entry entry) {
    Map<String, Object> members = new LinkedHashMap<>();
    switch (entry) {
      case Entry.Head head -> {
        members.put("export", FORMAT);
        members.put("commands", Long.toString(head.commands()));
        members.put("ageMillis", Long.toString(head.ageMillis()));
        members.put("time", Instant.ofEpochMilli(head.wallMillis()).toString());
      }
      case Entry.Number number -> {
        members.put("counter", number.name());
        members.put("value", Long.toString(number.value()));
        putExpiry(members, number.expiresAtMillis());
      }
      case Entry.Text text -> {
        members.put("counter", text.name());
        members.put("base64", text.base64());
        putExpiry(members, text.expiresAtMillis());
      }
      case Entry.Scale scale -> {
        members.put("counter", scale.counter());
        members.put("scale", Integer.toString(scale.scale()));
      }
      case Entry.Stored(Item item) -> {
        members.put("partition", item.key().partition());
        members.put("sort", item.key().sort());
        members.put("version", item.version().token());
        item.expiresAt().ifPresent(time -> members.put("expiresAt", time.toString()));
        Map<String, Object> fields = new TreeMap<>();
        item.fields().forEach((name, field) -> fields.put(name, members(field)));
        members.put("fields", fields);
      }
      case Entry.Request request -> {
        members.put("request", RequestId.of(request.high(), request.low()).bits());
        members.put("counter", request.counter());
        if (request.isCanceled()) {
          members.put("canceled", true);
        } else {
          members.put("added", Long.toString(request.added()));
          members.put("value", Long.toString(request.value()));
        }
        if (request.boundsMark() != 0) {
          members.put("bounds", Integer.toString(request.boundsMark()));
        }
      }
      case Entry.Transaction transaction -> members.putAll(TransactionLine.members(transaction));
      case Entry.End end -> members.put("end", Long.toString(end.entries()));
    }
    return members;
  }

  static void putExpiry(Map<String, Object> members, long millis) {
    if (millis != 0) {
      members.put("expiresAt", Instant.ofEpochMilli(millis).toString());
    }
  }

  private static Map<String, Object> members(Field field) {
    return switch (field) {
      case Field.Number number -> Map.of("number", Long.toString(number.value()));
      case Field.Text text -> Map.of("text", text.value());
      case Field.Tokens tokens -> Map.of("tokens", List.copyOf(new TreeSet<>(tokens.values())));
    };
  }

  /**
   * Parses a line.
   *
   * @throws IllegalArgumentException naming the invalid member
   */
  public static Parsed parse(String line) {
    Members in = new Members(CounterLine.object(line));
    Entry entry = entry(in);
    String sha256 = entry instanceof Entry.End ? in.text("sha256") : "";
    in.requireAllRead();
    return new Parsed(entry, sha256);
  }

  /**
   * The content of a line.
   *
   * @param sha256 of the lines before the end; empty for other lines
   */
  public record Parsed(Entry entry, String sha256) {}

  private static Entry entry(Members in) {
    if (in.has("export")) {
      String format = in.text("export");
      if (!format.equals(FORMAT)) {
        throw new IllegalArgumentException(
            "export: format %s; this version reads format %s".formatted(format, FORMAT));
      }
      return new Entry.Head(in.number("commands"), in.number("ageMillis"), in.millis("time"));
    }
    if (in.has("request")) {
      return request(in);
    }
    if (in.has("transaction")) {
      return TransactionLine.parse(in);
    }
    if (in.has("counter")) {
      String name = in.text("counter");
      if (in.has("scale")) {
        return new Entry.Scale(name, Decimal.checkScale(in.number("scale")));
      }
      return in.has("base64")
          ? new Entry.Text(name, in.text("base64"), in.expiry())
          : new Entry.Number(name, in.number("value"), in.expiry());
    }
    if (in.has("partition")) {
      return new Entry.Stored(
          new Item(
              new Key(in.text("partition"), in.text("sort")),
              fields(in.object("fields")),
              new Item.Version(in.text("version")),
              in.time("expiresAt")));
    }
    if (in.has("end")) {
      return new Entry.End(in.number("end"));
    }
    throw new IllegalArgumentException(
        "unknown line; known lines have export, counter, partition, request, transaction or end");
  }

  private static Entry.Request request(Members in) {
    RequestId id = in.id("request");
    boolean isCanceled = in.has("canceled");
    if (isCanceled) {
      in.requireTrue("canceled");
    }
    return new Entry.Request(
        in.text("counter"),
        id.high(),
        id.low(),
        isCanceled,
        isCanceled ? 0 : in.number("added"),
        isCanceled ? 0 : in.number("value"),
        in.has("bounds") ? Math.toIntExact(in.number("bounds")) : 0);
  }

  private static Map<String, Field> fields(JsonNode node) {
    Map<String, Field> fields = new HashMap<>();
    for (String name : node.propertyNames()) {
      JsonNode field = node.path(name);
      if (!field.isObject()) {
        throw new IllegalArgumentException("fields." + name + ": not an object");
      }
      Members in = new Members(field);
      fields.put(
          name,
          in.has("number")
              ? new Field.Number(in.number("number"))
              : in.has("tokens")
                  ? new Field.Tokens(in.texts("tokens"))
                  : new Field.Text(in.text("text")));
      in.requireAllRead();
    }
    return fields;
  }

  /** The members of an object, and which of them were read. */
  static final class Members {
    private final JsonNode node;
    private final Set<String> read = new HashSet<>();

    Members(JsonNode node) {
      this.node = node;
    }

    boolean has(String name) {
      return node.has(name);
    }

    RequestId id(String name) {
      String id = text(name);
      if (!id.matches("[0-9a-f]{32}")) {
        throw new IllegalArgumentException(name + ": not 32 hexadecimal digits");
      }
      return RequestId.of(id);
    }

    List<JsonNode> objects(String name) {
      read.add(name);
      JsonNode value = node.path(name);
      if (!value.isArray()) {
        throw new IllegalArgumentException(name + ": not an array");
      }
      List<JsonNode> objects = new ArrayList<>();
      for (JsonNode each : value) {
        if (!each.isObject()) {
          throw new IllegalArgumentException(name + ": not an array of objects");
        }
        objects.add(each);
      }
      return objects;
    }

    JsonNode object(String name) {
      read.add(name);
      JsonNode value = node.path(name);
      if (!value.isObject()) {
        throw new IllegalArgumentException(name + ": not an object");
      }
      return value;
    }

    String text(String name) {
      read.add(name);
      return text(name, node.path(name));
    }

    private static String text(String name, JsonNode value) {
      if (!value.isString()) {
        throw new IllegalArgumentException(name + ": not a string");
      }
      return value.stringValue();
    }

    Set<String> texts(String name) {
      read.add(name);
      JsonNode value = node.path(name);
      if (!value.isArray()) {
        throw new IllegalArgumentException(name + ": not an array");
      }
      List<String> texts = new ArrayList<>();
      value.forEach(each -> texts.add(text(name, each)));
      return new HashSet<>(texts);
    }

    long number(String name) {
      try {
        return Long.parseLong(text(name));
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(name + ": not a 64-bit integer in a string", e);
      }
    }

    Optional<Instant> time(String name) {
      if (!has(name)) {
        return Optional.empty();
      }
      try {
        return Optional.of(Instant.parse(text(name)));
      } catch (DateTimeParseException e) {
        throw new IllegalArgumentException(name + ": not a time in UTC", e);
      }
    }

    long millis(String name) {
      return time(name)
          .orElseThrow(() -> new IllegalArgumentException(name + ": missing"))
          .toEpochMilli();
    }

    long expiry() {
      return time("expiresAt").map(Instant::toEpochMilli).orElse(0L);
    }

    void requireTrue(String name) {
      read.add(name);
      if (!node.path(name).asBoolean(false)) {
        throw new IllegalArgumentException(name + ": not true");
      }
    }

    void requireAllRead() {
      for (String name : node.propertyNames()) {
        if (!read.contains(name)) {
          throw new IllegalArgumentException(name + ": unknown member");
        }
      }
    }
  }
}
