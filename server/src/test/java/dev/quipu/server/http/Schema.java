package dev.quipu.server.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A JSON Schema in an OpenAPI document: checks values, and generates valid and invalid ones. An
 * object has no members besides those in the schema, unless it has {@code additionalProperties}.
 */
record Schema(JsonNode document, JsonNode node) {
  private static final JsonNodeFactory JSON = JsonMapper.shared().getNodeFactory();
  private static final List<String> TEXTS =
      List.of(
          "",
          "a",
          "a/b",
          "é",
          "\u0000",
          "%",
          "1",
          "-1",
          "0",
          "9223372036854775807",
          "1e9",
          "null",
          "9223372036854775808",
          "2022-03-28T13:17:23Z",
          "2022-02-30",
          "2022-03-28",
          "a".repeat(300),
          "..",
          "http://a.example/x",
          "bm9uZQ",
          "a:b",
          "1-2",
          "\ud83d\ude00",
          "eu:1",
          "event");

  /** Returns the node that a reference leads to, or the node itself. */
  static JsonNode resolved(JsonNode document, JsonNode node) {
    return node.has("$ref") ? document.at(node.path("$ref").asString().substring(1)) : node;
  }

  private Schema of(JsonNode other) {
    return new Schema(document, resolved(document, other));
  }

  /** Returns why a value does not conform; empty if it does. */
  List<String> errors(String where, JsonNode value) {
    List<String> errors = new ArrayList<>();
    check(where, value, errors, !node.has("allOf"));
    return errors;
  }

  private void check(String where, JsonNode value, List<String> errors, boolean closed) {
    for (JsonNode each : node.path("allOf")) {
      of(each).check(where, value, errors, false);
    }
    for (String choice : List.of("oneOf", "anyOf")) {
      if (node.has(choice)
          && node.path(choice)
              .valueStream()
              .noneMatch(each -> of(each).errors(where, value).isEmpty())) {
        errors.add(where + " is " + value + ", none of " + choice);
      }
    }
    if (node.has("type") && !isOfType(value, node.path("type"))) {
      errors.add(where + " is " + value + ", not of type " + node.path("type"));
      return;
    }
    if (node.has("enum") && node.path("enum").valueStream().noneMatch(value::equals)) {
      errors.add(where + " is " + value + ", not in " + node.path("enum"));
    }
    if (node.has("pattern")
        && !Pattern.compile(node.path("pattern").asString()).matcher(value.asString()).find()) {
      errors.add(where + " is " + value + ", not " + node.path("pattern"));
    }
    for (JsonNode name : node.path("required")) {
      if (!value.has(name.asString())) {
        errors.add(where + " lacks " + name);
      }
    }
    for (Map.Entry<String, JsonNode> member : value.properties()) {
      JsonNode known = node.path("properties").path(member.getKey());
      String inside = where + "." + member.getKey();
      if (!known.isMissingNode()) {
        of(known).check(inside, member.getValue(), errors, true);
      } else if (node.path("additionalProperties").isObject()) {
        of(node.path("additionalProperties")).check(inside, member.getValue(), errors, true);
      } else if (closed
          && node.has("properties")
          && !node.path("additionalProperties").asBoolean(false)) {
        errors.add(inside + " is not documented");
      }
    }
    if (value.isArray() && node.has("items")) {
      for (JsonNode item : value) {
        of(node.path("items")).check(where + "[]", item, errors, true);
      }
    }
  }

  private static boolean isOfType(JsonNode value, JsonNode types) {
    List<JsonNode> all = types.isArray() ? types.valueStream().toList() : List.of(types);
    return all.stream()
        .anyMatch(type ->
            switch (type.asString()) {
              case "string" -> value.isString();
              case "integer" -> value.isIntegralNumber();
              case "number" -> value.isNumber();
              case "boolean" -> value.isBoolean();
              case "array" -> value.isArray();
              case "object" -> value.isObject();
              default -> value.isNull();
            });
  }

  /** Returns a value that is mostly valid; a fifth of the values and members are arbitrary. */
  JsonNode value(RandomGenerator random) {
    if (random.nextInt(10) == 0) {
      return arbitrary(random);
    }
    JsonNode choice = node.has("oneOf") ? node.path("oneOf") : node.path("anyOf");
    if (!choice.isEmpty()) {
      return of(choice.get(random.nextInt(choice.size()))).value(random);
    }
    if (node.has("enum")) {
      return node.path("enum").get(random.nextInt(node.path("enum").size()));
    }
    JsonNode types = node.path("type");
    String type =
        types.isArray() ? types.get(random.nextInt(types.size())).asString() : types.asString("");
    return switch (type) {
      case "object" -> object(random);
      case "array" -> {
        var array = JSON.arrayNode();
        for (int i = random.nextInt(4); i > 0; i--) {
          array.add(of(node.path("items")).value(random));
        }
        yield array;
      }
      case "integer", "number" -> JSON.numberNode(random.nextLong(-1, 100));
      case "boolean" -> JSON.booleanNode(random.nextBoolean());
      default -> JSON.stringNode(text(random));
    };
  }

  private String text(RandomGenerator random) {
    return switch (node.path("format").asString("")) {
      case "date-time" -> "2022-03-2" + random.nextInt(9) + "T13:17:23+00:00";
      case "date" -> "2022-03-2" + random.nextInt(9);
      case "duration" -> "PT" + random.nextInt(1, 99) + "M";
      default ->
          node.has("pattern")
              ? Integer.toString(random.nextInt(9))
              : TEXTS.get(random.nextInt(TEXTS.size()));
    };
  }

  private ObjectNode object(RandomGenerator random) {
    ObjectNode object = JSON.objectNode();
    for (Map.Entry<String, JsonNode> member : node.path("properties").properties()) {
      boolean required =
          node.path("required")
              .valueStream()
              .anyMatch(each -> each.asString().equals(member.getKey()));
      if (random.nextInt(required ? 20 : 2) > 0 || (!required && random.nextBoolean())) {
        object.set(member.getKey(), of(member.getValue()).value(random));
      }
    }
    if (random.nextInt(20) == 0) {
      object.set("other", arbitrary(random));
    }
    return object;
  }

  private static JsonNode arbitrary(RandomGenerator random) {
    return switch (random.nextInt(8)) {
      case 0 -> JSON.nullNode();
      case 1 -> JSON.booleanNode(true);
      case 2 -> JSON.numberNode(random.nextLong());
      case 3 -> JSON.numberNode(1.5);
      case 4 -> JSON.arrayNode().add(1).add("a");
      case 5 -> JSON.objectNode().put("a", 1);
      default -> JSON.stringNode(TEXTS.get(random.nextInt(TEXTS.size())));
    };
  }
}
