package dev.quipu.dynamodb;

import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Compiles a write to expressions of DynamoDB, with their names and values. */
final class Expression {
  private static final BigInteger MIN = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MAX = BigInteger.valueOf(Long.MAX_VALUE);

  private final Map<String, String> names = new HashMap<>();
  private final Map<String, AttributeValue> values = new HashMap<>();
  private final List<String> conditions = new ArrayList<>();
  private final List<String> sets = new ArrayList<>();
  private final List<String> removes = new ArrayList<>();
  private final List<String> adds = new ArrayList<>();
  private final List<String> deletes = new ArrayList<>();

  private final Set<String> existing = new HashSet<>(); // fields
  private final Attributes attributes;
  private final boolean isBatch;

  private Expression(Attributes attributes, boolean isBatch) {
    this.attributes = attributes;
    this.isBatch = isBatch;
  }

  /** Compiles the condition of a put or a delete. */
  static Expression ofCondition(Write write, Attributes attributes) {
    Expression expression = new Expression(attributes, false);
    expression.add(write.condition(), write);
    return expression;
  }

  /** Compiles the changes of an update and their conditions. */
  static Expression of(Write.Update update, String token, Attributes attributes) {
    return of(update, token, attributes, false);
  }

  /**
   * Compiles the changes of an update in a transaction, which does not return the item whose field
   * is missing unless a condition failed.
   */
  static Expression ofBatch(Write.Update update, String token, Attributes attributes) {
    return of(update, token, attributes, true);
  }

  private static Expression of(
      Write.Update update, String token, Attributes attributes, boolean isBatch) {
    Expression expression = new Expression(attributes, isBatch);
    expression.add(update.condition(), update);
    String generation = expression.name(Attributes.GENERATION);
    expression.sets.add(
        "%1$s = if_not_exists(%1$s, %2$s) + %3$s"
            .formatted(generation, expression.number(0), expression.number(1)));
    expression.sets.add(
        expression.name(Attributes.CALL) + " = " + expression.value(Attributes.text(token)));
    update.changes().forEach(expression::add);
    return expression;
  }

  Map<String, String> names() {
    return names;
  }

  Map<String, AttributeValue> values() {
    return values;
  }

  /** Returns the condition; empty if there is none. */
  Optional<String> condition() {
    return conditions.isEmpty() ? Optional.empty() : Optional.of(String.join(" AND ", conditions));
  }

  String update() {
    StringBuilder text = new StringBuilder();
    clause(text, "SET", sets);
    clause(text, "REMOVE", removes);
    clause(text, "ADD", adds);
    clause(text, "DELETE", deletes);
    return text.toString().strip();
  }

  private static void clause(StringBuilder text, String word, List<String> parts) {
    if (!parts.isEmpty()) {
      text.append(word).append(' ').append(String.join(", ", parts)).append(' ');
    }
  }

  private String name(String attribute) {
    String place = "#n" + names.size();
    names.put(place, attribute);
    return place;
  }

  private String value(AttributeValue value) {
    String place = ":v" + values.size();
    values.put(place, value);
    return place;
  }

  private String number(long number) {
    return value(Attributes.number(number));
  }

  private String number(BigInteger number) {
    return value(AttributeValue.fromN(number.toString()));
  }

  private void add(Change change) {
    String name = name(attributes.field(change.field()));
    switch (change) {
      case Change.Add add -> {
        sets.add(
            existing.contains(add.field())
                ? "%1$s = %1$s + %2$s".formatted(name, number(add.delta()))
                : "%1$s = if_not_exists(%1$s, %2$s) + %3$s"
                    .formatted(name, number(0), number(add.delta())));
        between(name, MIN, MAX, add.delta());
      }
      case Change.Put put -> {
        boolean none = put.value() instanceof Field.Tokens tokens && tokens.values().isEmpty();
        if (none) {
          removes.add(name);
        } else {
          sets.add(name + " = " + value(Attributes.value(put.value())));
        }
      }
      case Change.AddToken add -> adds.add(name + " " + token(add.token()));
      case Change.DropToken drop -> {
        deletes.add(name + " " + token(drop.token()));
        conditions.add(setOrNone(name, ""));
      }
    }
  }

  private String token(String token) {
    return value(AttributeValue.fromSs(List.of(token)));
  }

  /** Requires a number plus {@code delta} to be within bounds. */
  private void between(String name, BigInteger min, BigInteger max, long delta) {
    BigInteger low = min.subtract(BigInteger.valueOf(delta));
    BigInteger high = max.subtract(BigInteger.valueOf(delta));
    String within = "%s BETWEEN %s AND %s".formatted(name, number(low), number(high));
    boolean fromNothing = low.signum() <= 0 && high.signum() >= 0;
    conditions.add(
        fromNothing ? "(attribute_not_exists(%s) OR %s)".formatted(name, within) : within);
  }

  /** Requires a field to be missing, or a set that satisfies {@code more}. */
  private String setOrNone(String name, String more) {
    return "(attribute_not_exists(%1$s) OR (attribute_type(%1$s, %2$s)%3$s))"
        .formatted(name, value(Attributes.text("SS")), more);
  }

  private void add(Condition condition, Write write) {
    switch (condition) {
      case Condition.Always always -> {
        // nothing to check
      }
      case Condition.Absent absent ->
          conditions.add("attribute_not_exists(" + name(attributes.partitionName()) + ")");
      case Condition.VersionIs is -> add(is.version());
      case Condition.Has has -> add(has, write);
      case Condition.FieldIs is ->
          conditions.add(
              name(attributes.field(is.field())) + " = " + value(Attributes.value(is.value())));
      case Condition.Within within -> add(within, write);
      case Condition.Lacks lacks -> {
        String name = name(attributes.field(lacks.field()));
        String token = value(Attributes.text(lacks.token()));
        conditions.add(setOrNone(name, " AND NOT contains(" + name + ", " + token + ")"));
      }
      case Condition.FewerThan fewer -> {
        String name = name(attributes.field(fewer.field()));
        conditions.add(setOrNone(name, " AND size(" + name + ") < " + number(fewer.count())));
      }
      case Condition.All all -> all.conditions().forEach(each -> add(each, write));
    }
  }

  /** Requires a field. An addition to it fails by itself if it is missing. */
  private void add(Condition.Has has, Write write) {
    boolean isAddedTo =
        write instanceof Write.Update update
            && update.changes().stream()
                .anyMatch(each -> each instanceof Change.Add && each.field().equals(has.field()));
    if (isAddedTo) {
      existing.add(has.field());
    }
    if (isBatch || !isAddedTo) {
      conditions.add("attribute_exists(" + name(attributes.field(has.field())) + ")");
    }
  }

  private void add(Version version) {
    String[] parts = version.token().split("\\.", 2);
    if (parts.length == 2 && parts[0].isEmpty()) {
      isOfAnotherProgram(parts[1]);
      return;
    }
    if (parts.length < 2 || !parts[0].matches("[0-9]{1,18}")) {
      never();
      return;
    }
    conditions.add(name(Attributes.GENERATION) + " = " + number(Long.parseLong(parts[0])));
    conditions.add(name(Attributes.CALL) + " = " + value(Attributes.text(parts[1])));
  }

  /** Requires an item without a version, whose TTL identifies it. */
  private void isOfAnotherProgram(String ttl) {
    conditions.add("attribute_exists(%s)".formatted(name(attributes.partitionName())));
    conditions.add("attribute_not_exists(%s)".formatted(name(Attributes.GENERATION)));
    String name = name(Attributes.TTL);
    conditions.add(
        ttl.isEmpty()
            ? "attribute_not_exists(%s)".formatted(name)
            : name + " = " + value(AttributeValue.fromN(ttl)));
  }

  private void never() {
    conditions.add(
        "attribute_exists(%1$s) AND attribute_not_exists(%1$s)"
            .formatted(name(attributes.partitionName())));
  }

  private void add(Condition.Within within, Write write) {
    Set<Change> changes =
        write instanceof Write.Update update ? Set.copyOf(update.changes()) : Set.of();
    Optional<Change> change =
        changes.stream().filter(each -> each.field().equals(within.field())).findFirst();
    long delta = change.isPresent() && change.get() instanceof Change.Add add ? add.delta() : 0;
    boolean known =
        !(write instanceof Write.Update)
            || (change.isPresent() && change.get() instanceof Change.Put);
    if (!known) {
      between(
          name(attributes.field(within.field())),
          BigInteger.valueOf(within.min()),
          BigInteger.valueOf(within.max()),
          delta);
    } else if (!write.when(within).holdsOn(Optional.empty())) {
      never(); // independent of the item
    }
  }
}
