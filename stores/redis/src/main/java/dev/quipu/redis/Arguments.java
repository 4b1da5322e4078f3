package dev.quipu.redis;

import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.group.Member;
import dev.quipu.store.group.Sum;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Encodes writes as arguments of the script, in the order in which {@code items.lua} reads them.
 */
final class Arguments {
  private final List<String> list = new ArrayList<>();
  private final Duration keepExpired;

  Arguments(Duration keepExpired) {
    this.keepExpired = keepExpired;
  }

  List<String> list() {
    return list;
  }

  void add(String argument) {
    list.add(argument);
  }

  private void add(Object... texts) {
    for (Object each : texts) {
      list.add(each.toString());
    }
  }

  void add(Write write) {
    add(write.key().sort());
    switch (write) {
      case Write.Put put -> {
        add("put");
        addExpiry(put.expiresAt());
        add(put.fields().size());
        for (Map.Entry<String, Field> field : put.fields().entrySet()) {
          add(field.getKey());
          add(field.getValue());
        }
      }
      case Write.Update update -> {
        add("update", update.changes().size());
        update.changes().forEach(this::add);
      }
      case Write.Delete delete -> add("delete");
    }
    List<Condition> conditions = new ArrayList<>();
    flatten(write.condition(), conditions);
    add(conditions.size());
    conditions.forEach(this::add);
  }

  /** Adds a member of a group, whose marker has no set. */
  void add(Member member) {
    Sum sum = member.sum();
    add(sum.delta());
    boolean isBounded = sum.min() != Long.MIN_VALUE || sum.max() != Long.MAX_VALUE;
    add(isBounded ? sum.min() : "", isBounded ? sum.max() : "");
    if (member.marker().isEmpty()) {
      add("0");
      return;
    }
    Write.Put marker = member.marker().get();
    Optional<Instant> expires = marker.expiresAt();
    add(2 + 2 * (marker.fields().size() + (expires.isPresent() ? 1 : 0)));
    add(marker.key().sort(), expires.map(this::forgetAt).orElse(""));
    expires.ifPresent(at -> add("x", at.toEpochMilli()));
    for (Map.Entry<String, Field> field : marker.fields().entrySet()) {
      switch (field.getValue()) {
        case Field.Number number -> add("n:" + field.getKey(), number.value());
        case Field.Text text -> add("t:" + field.getKey(), text.value());
        case Field.Tokens tokens -> throw new IllegalStateException("a marker with a set");
      }
    }
  }

  private void addExpiry(Optional<Instant> expiresAt) {
    add(expiresAt.map(at -> Long.toString(at.toEpochMilli())).orElse(""));
    add(expiresAt.map(this::forgetAt).orElse(""));
  }

  private String forgetAt(Instant expiresAt) {
    return Long.toString(expiresAt.plus(keepExpired).toEpochMilli());
  }

  private void add(Field field) {
    switch (field) {
      case Field.Number number -> add("n", number.value());
      case Field.Text text -> add("t", text.value());
      case Field.Tokens tokens -> {
        add("s", tokens.values().size());
        tokens.values().forEach(this::add);
      }
    }
  }

  private void add(Change change) {
    switch (change) {
      case Change.Add plus -> add("add", plus.field(), plus.delta());
      case Change.Put put -> {
        add("put", put.field());
        add(put.value());
      }
      case Change.AddToken token -> add("token", token.field(), token.token());
      case Change.DropToken drop -> add("drop", drop.field(), drop.token());
    }
  }

  private static void flatten(Condition condition, List<Condition> into) {
    switch (condition) {
      case Condition.Always always -> {
        // nothing to check
      }
      case Condition.All all -> all.conditions().forEach(each -> flatten(each, into));
      default -> into.add(condition);
    }
  }

  private void add(Condition condition) {
    switch (condition) {
      case Condition.Absent absent -> add("absent");
      case Condition.VersionIs is -> add("version", is.version().token());
      case Condition.Has has -> add("has", has.field());
      case Condition.FieldIs is -> {
        add("is", is.field());
        add(is.value());
      }
      case Condition.Within within -> add("within", within.field(), within.min(), within.max());
      case Condition.Lacks lacks -> add("lacks", lacks.field(), lacks.token());
      case Condition.FewerThan fewer -> add("fewer", fewer.field(), fewer.count());
      case Condition.Always always -> throw new IllegalStateException("removed by flatten");
      case Condition.All all -> throw new IllegalStateException("removed by flatten");
    }
  }
}
