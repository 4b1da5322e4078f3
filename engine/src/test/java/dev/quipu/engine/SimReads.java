package dev.quipu.engine;

import dev.quipu.CounterPage;
import dev.quipu.Reading;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A call of {@link Engine#read} or {@link Engine#list}. */
final class SimReads extends SimOperation {
  private final String counter;
  private final boolean isList;
  private final int limit;
  private @Nullable Object expected;
  private @Nullable Object answer;

  SimReads(SimWorld world, SplittableRandom random) {
    super(world);
    this.counter = world.config.counter(random);
    this.isList = random.nextInt(4) == 0;
    this.limit = 1 + random.nextInt(5);
  }

  @Override
  void call(Engine engine) {
    answer = isList ? engine.list("", counter, limit) : engine.read(counter);
  }

  @Override
  void ran(Task task, State state) {
    expected = isList ? page(state.wallMillis) : reading(state.wallMillis);
    reached();
  }

  private Optional<Reading> reading(long wallMillis) {
    SimModel.Cell cell = world.model.cell(counter, wallMillis);
    return cell == null || cell.text() != null
        ? Optional.empty()
        : Optional.of(Reading.exact(cell.value()));
  }

  private CounterPage page(long wallMillis) {
    List<CounterPage.Entry> found = new ArrayList<>();
    for (String name : world.model.names(wallMillis).tailSet(counter, false)) {
      SimModel.Cell cell = world.model.cell(name, wallMillis);
      if (cell != null && cell.text() == null) {
        if (found.size() == limit) {
          return new CounterPage(found, Optional.of(found.getLast().name()));
        }
        found.add(new CounterPage.Entry(name, Reading.exact(cell.value())));
      }
    }
    return new CounterPage(found, Optional.empty());
  }

  @Override
  void answered() {
    boolean isRight = answer != null && answer.equals(expected);
    // The last page may announce another one where only texts follow.
    if (!isRight
        && isList
        && answer instanceof CounterPage is
        && expected instanceof CounterPage e) {
      isRight = is.counters().equals(e.counters()) && e.resumeAfter().isEmpty();
    }
    expect(isRight, "answer", expected, answer);
  }

  @Override
  public String toString() {
    return isList ? "list after " + counter + " limit " + limit : "read " + counter;
  }
}
