package dev.quipu.simpledbserver;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** The parameters of a request: a form, with numbered names for lists. */
final class Parameters {
  private final NavigableMap<String, String> values = new TreeMap<>();

  /** An attribute of a request. */
  record Pair(String name, Optional<String> value, boolean replace) {}

  /** A condition on an attribute: its value, or its absence. */
  record Expected(String name, Optional<String> value) {}

  /** Parses a form, or the query of a URL. */
  static Parameters parse(String form) {
    Parameters parameters = new Parameters();
    for (String each : form.split("&", -1)) {
      if (!each.isEmpty()) {
        String[] parts = each.split("=", 2);
        parameters.values.put(decode(parts[0]), parts.length < 2 ? "" : decode(parts[1]));
      }
    }
    return parameters;
  }

  private static String decode(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw SdbException.bad("InvalidParameterValue", "A parameter is malformed");
    }
  }

  /** Returns all parameters, ordered by name. */
  NavigableMap<String, String> all() {
    return values;
  }

  Optional<String> find(String name) {
    return Optional.ofNullable(values.get(name));
  }

  String get(String name) {
    return find(name).orElseThrow(() -> SdbException.missing(name));
  }

  boolean isTrue(String name) {
    return isTrue(name, values.getOrDefault(name, "false"));
  }

  private static boolean isTrue(String name, String value) {
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default -> throw SdbException.invalid(name, value, "It must be true or false.");
    };
  }

  /** Returns the values of {@code name.1}, {@code name.2} and so on; numbers may be missing. */
  List<String> list(String name) {
    List<String> found = new ArrayList<>();
    for (String each : numbered(name)) {
      found.add(get(each));
    }
    return found;
  }

  /** Returns the existing prefixes {@code name.N}, in order of N. */
  List<String> numbered(String name) {
    NavigableMap<Integer, String> found = new TreeMap<>();
    String prefix = name + ".";
    for (String each : values.tailMap(prefix).keySet()) {
      if (!each.startsWith(prefix)) {
        break;
      }
      String number = each.substring(prefix.length()).split("\\.", 2)[0];
      if (number.matches("[0-9]{1,6}")) {
        found.put(Integer.parseInt(number), prefix + number);
      }
    }
    return List.copyOf(found.values());
  }

  /** Returns the attributes under {@code prefix}: {@code Attribute.N.Name}, Value and Replace. */
  List<Pair> pairs(String prefix) {
    List<Pair> pairs = new ArrayList<>();
    for (String each : numbered(prefix + "Attribute")) {
      String name = Limits.checkName(each + ".Name", get(each + ".Name"));
      Optional<String> value = find(each + ".Value");
      value.ifPresent(text -> Limits.checkText(each + ".Value", text));
      pairs.add(new Pair(name, value, isTrue(each + ".Replace")));
    }
    if (pairs.size() > Limits.PUT_PAIRS_MAX) {
      throw SdbException.conflict(
          "NumberSubmittedAttributesExceeded", "Too many attributes in a single call");
    }
    return pairs;
  }

  /** Returns the condition of a write. */
  Optional<Expected> expected() {
    List<String> numbers = numbered("Expected");
    if (numbers.size() > 1) {
      throw SdbException.bad("MultipleExpectedNames", "Only one condition may be expected");
    }
    String at = numbers.isEmpty() ? "Expected" : numbers.getFirst();
    Optional<String> name = find(at + ".Name");
    Optional<String> value = find(at + ".Value");
    Optional<String> exists = find(at + ".Exists");
    if (name.isEmpty()) {
      if (value.isPresent() || exists.isPresent()) {
        throw SdbException.bad("IncompleteExpectedExpression", "Expected.Name is missing");
      }
      return Optional.empty();
    }
    boolean mustExist = isTrue(at + ".Exists", exists.orElse("true"));
    if (mustExist && value.isEmpty()) {
      throw SdbException.bad(
          "IncompleteExpectedExpression", "Expected.Value is missing, and Exists is not false");
    }
    if (!mustExist && value.isPresent()) {
      throw SdbException.bad(
          "ExistsAndExpectedValue", "Expected.Value and Exists=false exclude each other");
    }
    return Optional.of(new Expected(name.get(), value));
  }
}
