package dev.quipu.engine;

import dev.quipu.Limits;
import dev.quipu.Reading;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads counters as of one moment. */
final class ReadTask extends Task {
  private final List<String> counters;
  private List<Optional<Reading>> readings = List.of();

  ReadTask(List<String> counters) {
    Limits.checkReads(counters.size());
    counters.forEach(each -> Limits.checkText("name", each, Limits.NAME_BYTES_MAX));
    this.counters = counters;
  }

  /** Returns one reading for each counter. */
  List<Optional<Reading>> readings() {
    return readings;
  }

  @Override
  public boolean run(State state, Group group) {
    CounterAccess access = new CounterAccess(state, group);
    readings = counters.stream().map(each -> reading(access.get(each))).toList();
    return true;
  }

  private static Optional<Reading> reading(OptionalLong value) {
    return value.isPresent() ? Optional.of(Reading.exact(value.getAsLong())) : Optional.empty();
  }
}
