package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.ItemResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A call of {@link Engine#addAll} or {@link Engine#add}. */
final class SimAdds extends SimOperation {
  private static final java.lang.reflect.Field RESULTS = field();

  private final List<Add> adds;
  private List<ItemResult> answer = List.of();
  private List<ItemResult> results = List.of();
  private int seen;

  SimAdds(SimWorld world, List<Add> adds) {
    super(world);
    this.adds = adds;
  }

  @Override
  void call(Engine engine) {
    if (adds.size() == 1) {
      answer = List.of(add(engine, adds.getFirst()));
      return;
    }
    answer = engine.addAll(adds);
    ItemResult first = answer.getFirst();
    if (first instanceof ItemResult.Failed failed && answer.stream().allMatch(first::equals)) {
      throw failed.cause(); // of the commit
    }
  }

  private static ItemResult add(Engine engine, Add add) {
    try {
      return engine.add(add);
    } catch (IllegalArgumentException e) {
      return new ItemResult.Failed(e);
    }
  }

  @Override
  void ran(Task task, State state) {
    results = results((AddTask) task);
    for (; seen < results.size(); seen++) {
      judge(this, adds.get(seen), results.get(seen), state);
    }
    reached();
  }

  @SuppressWarnings("unchecked")
  private static List<ItemResult> results(AddTask task) {
    try {
      return (List<ItemResult>) java.util.Objects.requireNonNull(RESULTS.get(task));
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  private static java.lang.reflect.Field field() {
    try {
      java.lang.reflect.Field field = AddTask.class.getDeclaredField("results");
      field.setAccessible(true); // what was applied so far, even if the rest is rejected
      return field;
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  void answered() {
    expect(answer.equals(results), "answer", results, answer);
    expect(answer.size() == adds.size(), "results", adds.size(), answer.size());
    expect(seen == adds.size(), "results that were seen", adds.size(), seen);
  }

  @Override
  boolean isApplied() {
    return results.stream()
        .anyMatch(each -> each instanceof AddResult.Applied || each instanceof AddResult.Replayed);
  }

  /** Compares one result to the model, and updates the model. */
  static void judge(SimOperation by, Add add, ItemResult result, State state) {
    SimModel model = by.world.model;
    RequestId id = add.id();
    SimModel.Request request = id == null ? null : new SimModel.Request(add.counter(), id.high());
    SimModel.Mark mark = request == null ? null : model.mark(request);
    SimModel.Cell cell = model.cell(add.counter(), state.wallMillis);
    by.world.report.result(
        result instanceof AddResult.Rejected rejected
            ? "rejected: " + rejected.why()
            : result.getClass().getSimpleName());
    if (mark != null) {
      AddResult replay = replay(add, mark, cell);
      if (result.equals(replay)) {
        return;
      }
      by.expect(!model.mustRemember(mark, state.timeMillis), "repeat of " + add, replay, result);
    }
    boolean isText = cell != null && cell.text() != null;
    if (isText || result instanceof ItemResult.Failed) {
      by.expect(isRejection(result, isText), add.toString(), isText ? "a text" : "no room", result);
      return;
    }
    long before = cell == null ? 0 : cell.value();
    Rejection why = why(before, add.delta(), add.bounds());
    AddResult expected =
        why != null
            ? new AddResult.Rejected(why, before)
            : new AddResult.Applied(add.delta(), OptionalLong.of(before + add.delta()));
    by.expect(result.equals(expected), add.toString(), expected, result);
    if (why == null) {
      long after = before + add.delta();
      SimModel.Change change =
          new SimModel.Change()
              .put(
                  add.counter(),
                  new SimModel.Cell(after, null, cell == null ? 0 : cell.expiresAt()));
      if (request != null) {
        change.put(request, new SimModel.Mark(add.delta(), after, add.bounds(), state.timeMillis));
      }
      by.change(change);
    }
  }

  private static boolean isRejection(ItemResult result, boolean isText) {
    return result instanceof ItemResult.Failed failed
        && (isText
            ? failed.cause() instanceof IllegalArgumentException
            : failed.cause() instanceof QuipuException why && why.outcome() == Outcome.NOT_APPLIED);
  }

  private static AddResult replay(Add add, SimModel.Mark mark, SimModel.@Nullable Cell cell) {
    if (mark.isSealed()) {
      return new AddResult.Rejected(Rejection.CANCELED, cell == null ? 0 : cell.value());
    }
    return mark.delta() == add.delta() && mark.bounds().equals(add.bounds())
        ? new AddResult.Replayed(mark.delta(), OptionalLong.of(mark.value()))
        : new AddResult.Conflict(mark.delta());
  }

  static @Nullable Rejection why(long before, long delta, Bounds bounds) {
    java.math.BigInteger after =
        java.math.BigInteger.valueOf(before).add(java.math.BigInteger.valueOf(delta));
    if (after.bitLength() > 63) {
      return Rejection.OVERFLOW;
    }
    long value = after.longValueExact();
    if ((delta < 0 || bounds.floor() > 0) && value < bounds.floor()) {
      return Rejection.FLOOR;
    }
    return (delta > 0 || bounds.ceiling() < 0) && value > bounds.ceiling()
        ? Rejection.CEILING
        : null;
  }

  @Override
  public String toString() {
    return adds.size() == 1 ? "add " + adds.getFirst() : "adds of " + adds.size();
  }
}
