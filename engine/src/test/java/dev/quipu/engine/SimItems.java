package dev.quipu.engine;

import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A call of the engine's driver: reads or writes of items. */
final class SimItems extends SimOperation {
  private static final String TEXT = "text";

  private final List<Draft> drafts = new ArrayList<>();
  private final boolean isRead;
  private @Nullable Key unmet;
  private List<SimModel.@Nullable Thing> after = List.of();
  private @Nullable WriteResult answer;
  private List<Optional<Item>> found = List.of();

  /** A planned write; its details are decided when it is sent. */
  private record Draft(Key key, int kind, int condition, long number) {}

  private final List<Boolean> gone = new ArrayList<>();
  private final List<SimModel.@Nullable Thing> knownVersions = new ArrayList<>();

  SimItems(SimWorld world, SplittableRandom random) {
    super(world);
    this.isRead = random.nextInt(3) == 0;
    Set<Key> keys = new LinkedHashSet<>();
    int count = random.nextInt(3) == 0 ? 1 + random.nextInt(4) : 1;
    for (int i = 0; i < count; i++) {
      keys.add(key(random.nextInt(world.config.items)));
    }
    for (Key key : keys) {
      drafts.add(new Draft(key, random.nextInt(6), random.nextInt(9), random.nextInt(-3, 9)));
    }
  }

  static Key key(int number) {
    return new Key("p" + number % 3, "item-" + number);
  }

  private static boolean expires(Key key) {
    return key.sort().endsWith("0");
  }

  @Override
  void call(Engine engine) {
    if (isRead) {
      found =
          drafts.size() > 1
              ? BatchDriver.of(engine.driver()).getAll(drafts.stream().map(Draft::key).toList())
              : List.of(engine.driver().get(drafts.getFirst().key, Consistency.STRONG));
      return;
    }
    List<Write> writes = new ArrayList<>();
    for (Draft draft : drafts) {
      writes.add(write(draft));
    }
    answer =
        writes.size() == 1
            ? engine.driver().write(writes.getFirst())
            : BatchDriver.of(engine.driver()).writeAll(writes, null);
  }

  private Write write(Draft draft) {
    SimModel.Thing known = world.model.thing(draft.key);
    String version = known == null ? null : known.version;
    knownVersions.add(version == null ? null : known);
    Condition condition =
        expires(draft.key)
            ? Condition.always()
            : switch (draft.condition) {
              case 0 -> new Condition.Absent();
              case 1 ->
                  version == null
                      ? Condition.always()
                      : new Condition.VersionIs(new Version(version));
              case 2 -> new Condition.FieldIs(TEXT, new Field.Text("t1"));
              case 3 -> new Condition.Within(Item.VALUE, -5, 10);
              default -> Condition.always();
            };
    return switch (draft.kind) {
      case 0 ->
          new Write.Put(
              draft.key,
              Map.of(Item.VALUE, new Field.Number(draft.number)),
              expires(draft.key)
                  ? Optional.of(Instant.ofEpochMilli(expiry(draft)))
                  : Optional.empty(),
              condition);
      case 1 -> new Write.Delete(draft.key, condition);
      case 2 ->
          new Write.Update(
              draft.key,
              List.of(new Change.Put(TEXT, new Field.Text("t" + Math.abs(draft.number) % 3))),
              condition);
      default ->
          new Write.Update(draft.key, List.of(new Change.Add(Item.VALUE, draft.number)), condition);
    };
  }

  private long expiry(Draft draft) {
    return world.startMillis + world.config.expiry(draft.number + 100) + 1;
  }

  @Override
  void running(State state) {
    gone.clear();
    for (Draft draft : drafts) {
      gone.add(state.items.get(draft.key).isEmpty());
    }
  }

  @Override
  void ran(Task task, State state) {
    reached();
    if (isRead) {
      after = drafts.stream().<SimModel.@Nullable Thing>map(d -> world.model.thing(d.key)).toList();
      return;
    }
    after = new ArrayList<>();
    for (int i = 0; i < drafts.size(); i++) {
      Draft draft = drafts.get(i);
      SimModel.Thing before = world.model.thing(draft.key);
      if (before != null && expires(draft.key) && mayBeGone(before)) {
        before = gone.get(i) ? null : before; // either is correct
      }
      SimModel.Thing now = applied(draft, before);
      if (!holds(draft, before, now, knownVersions.get(i))) {
        unmet = draft.key;
        return;
      }
      after.add(now);
    }
    SimModel.Change change = new SimModel.Change();
    for (int i = 0; i < drafts.size(); i++) {
      change.put(drafts.get(i).key, after.get(i));
    }
    change(change);
    reached();
  }

  private boolean mayBeGone(SimModel.Thing thing) {
    return thing.expiresAt != 0 && thing.expiresAt <= world.wallMillisMax();
  }

  private SimModel.@Nullable Thing applied(Draft draft, SimModel.@Nullable Thing before) {
    Map<String, Object> fields = new HashMap<>(before == null ? Map.of() : before.fields);
    long expiresAt = before == null ? 0 : before.expiresAt;
    switch (draft.kind) {
      case 0 -> {
        fields.clear();
        fields.put(Item.VALUE, draft.number);
        expiresAt = expires(draft.key) ? expiry(draft) : 0;
      }
      case 1 -> {
        return null;
      }
      case 2 -> fields.put(TEXT, "t" + Math.abs(draft.number) % 3);
      default -> fields.merge(Item.VALUE, draft.number, (a, b) -> (Long) a + (Long) b);
    }
    return new SimModel.Thing(fields, expiresAt);
  }

  private static boolean holds(
      Draft draft,
      SimModel.@Nullable Thing before,
      SimModel.@Nullable Thing now,
      SimModel.@Nullable Thing known) {
    if (expires(draft.key)) {
      return true;
    }
    return switch (draft.condition) {
      case 0 -> before == null;
      case 1 -> known == null || before == known;
      case 2 -> before != null && "t1".equals(before.fields.get(TEXT));
      case 3 -> {
        long value = now == null ? 0 : (Long) now.fields.getOrDefault(Item.VALUE, 0L);
        yield value >= -5 && value <= 10;
      }
      default -> true;
    };
  }

  @Override
  void answered() {
    if (isRead) {
      for (int i = 0; i < drafts.size(); i++) {
        compare(found.get(i), after.get(i));
      }
      return;
    }
    if (unmet != null) {
      expect(
          answer instanceof WriteResult.ConditionFailed failed && failed.key().equals(unmet),
          "answer",
          "condition failed for " + unmet,
          answer);
      return;
    }
    expect(answer instanceof WriteResult.Applied, "answer", "applied", answer);
    if (answer instanceof WriteResult.Applied applied) {
      compare(applied.after(), after.getLast());
    }
  }

  private void compare(Optional<Item> item, SimModel.@Nullable Thing expected) {
    if (expected != null && item.isEmpty() && mayBeGone(expected)) {
      return;
    }
    SimModel.Thing is = item.map(SimItems::thing).orElse(null);
    boolean isRight =
        (is == null || expected == null)
            ? is == expected
            : is.fields.equals(expected.fields)
                && is.expiresAt == expected.expiresAt
                && (expected.version == null || expected.version.equals(is.version));
    expect(isRight, "item", expected, is);
    if (is != null && expected != null) {
      expected.version = is.version;
    }
  }

  /** Returns the model's form of an item. */
  static SimModel.Thing thing(Item item) {
    Map<String, Object> fields = new HashMap<>();
    item.fields()
        .forEach((name, field) -> {
          Object value =
              switch (field) {
                case Field.Number number -> number.value();
                case Field.Text text -> text.value();
                case Field.Tokens tokens -> tokens.values();
              };
          fields.put(name, value);
        });
    SimModel.Thing thing =
        new SimModel.Thing(fields, item.expiresAt().map(Instant::toEpochMilli).orElse(0L));
    thing.version = item.version().token();
    return thing;
  }

  /** Reads all items. */
  static void readAll(Engine engine, SimModel.Seen seen) {
    for (int partition = 0; partition < 3; partition++) {
      for (Item item : ScanDriver.of(engine.driver()).scan(Scan.all("p" + partition)).items()) {
        seen.things.put(item.key(), thing(item));
      }
    }
  }

  @Override
  public String toString() {
    return (isRead ? "read of " : "write of ") + drafts;
  }
}
