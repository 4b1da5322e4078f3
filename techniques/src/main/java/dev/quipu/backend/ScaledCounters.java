package dev.quipu.backend;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.ItemResult;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.ScaleRules;
import dev.quipu.SetRequest;
import dev.quipu.SetResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Counters of a technique whose scales follow from their names. The technique itself stores and
 * adds integers: units of the counter. The rules are part of the record of the store, so that all
 * processes on it have the same.
 */
public final class ScaledCounters implements Counters {
  private final Counters counters;
  private final ScaleRules rules;

  /** Creates counters over those of a technique. */
  public ScaledCounters(Counters counters, ScaleRules rules) {
    this.counters = counters;
    this.rules = rules;
  }

  /** Returns the scale that counters have by their names; 0 for counters without rules. */
  public static int scale(Counters counters, String counter) {
    return rules(counters).of(counter);
  }

  /** Returns the scales that counters have by their names. */
  static ScaleRules rules(Counters counters) {
    return counters.as(ScaledCounters.class).map(each -> each.rules).orElse(ScaleRules.none());
  }

  /** Makes an add by another way than {@link Counters#add}, in units of its counter. */
  public static AddResult around(Counters counters, Add add, Function<Add, AddResult> way) {
    int scale = scale(counters, add.counter());
    return at(way.apply(add.at(scale)), scale);
  }

  private static AddResult at(AddResult result, int scale) {
    if (scale == 0) {
      return result;
    }
    return switch (result) {
      case AddResult.Applied done ->
          new AddResult.Applied(done.added(), done.valueIfKnown(), scale);
      case AddResult.Replayed done ->
          new AddResult.Replayed(done.added(), done.valueIfKnown(), scale);
      case AddResult.Rejected not ->
          new AddResult.Rejected(not.why(), not.valueIfKnown(), not.heldBy(), scale);
      case AddResult.Conflict conflict -> new AddResult.Conflict(conflict.added(), scale);
    };
  }

  private static RequestOutcome at(RequestOutcome outcome, int scale) {
    return outcome instanceof RequestOutcome.Applied done
        ? new RequestOutcome.Applied(done.added(), done.valueIfKnown(), scale)
        : outcome;
  }

  private static SetResult at(SetResult result, int scale) {
    return switch (result) {
      case SetResult.Done done -> new SetResult.Done(done.value(), scale);
      case SetResult.Mismatch mismatch -> new SetResult.Mismatch(mismatch.value(), scale);
      case SetResult.OtherScale other -> other;
    };
  }

  @Override
  public String technique() {
    return counters.technique();
  }

  @Override
  public Set<Guarantee> guarantees() {
    return counters.guarantees();
  }

  @Override
  public <T> Optional<T> as(Class<T> type) {
    return type.isInstance(this) ? Optional.of(type.cast(this)) : counters.as(type);
  }

  @Override
  public AddResult add(Add add) {
    int scale = rules.of(add.counter());
    return at(counters.add(add.at(scale)), scale);
  }

  @Override
  public List<ItemResult> addAll(List<Add> adds) {
    return addAll(adds, counters::addAll);
  }

  @Override
  public List<ItemResult> addAll(List<Add> adds, BooleanSupplier mayBegin) {
    return addAll(adds, valid -> counters.addAll(valid, mayBegin));
  }

  @Override
  public List<ItemResult> addAll(
      List<Add> adds, BooleanSupplier mayBegin, BooleanSupplier mayWait) {
    return addAll(adds, valid -> counters.addAll(valid, mayBegin, mayWait));
  }

  /** Adds those that can be converted; the others fail, each on its own. */
  private List<ItemResult> addAll(List<Add> adds, Function<List<Add>, List<ItemResult>> way) {
    if (rules.isEmpty() && adds.stream().allMatch(add -> add.scale() <= 0)) {
      return way.apply(adds); // all are in units
    }
    List<ItemResult> results = new ArrayList<>(adds.size());
    List<Add> valid = new ArrayList<>(adds.size());
    List<Integer> places = new ArrayList<>(adds.size());
    for (Add add : adds) {
      try {
        valid.add(add.at(rules.of(add.counter())));
        places.add(results.size());
        results.add(new AddResult.Conflict(0)); // replaced below
      } catch (IllegalArgumentException e) {
        results.add(new ItemResult.Failed(e));
      }
    }
    List<ItemResult> done = way.apply(valid);
    for (int i = 0; i < done.size(); i++) {
      ItemResult result = done.get(i);
      int scale = rules.of(valid.get(i).counter());
      results.set(places.get(i), result instanceof AddResult known ? at(known, scale) : result);
    }
    return results;
  }

  @Override
  public Bounds bounds() {
    return counters.bounds();
  }

  @Override
  public Optional<Reading> read(String counter) {
    return counters.read(counter).map(reading -> reading.at(rules.of(counter)));
  }

  @Override
  public List<Optional<Reading>> readAll(List<String> names) {
    List<Optional<Reading>> readings = new ArrayList<>(counters.readAll(names));
    for (int i = 0; i < readings.size(); i++) {
      int scale = rules.of(names.get(i));
      readings.set(i, readings.get(i).map(reading -> reading.at(scale)));
    }
    return readings;
  }

  @Override
  public SetResult set(String counter, long value, OptionalLong ifValue) {
    return at(counters.set(counter, value, ifValue), rules.of(counter));
  }

  @Override
  public SetResult set(SetRequest request) {
    if (request.scale().isPresent()) {
      return Counters.super.set(request); // throws, and names the option
    }
    int scale = rules.of(request.counter());
    OptionalLong ifValue =
        request
            .ifValue()
            .map(value -> OptionalLong.of(value.unitsAt("field ifValue", scale)))
            .orElseGet(OptionalLong::empty);
    long units = request.value().orElseThrow().unitsAt("field value", scale);
    return set(request.counter(), units, ifValue);
  }

  @Override
  public void delete(String counter) {
    counters.delete(counter);
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    CounterPage page = counters.list(prefix, after, limit);
    return new CounterPage(
        page.counters().stream()
            .map(each ->
                new CounterPage.Entry(each.name(), each.reading().at(rules.of(each.name()))))
            .toList(),
        page.resumeAfter());
  }

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    return at(counters.outcome(counter, id), rules.of(counter));
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    return at(counters.cancel(counter, id), rules.of(counter));
  }
}
