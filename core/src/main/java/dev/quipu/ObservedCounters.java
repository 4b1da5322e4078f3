package dev.quipu;

import dev.quipu.Quipu.Observer;
import dev.quipu.Quipu.Observer.Call;
import dev.quipu.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Counters that report their calls to observers. Without any, they only forward the calls. */
final class ObservedCounters implements Counters {
  private final Counters counters;
  private final List<Observer> observers = new CopyOnWriteArrayList<>();

  ObservedCounters(Counters counters) {
    this.counters = counters;
  }

  void observe(Observer observer) {
    observers.add(observer);
  }

  AddResult observed(Supplier<AddResult> add) {
    if (observers.isEmpty()) {
      return add.get();
    }
    AddResult result =
        observed(
            Call.ADD,
            () -> {
              try {
                return add.get();
              } catch (RuntimeException e) {
                added(new ItemResult.Failed(e));
                throw e;
              }
            });
    added(result);
    return result;
  }

  private List<ItemResult> observedAll(Supplier<List<ItemResult>> adds) {
    List<ItemResult> results = observed(Call.ADD_ALL, adds);
    if (!observers.isEmpty()) {
      results.forEach(this::added);
    }
    return results;
  }

  private void added(ItemResult result) {
    for (Observer each : observers) {
      each.added(result);
    }
  }

  private <T> T observed(Call call, Supplier<T> work) {
    if (observers.isEmpty()) {
      return work.get();
    }
    long start = Clock.system().nanoTime();
    try {
      return work.get();
    } finally {
      long nanos = Clock.system().nanoTime() - start;
      for (Observer each : observers) {
        each.called(call, nanos);
      }
    }
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
    return counters.as(type);
  }

  @Override
  public AddResult add(Add add) {
    return observed(() -> counters.add(add));
  }

  @Override
  public List<ItemResult> addAll(List<Add> adds) {
    return observedAll(() -> counters.addAll(adds));
  }

  @Override
  public List<ItemResult> addAll(List<Add> adds, BooleanSupplier mayBegin) {
    return observedAll(() -> counters.addAll(adds, mayBegin));
  }

  @Override
  public List<ItemResult> addAll(
      List<Add> adds, BooleanSupplier mayBegin, BooleanSupplier mayWait) {
    return observedAll(() -> counters.addAll(adds, mayBegin, mayWait));
  }

  @Override
  public Bounds bounds() {
    return counters.bounds();
  }

  @Override
  public Optional<Reading> read(String counter) {
    return observed(Call.READ, () -> counters.read(counter));
  }

  @Override
  public List<Optional<Reading>> readAll(List<String> names) {
    return observed(Call.READ_ALL, () -> counters.readAll(names));
  }

  @Override
  public SetResult set(String counter, long value, OptionalLong ifValue) {
    return observed(Call.SET, () -> counters.set(counter, value, ifValue));
  }

  @Override
  public SetResult set(SetRequest request) {
    return observed(Call.SET, () -> counters.set(request));
  }

  @Override
  public void delete(String counter) {
    var unused =
        observed(
            Call.DELETE,
            () -> {
              counters.delete(counter);
              return counter;
            });
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return observed(Call.LIST, () -> counters.list(prefix, after, limit));
  }

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    return observed(Call.OUTCOME, () -> counters.outcome(counter, id));
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    return observed(Call.CANCEL, () -> counters.cancel(counter, id));
  }
}
