package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.GuaranteeCheck;
import dev.quipu.simulation.Simulation;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.history.Operation;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.testkit.pace.Soak;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Techniques keep their guarantees on every seed; techniques that lack one are detected. */
final class SimulationTest {
  private static final int SEEDS = Soak.seeds(2_000);
  private static final Simulation.Size FREE = new Simulation.Size(3, 6, 0.2, false);
  private static final Simulation.Size BOUNDED = new Simulation.Size(3, 6, 0.2, true);

  static Stream<String> techniques() {
    return Techniques.ALL.stream().map(TechniqueSpec::name);
  }

  @ParameterizedTest
  @MethodSource("techniques")
  void everyGuaranteeIsKeptOnEverySeed(String technique) {
    GuaranteeCheck.Report report = GuaranteeCheck.run(technique, 1, SEEDS);
    assertEquals(Optional.empty(), report.broken());
    assertTrue(
        report.runs() > SEEDS * 3 / 4, "replies were lost in only " + report.runs() + " runs");
  }

  @Test
  void theSameSeedIsTheSameRun() {
    for (long seed = 1; seed < 50; seed++) {
      String first = history(seed);
      assertEquals(first, history(seed));
    }
  }

  private static String history(long seed) {
    return Simulation.run(
            (store, random) -> new AtomicAdd(store), Simulation.Repeat.NEVER, FREE, seed)
        .history()
        .toString();
  }

  /** The purpose of the history: plain optimistic must leave unknown what the history resolves. */
  @Test
  void aHistoryResolvesWhatOneTagLeavesOpen() {
    long plain = unknowns(Optimistic::new);
    long withHistory = unknowns(Optimistic::withHistory);
    assertTrue(plain > 100, "plain left open only " + plain);
    assertTrue(withHistory < plain / 2, withHistory + " of " + plain + " are still open");
  }

  private static long unknowns(Simulation.Factory technique) {
    long unknowns = 0;
    for (long seed = 1; seed <= SEEDS / 4; seed++) {
      unknowns +=
          Simulation.run(technique, Simulation.Repeat.NEVER, FREE, seed)
              .history()
              .operations()
              .stream()
              .filter(operation -> operation.end() == Operation.End.UNKNOWN)
              .count();
    }
    return unknowns;
  }

  /** Over or under, as the caller chose, and never both. */
  @Test
  void anAtomicAddErrsOnTheSideThatTheCallerChose() {
    Simulation.Factory repeating =
        (store, random) -> new AtomicAdd(store, AtomicAdd.AfterUnknown.REPEAT);
    int atLeastOnce =
        brokenSeeds(repeating, Simulation.Repeat.NEVER, FREE, Guarantee.AT_LEAST_ONCE);
    int atMostOnce = brokenSeeds(repeating, Simulation.Repeat.NEVER, FREE, Guarantee.AT_MOST_ONCE);
    assertEquals(0, atLeastOnce);
    assertTrue(atMostOnce > SEEDS / 4, "counted too much on only " + atMostOnce + " seeds");
  }

  /** Without lost replies, after which the marker alone is found. */
  @Test
  void aMarkerItemReturnsTheValueWhereBatchesDo() {
    Simulation.Size calm = new Simulation.Size(3, 6, 0, false);
    Simulation.Factory returning = (store, random) -> new MarkerItem(store, random);
    Simulation.Factory silent =
        (store, random) -> {
          Set<Capability> less = EnumSet.copyOf(store.profile().capabilities());
          less.remove(Capability.BATCH_RETURNS);
          StoreDriver driver = new LimitedDriver(new MemoryDriver(), less);
          return new MarkerItem(
              new Store(driver, store.clock(), random, RetryPolicy.DEFAULT), random);
        };
    assertEquals(
        0, brokenSeeds(returning, Simulation.Repeat.UNDER_ID, calm, Guarantee.ADD_AND_GET));
    assertEquals(
        SEEDS, brokenSeeds(silent, Simulation.Repeat.UNDER_ID, calm, Guarantee.ADD_AND_GET));
  }

  @Test
  void anAtomicAddThatIsRepeatedBlindlyIsCaught() {
    assertTrue(
        brokenSeeds(
                (store, random) -> new AtomicAdd(store),
                Simulation.Repeat.BLINDLY,
                FREE,
                Guarantee.IDEMPOTENT)
            > SEEDS / 4);
  }

  @Test
  void aMarkerBesideTheTransactionIsCaught() {
    assertTrue(
        brokenSeeds(
                (store, random) -> new MarkerApart(store),
                Simulation.Repeat.UNDER_ID,
                FREE,
                Guarantee.IDEMPOTENT)
            > SEEDS / 20);
  }

  @Test
  void aReadThatIsWrittenBackUnconditionallyIsCaughtByEachChecker() {
    Simulation.Factory naive = (store, random) -> new ReadAndWriteBack(store);
    for (Guarantee guarantee :
        List.of(
            Guarantee.AT_MOST_ONCE,
            Guarantee.AT_LEAST_ONCE,
            Guarantee.ADD_AND_GET,
            Guarantee.LINEARIZABLE_READ)) {
      int broken = brokenSeeds(naive, Simulation.Repeat.NEVER, FREE, guarantee);
      assertTrue(broken > SEEDS / 20, guarantee + " was broken on only " + broken + " seeds");
    }
  }

  @Test
  void boundsThatAreCheckedBeforeTheWriteAreCaught() {
    int broken =
        brokenSeeds(
            (store, random) -> new CheckThenAdd(store),
            Simulation.Repeat.NEVER,
            BOUNDED,
            Guarantee.BOUNDED);
    assertTrue(broken > SEEDS / 50, "bounds were broken on only " + broken + " seeds");
  }

  private static int brokenSeeds(
      Simulation.Factory technique,
      Simulation.Repeat repeat,
      Simulation.Size size,
      Guarantee guarantee) {
    int broken = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Simulation.Result result = Simulation.run(technique, repeat, size, seed);
      broken += result.check(guarantee).isKept() ? 0 : 1;
    }
    return broken;
  }

  /** Common parts of all wrong techniques. */
  private abstract static class Wrong implements Technique {
    static final String VALUE = "value";
    final Store store;

    Wrong(Store store) {
      this.store = store;
    }

    static Key key(String counter) {
      return new Key(counter, VALUE);
    }

    long value(String counter) {
      return read(counter).map(Reading::value).orElse(0L);
    }

    void plainAdd(Add add) {
      store.write(
          new Write.Update(
              key(add.counter()), List.of(new Change.Add(VALUE, add.delta())), Condition.always()));
    }

    @Override
    public TechniqueSpec spec() {
      return AtomicAdd.SPEC;
    }

    @Override
    public Optional<Reading> read(String counter) {
      return store
          .get(key(counter), Consistency.STRONG)
          .map(item -> Reading.exact(item.number(VALUE)));
    }

    @Override
    public CounterPage list(String prefix, String after, int limit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public RequestOutcome outcome(String counter, RequestId id) {
      throw new UnsupportedOperationException();
    }

    @Override
    public RequestOutcome cancel(String counter, RequestId id) {
      throw new UnsupportedOperationException();
    }
  }

  /** Marker and number in two writes. */
  private static final class MarkerApart extends Wrong {
    MarkerApart(Store store) {
      super(store);
    }

    @Override
    public AddResult add(Add add) {
      Key marker = new Key(add.counter(), "marker/" + add.id());
      WriteResult first =
          store.write(
              new Write.Put(
                  marker,
                  Map.of(VALUE, new Field.Number(add.delta())),
                  Optional.empty(),
                  new Condition.Absent()));
      if (first instanceof WriteResult.ConditionFailed) {
        return new AddResult.Replayed(add.delta(), OptionalLong.empty());
      }
      plainAdd(add);
      return new AddResult.Applied(add.delta(), OptionalLong.empty());
    }
  }

  /** The lost-update loop. */
  private static final class ReadAndWriteBack extends Wrong {
    ReadAndWriteBack(Store store) {
      super(store);
    }

    @Override
    public AddResult add(Add add) {
      long after = value(add.counter()) + add.delta();
      store.write(
          new Write.Put(
              key(add.counter()),
              Map.of(VALUE, new Field.Number(after)),
              Optional.empty(),
              Condition.always()));
      return new AddResult.Applied(add.delta(), OptionalLong.of(after));
    }
  }

  /** A bound that is checked too early. */
  private static final class CheckThenAdd extends Wrong {
    CheckThenAdd(Store store) {
      super(store);
    }

    @Override
    public AddResult add(Add add) {
      long value = value(add.counter());
      Rejection why = Rejection.of(value, add.delta(), add.bounds());
      if (why != null) {
        return new AddResult.Rejected(why, value);
      }
      plainAdd(add);
      return new AddResult.Applied(add.delta(), OptionalLong.empty());
    }
  }
}
