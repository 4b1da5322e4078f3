package dev.quipu.simpledbserver;

import dev.quipu.store.Key;
import dev.quipu.time.Clock;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** Executes the actions of requests on the domains. Thread-safe. */
final class Actions {
  private static final Set<String> WRITES =
      Set.of(
          "CreateDomain",
          "DeleteDomain",
          "PutAttributes",
          "BatchPutAttributes",
          "DeleteAttributes",
          "BatchDeleteAttributes");

  private final SimpleDbOptions options;
  private final Clock clock;
  private final RandomGenerator random;
  private final NavigableMap<String, Domain> domains = new ConcurrentSkipListMap<>();

  Actions(SimpleDbOptions options, Clock clock, RandomGenerator random) {
    this.options = options;
    this.clock = clock;
    this.random = random;
  }

  /** Returns whether an action is a write, whose reply has no result. */
  static boolean isWrite(String action) {
    return WRITES.contains(action);
  }

  /** Executes an action. */
  Answer run(String action, Parameters parameters) {
    Answer answer = new Answer();
    switch (action) {
      case "CreateDomain" -> create(parameters);
      case "DeleteDomain" -> domains.remove(domainName(parameters));
      case "ListDomains" -> list(parameters, answer);
      case "DomainMetadata" -> metadata(parameters, answer);
      case "PutAttributes" -> put(parameters);
      case "BatchPutAttributes" -> batchPut(parameters);
      case "DeleteAttributes" -> delete(parameters);
      case "BatchDeleteAttributes" -> batchDelete(parameters);
      case "GetAttributes" -> get(parameters, answer);
      case "Select" -> select(parameters, answer);
      default -> throw SdbException.bad("InvalidAction", "The action " + action + " is not valid");
    }
    return answer;
  }

  // ---- domains

  private static String domainName(Parameters parameters) {
    String name = parameters.get("DomainName");
    boolean fits =
        Limits.DOMAIN_NAME_MIN <= name.length() && name.length() <= Limits.DOMAIN_NAME_MAX;
    if (!fits || !name.matches("[A-Za-z0-9_.-]+")) {
      throw SdbException.invalid(
          "DomainName", name, "It must be 3 to 255 letters, digits, '_', '-' or '.'.");
    }
    return name;
  }

  private void create(Parameters parameters) {
    String name = domainName(parameters);
    synchronized (domains) {
      if (!domains.containsKey(name) && domains.size() >= Limits.DOMAINS_MAX) {
        throw SdbException.conflict("NumberDomainsExceeded", "Number of domains limit exceeded");
      }
      domains.computeIfAbsent(name, ignored -> new Domain(clock, options, random));
    }
  }

  private Domain domain(String name) {
    Domain domain = domains.get(name);
    if (domain == null) {
      throw SdbException.bad("NoSuchDomain", "The specified domain does not exist.");
    }
    return domain;
  }

  private Domain domain(Parameters parameters) {
    return domain(domainName(parameters));
  }

  private void list(Parameters parameters, Answer answer) {
    String most = parameters.find("MaxNumberOfDomains").orElse("" + Limits.LIST_MAX);
    if (!most.matches("[0-9]{1,3}")
        || Integer.parseInt(most) < 1
        || Integer.parseInt(most) > Limits.LIST_MAX) {
      throw SdbException.invalid("MaxNumberOfDomains", most, "It must be 1 to 100.");
    }
    String after = parameters.find("NextToken").map(Position::parse).map(Position::name).orElse("");
    int left = Integer.parseInt(most);
    String last = after;
    for (String name : domains.tailMap(after, false).keySet()) {
      if (left-- == 0) {
        answer.text("NextToken", new Position("", "", last).text());
        return;
      }
      answer.text("DomainName", name);
      last = name;
    }
  }

  private void metadata(Parameters parameters, Answer answer) {
    List<Domain.Found> all = domain(parameters).all(true);
    Set<String> names = new TreeSet<>();
    long nameBytes = 0;
    long valueBytes = 0;
    long values = 0;
    for (Domain.Found item : all) {
      nameBytes += dev.quipu.Limits.utf8Length(item.name());
      names.addAll(item.attributes().keySet());
      values += Domain.pairs(item.attributes());
      for (NavigableSet<String> each : item.attributes().values()) {
        valueBytes += each.stream().mapToLong(dev.quipu.Limits::utf8Length).sum();
      }
    }
    answer
        .number("ItemCount", all.size())
        .number("ItemNamesSizeBytes", nameBytes)
        .number("AttributeNameCount", names.size())
        .number(
            "AttributeNamesSizeBytes", names.stream().mapToLong(dev.quipu.Limits::utf8Length).sum())
        .number("AttributeValueCount", values)
        .number("AttributeValuesSizeBytes", valueBytes)
        .number("Timestamp", clock.epochMillis() / 1_000);
  }

  // ---- writes

  private static String itemName(Parameters parameters, String name) {
    return Limits.checkName(name, parameters.get(name));
  }

  private void put(Parameters parameters) {
    List<Parameters.Pair> pairs = putPairs(parameters, "");
    changeOne(parameters, before -> put(before, pairs));
  }

  private void changeOne(
      Parameters parameters, UnaryOperator<NavigableMap<String, NavigableSet<String>>> change) {
    String item = itemName(parameters, "ItemName");
    Optional<Parameters.Expected> expected = parameters.expected();
    domain(parameters)
        .change(
            Map.of(
                item,
                before -> {
                  expected.ifPresent(condition -> check(condition, before));
                  return change.apply(before);
                }));
  }

  private static List<Parameters.Pair> putPairs(Parameters parameters, String prefix) {
    List<Parameters.Pair> pairs = parameters.pairs(prefix);
    if (pairs.isEmpty()) {
      throw SdbException.missing(prefix + "Attribute.1.Name");
    }
    for (Parameters.Pair pair : pairs) {
      if (pair.value().isEmpty()) {
        throw SdbException.missing(prefix + "Attribute.N.Value of " + pair.name());
      }
    }
    return pairs;
  }

  private static NavigableMap<String, NavigableSet<String>> put(
      NavigableMap<String, NavigableSet<String>> item, List<Parameters.Pair> pairs) {
    pairs.stream().filter(Parameters.Pair::replace).forEach(pair -> item.remove(pair.name()));
    for (Parameters.Pair pair : pairs) {
      item.computeIfAbsent(pair.name(), name -> new TreeSet<>(Key.ORDER))
          .add(pair.value().orElseThrow());
    }
    if (Domain.pairs(item) > Limits.ITEM_PAIRS_MAX) {
      throw SdbException.conflict(
          "NumberItemAttributesExceeded", "Too many attributes in this item");
    }
    return item;
  }

  private static void check(
      Parameters.Expected expected, NavigableMap<String, NavigableSet<String>> item) {
    NavigableSet<String> values = item.get(expected.name());
    if (expected.value().isEmpty()) {
      if (values != null) {
        throw SdbException.conflict(
            "ConditionalCheckFailed",
            "Conditional check failed. Attribute (" + expected.name() + ") value exists");
      }
      return;
    }
    if (values == null) {
      throw SdbException.noAttribute(expected.name());
    }
    if (values.size() > 1) {
      throw SdbException.conflict(
          "MultiValuedAttribute",
          "Attribute (" + expected.name() + ") is multi-valued; a condition takes one value");
    }
    if (!values.first().equals(expected.value().get())) {
      throw SdbException.conflict(
          "ConditionalCheckFailed",
          "Conditional check failed. Attribute (%s) value is (%s) but was expected (%s)"
              .formatted(expected.name(), values.first(), expected.value().get()));
    }
  }

  private void delete(Parameters parameters) {
    List<Parameters.Pair> pairs = parameters.pairs("");
    changeOne(parameters, before -> delete(before, pairs));
  }

  private static NavigableMap<String, NavigableSet<String>> delete(
      NavigableMap<String, NavigableSet<String>> item, List<Parameters.Pair> pairs) {
    if (pairs.isEmpty()) {
      item.clear();
    }
    for (Parameters.Pair pair : pairs) {
      NavigableSet<String> values = item.get(pair.name());
      if (values != null) {
        if (pair.value().isPresent()) {
          values.remove(pair.value().get());
        }
        if (pair.value().isEmpty() || values.isEmpty()) {
          item.remove(pair.name());
        }
      }
    }
    return item;
  }

  private void batchPut(Parameters parameters) {
    Map<String, UnaryOperator<NavigableMap<String, NavigableSet<String>>>> changes =
        new LinkedHashMap<>();
    for (String each : batch(parameters)) {
      List<Parameters.Pair> pairs = putPairs(parameters, each + ".");
      enter(changes, parameters, each, before -> put(before, pairs));
    }
    domain(parameters).change(changes);
  }

  private void batchDelete(Parameters parameters) {
    Map<String, UnaryOperator<NavigableMap<String, NavigableSet<String>>>> changes =
        new LinkedHashMap<>();
    for (String each : batch(parameters)) {
      List<Parameters.Pair> pairs = parameters.pairs(each + ".");
      enter(changes, parameters, each, before -> delete(before, pairs));
    }
    domain(parameters).change(changes);
  }

  private static List<String> batch(Parameters parameters) {
    List<String> items = parameters.numbered("Item");
    if (items.isEmpty()) {
      throw SdbException.missing("Item.1.ItemName");
    }
    if (items.size() > Limits.BATCH_ITEMS_MAX) {
      throw SdbException.conflict(
          "NumberSubmittedItemsExceeded", "Too many items in a single call; the limit is 25");
    }
    return items;
  }

  private static void enter(
      Map<String, UnaryOperator<NavigableMap<String, NavigableSet<String>>>> changes,
      Parameters parameters,
      String at,
      UnaryOperator<NavigableMap<String, NavigableSet<String>>> change) {
    String item = itemName(parameters, at + ".ItemName");
    if (changes.put(item, change) != null) {
      throw SdbException.bad("DuplicateItemName", "Item " + item + " was specified more than once");
    }
  }

  // ---- reads

  private void get(Parameters parameters, Answer answer) {
    String item = itemName(parameters, "ItemName");
    List<String> names = parameters.list("AttributeName");
    Domain domain = domain(parameters);
    domain
        .get(item, parameters.isTrue("ConsistentRead"))
        .forEach((name, values) -> {
          if (names.isEmpty() || names.contains(name)) {
            values.forEach(value -> answer.attribute(name, value));
          }
        });
  }

  private void select(Parameters parameters, Answer answer) {
    Select select = Select.parse(parameters.get("SelectExpression"));
    if (!select.isCount() && select.limit().orElse(1) > Limits.SELECT_MAX) {
      throw SdbException.invalid(
          "SelectExpression", "limit " + select.limit().get(), "The limit is 2500.");
    }
    Optional<Position> after = parameters.find("NextToken").map(Position::parse);
    if (after.isPresent() && !after.get().query().equals(query(select))) {
      throw SdbException.bad("InvalidNextToken", "The specified next token is not valid.");
    }
    List<Domain.Found> found =
        domain(select.domain()).all(parameters.isTrue("ConsistentRead")).stream()
            .filter(item -> select.where().isEmpty() || select.where().get().holds(item))
            .sorted(order(select))
            .filter(item -> after.isEmpty() || isAfter(select, item, after.get()))
            .toList();
    int most =
        select.isCount()
            ? Math.min(select.limit().orElse(Integer.MAX_VALUE), options.countItemsMax())
            : select.limit().orElse(Limits.SELECT_DEFAULT);
    int given = 0;
    while (given < found.size() && given < most && answer.length() < Limits.ANSWER_BYTES_MAX) {
      if (!select.isCount()) {
        answer(select, found.get(given), answer);
      }
      given++;
    }
    if (select.isCount()) {
      answer.count(given);
    }
    if (given < found.size()) {
      Domain.Found last = found.get(given - 1);
      answer.text("NextToken", new Position(query(select), rank(select, last), last.name()).text());
    }
  }

  private static void answer(Select select, Domain.Found item, Answer answer) {
    if (select.output().isEmpty() || select.output().equals(List.of(Match.ITEM_NAME))) {
      boolean all = select.output().isEmpty();
      answer.item(item.name(), all ? item.attributes() : new TreeMap<>());
      return;
    }
    NavigableMap<String, NavigableSet<String>> wanted = new TreeMap<>(item.attributes());
    wanted.keySet().retainAll(select.output());
    answer.item(item.name(), wanted);
  }

  /** Returns the part of a query that must match that of its token. */
  private static String query(Select select) {
    return select.domain() + " " + select.whereText() + select.order() + select.descending();
  }

  /** Returns the sort key of an item. */
  private static String rank(Select select, Domain.Found item) {
    if (select.order().isEmpty()) {
      return "";
    }
    NavigableSet<String> values = Match.values(item, select.order().get());
    return values.isEmpty() ? "" : select.descending() ? values.last() : values.first();
  }

  private static Comparator<Domain.Found> order(Select select) {
    Comparator<Domain.Found> order =
        Comparator.<Domain.Found, String>comparing(item -> rank(select, item), Key.ORDER)
            .thenComparing(Domain.Found::name, Key.ORDER);
    return select.descending() ? order.reversed() : order;
  }

  private static boolean isAfter(Select select, Domain.Found item, Position position) {
    int byRank = Key.ORDER.compare(rank(select, item), position.rank());
    int compared = byRank != 0 ? byRank : Key.ORDER.compare(item.name(), position.name());
    return select.descending() ? compared < 0 : compared > 0;
  }
}
