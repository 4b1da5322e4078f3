package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldRequest.Excess;
import dev.quipu.HoldRequest.Late;
import dev.quipu.HoldResult;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A call about a transaction or a hold, compared to the model when the engine runs it. */
final class SimTransactions extends SimOperation implements Operation {
  /** Kinds of calls. */
  enum Kind {
    COMMIT,
    OUTCOME,
    CANCEL,
    PLACE,
    SETTLE,
    RELEASE,
    EXTEND,
    FIND
  }

  private final Kind kind;
  private final long id;
  private final RequestId request;
  private final SplittableRandom random;
  private final List<Add> adds = new ArrayList<>();
  private final long ttlMillis;
  private final boolean appliesLate;
  private final boolean allowsExcess;
  private final SimShared.Key key;
  private boolean isDone;
  private @Nullable RuntimeException failure;
  private @Nullable State state;

  SimTransactions(SimWorld world, SplittableRandom random) {
    super(world);
    this.random = random.split();
    this.kind = Kind.values()[random.nextInt(Kind.values().length)];
    this.id = world.config.id(random);
    this.key = new SimShared.Key(id);
    this.request = world.config.request(id);
    // Most requests under an id are the same: repeats outnumber conflicts.
    SplittableRandom content =
        new SplittableRandom(random.nextInt(8) == 0 ? random.nextLong() : world.seed * 31 + id);
    List<String> names = new ArrayList<>(world.config.names());
    int count = 1 + content.nextInt(Math.min(3, names.size()));
    for (int i = 0; i < count; i++) {
      String name = names.remove(content.nextInt(names.size()));
      int delta = content.nextInt(1, 6);
      adds.add(
          new Add(
              name,
              content.nextInt(3) == 0 ? delta : -delta,
              content.nextBoolean() ? Bounds.none() : Bounds.between(-20, 500),
              null));
    }
    this.ttlMillis = 1_000 + content.nextLong(world.config.passesTime ? 60_000 : 2_000);
    this.appliesLate = content.nextBoolean();
    this.allowsExcess = content.nextBoolean();
  }

  @Override
  void call(Engine engine) {
    engine.run(List.of(this));
  }

  @Override
  void ran(Task task, State unused) {
    reached();
  }

  @Override
  void answered() {
    expect(isDone || failure != null, "the operation", "done", "skipped");
  }

  private HoldRequest holdRequest() {
    return new HoldRequest(
        request,
        adds,
        Duration.ofMillis(ttlMillis),
        appliesLate ? Late.APPLY : Late.REJECT,
        allowsExcess ? Excess.ALLOW : Excess.REJECT);
  }

  @Override
  public int bytesMax(CounterAccess access) {
    return switch (kind) {
      case COMMIT -> TransactionAccess.bytesMax(adds);
      case PLACE -> HoldAccess.bytesMax(holdRequest());
      case CANCEL -> CounterAccess.bytesMax(1, 0);
      case SETTLE, RELEASE, EXTEND -> new HoldAccess(access).bytesMax(request);
      case OUTCOME, FIND -> 0;
    };
  }

  @Override
  public void on(CounterAccess access) {
    State current = world.stateAtWork();
    state = current;
    HoldAccess holds = new HoldAccess(access);
    TransactionAccess transactions = new TransactionAccess(access);
    SimShared known = world.model.shared(key);
    if (known != null && known.isOpen() && SimHolds.isDue(known, current) && endsExpired()) {
      // What follows is judged after the model has ended the hold, as the engine must.
      Object result = holdCall(holds, known);
      SimHolds.expire(world.model, key, current, this::change);
      judge(result, current);
    } else {
      Object result =
          switch (kind) {
            case COMMIT -> transactions.commit(request, adds);
            case OUTCOME -> transactions.outcome(request);
            case CANCEL -> transactions.cancel(request);
            case PLACE -> holds.place(holdRequest());
            case SETTLE, RELEASE, EXTEND -> holdCall(holds, known);
            case FIND -> holds.find(request);
          };
      judge(result, current);
    }
    reached();
    isDone = true;
  }

  private boolean endsExpired() {
    return kind == Kind.SETTLE || kind == Kind.RELEASE || kind == Kind.EXTEND;
  }

  private Object holdCall(HoldAccess holds, @Nullable SimShared known) {
    return switch (kind) {
      case SETTLE -> holds.settle(request, Settlement.of(kept(known)));
      case RELEASE -> holds.release(request);
      default -> holds.extend(request, Duration.ofMillis(ttlMillis));
    };
  }

  /** Returns what a settlement keeps: mostly the same for an id, so that repeats occur. */
  private Map<String, Long> kept(@Nullable SimShared known) {
    Map<String, Long> kept = new HashMap<>();
    if (known == null || !known.isHold()) {
      return kept;
    }
    long factor = random.nextInt(4) == 0 ? random.nextInt(4) : id % 4; // 3: more than reserved
    for (SimShared.Part part : known.parts()) {
      kept.put(part.counter(), factor == 3 ? part.delta() * 2 : part.delta() * factor / 2);
    }
    settled = kept;
    return kept;
  }

  private Map<String, Long> settled = Map.of();

  private void judge(Object result, State current) {
    SimShared known = world.model.shared(key);
    boolean isClear =
        known == null || known.isOpen() || world.model.mustRemember(known, current.timeMillis);
    world.report.result(kind + " " + result.getClass().getSimpleName());
    Object expected = expected(known, current);
    if (!isClear && !result.equals(expected)) { // it was forgotten
      known = null;
      expected = expected(null, current);
    }
    expect(result.equals(expected), this + "", expected, result);
    boolean hasEffect =
        (result instanceof TransactionResult.Applied applied && !applied.isReplayed())
            || (result instanceof HoldResult.Done done && !done.isReplayed())
            || (result instanceof TransactionOutcome.Canceled
                && kind == Kind.CANCEL
                && known == null);
    if (hasEffect) {
      apply(known, current);
    }
  }

  private Object expected(@Nullable SimShared known, State current) {
    return switch (kind) {
      case OUTCOME, CANCEL -> outcome(known, current);
      case FIND ->
          known == null || !known.isHold()
              ? Optional.empty()
              : Optional.of(reading(known, current));
      case COMMIT -> committed(known, current);
      case PLACE -> placed(known, current);
      case SETTLE, RELEASE, EXTEND -> changed(known, current);
    };
  }

  private TransactionOutcome outcome(@Nullable SimShared known, State current) {
    if (known == null) {
      return kind == Kind.CANCEL
          ? new TransactionOutcome.Canceled()
          : new TransactionOutcome.NotSeen();
    }
    return switch (known.state()) {
      case CANCELED -> new TransactionOutcome.Canceled();
      case APPLIED -> new TransactionOutcome.Applied(added(known));
      default -> new TransactionOutcome.Held(reading(known, current));
    };
  }

  private static List<TransactionResult.Added> added(SimShared known) {
    return known.parts().stream()
        .map(part -> new TransactionResult.Added(part.counter(), part.delta(), part.kept()))
        .toList();
  }

  private boolean isSame(SimShared known, boolean isHold) {
    List<Add> before =
        known.parts().stream()
            .map(part -> new Add(part.counter(), part.delta(), part.bounds(), null))
            .toList();
    return before.equals(adds)
        && (!isHold
            || (known.ttlMillis() == ttlMillis
                && known.appliesLate() == appliesLate
                && known.allowsExcess() == allowsExcess));
  }

  private TransactionResult committed(@Nullable SimShared known, State current) {
    if (known != null && known.state() == SimShared.State.CANCELED) {
      return new TransactionResult.Rejected("", Rejection.CANCELED, OptionalLong.empty());
    }
    if (known != null) {
      return known.isHold() || !isSame(known, false)
          ? new TransactionResult.Conflict()
          : new TransactionResult.Applied(added(known), true);
    }
    TransactionResult.Rejected rejected = rejected(adds, current);
    if (rejected != null) {
      return rejected;
    }
    List<TransactionResult.Added> added = new ArrayList<>();
    for (Add add : adds) {
      long value = value(add.counter(), current) + add.delta();
      added.add(new TransactionResult.Added(add.counter(), add.delta(), value));
    }
    return new TransactionResult.Applied(added, false);
  }

  private long value(String counter, State current) {
    SimModel.Cell cell = world.model.cell(counter, current.wallMillis);
    return cell == null ? 0 : cell.value();
  }

  private TransactionResult.@Nullable Rejected rejected(List<Add> tried, State current) {
    for (Add add : tried) {
      long value = value(add.counter(), current);
      Rejection why = SimAdds.why(value, add.delta(), add.bounds());
      if (why != null) {
        return new TransactionResult.Rejected(add.counter(), why, OptionalLong.of(value));
      }
    }
    return null;
  }

  private HoldResult placed(@Nullable SimShared known, State current) {
    if (known != null && known.state() == SimShared.State.CANCELED) {
      return new HoldResult.Rejected("", Rejection.CANCELED, OptionalLong.empty());
    }
    if (known != null) {
      return known.isHold() && isSame(known, true)
          ? new HoldResult.Done(reading(known, current), true)
          : new HoldResult.Conflict();
    }
    TransactionResult.Rejected rejected = rejected(adds, current);
    return rejected == null
        ? new HoldResult.Done(reading(fresh(current), current), false)
        : new HoldResult.Rejected(rejected.counter(), rejected.why(), rejected.valueIfKnown());
  }

  private SimShared fresh(State current) {
    return new SimShared(
        SimShared.State.OPEN,
        adds.stream()
            .map(add -> new SimShared.Part(add.counter(), add.delta(), add.bounds(), 0, false))
            .toList(),
        ttlMillis,
        current.wallMillis + ttlMillis,
        appliesLate,
        allowsExcess,
        current.timeMillis);
  }

  private HoldResult changed(@Nullable SimShared known, State current) {
    if (known == null || !known.isHold()) {
      return new HoldResult.NotFound();
    }
    if (known.isOpen() || (kind == Kind.SETTLE && known.maySettleLate())) {
      return kind == Kind.EXTEND
          ? new HoldResult.Done(
              reading(known.expiring(current.wallMillis + ttlMillis), current), false)
          : endOf(known, current);
    }
    boolean isAgain =
        switch (kind) {
          case RELEASE -> known.state() == SimShared.State.RELEASED;
          case SETTLE ->
              known.state() != SimShared.State.EXPIRED
                  && known.state() != SimShared.State.RELEASED
                  && known.parts().stream()
                      .allMatch(part -> settled.getOrDefault(part.counter(), 0L) == part.kept());
          default -> false;
        };
    return isAgain
        ? new HoldResult.Done(reading(known, current), true)
        : new HoldResult.Closed(reading(known, current));
  }

  /** Returns the result of a settlement or a release that finds the hold open, or is late. */
  private HoldResult endOf(SimShared known, State current) {
    for (SimShared.Part part : known.parts()) {
      long kept = settled.getOrDefault(part.counter(), 0L);
      if (Math.abs(kept) > Math.abs(part.delta()) && !known.allowsExcess()) {
        return new HoldResult.Exceeded(part.counter(), part.delta());
      }
      SimModel.Cell cell = world.model.cell(part.counter(), current.wallMillis);
      if (!known.isOpen() && (cell == null || cell.text() != null)) {
        return new HoldResult.Closed(reading(known, current));
      }
    }
    for (SimShared.Part part : known.parts()) {
      long kept = settled.getOrDefault(part.counter(), 0L);
      SimModel.Cell cell =
          known.isOpen()
              ? SimHolds.effective(world.model, part, current)
              : world.model.cell(part.counter(), current.wallMillis);
      if (cell == null && known.isOpen()) {
        continue;
      }
      long value = cell == null ? 0 : cell.value();
      boolean isExcess = Math.abs(kept) > Math.abs(part.delta());
      Rejection why =
          known.isOpen()
              ? SimAdds.why(value, kept - part.delta(), isExcess ? part.bounds() : Bounds.none())
              : kept == 0 ? null : SimAdds.why(value, kept, part.bounds());
      if (why != null) {
        return new HoldResult.Rejected(part.counter(), why, OptionalLong.of(value));
      }
    }
    return new HoldResult.Done(reading(ended(known, current), current), false);
  }

  private SimShared ended(SimShared known, State current) {
    List<SimShared.Part> parts = new ArrayList<>();
    for (SimShared.Part part : known.parts()) {
      parts.add(part.keeping(settled.getOrDefault(part.counter(), 0L)));
    }
    SimShared.State as =
        kind == Kind.RELEASE
            ? SimShared.State.RELEASED
            : known.isOpen() ? SimShared.State.SETTLED : SimShared.State.SETTLED_LATE;
    return known.with(as, parts, current.timeMillis);
  }

  private HoldReading reading(SimShared known, State current) {
    boolean isSettled =
        known.state() == SimShared.State.SETTLED || known.state() == SimShared.State.SETTLED_LATE;
    HoldReading.State as =
        known.isOpen()
            ? SimHolds.isDue(known, current) ? HoldReading.State.EXPIRED : HoldReading.State.OPEN
            : isSettled
                ? HoldReading.State.SETTLED
                : HoldReading.State.valueOf(known.state().name());
    return new HoldReading(
        request,
        as,
        known.parts().stream()
            .map(part ->
                new HoldReading.Part(
                    part.counter(),
                    part.delta(),
                    isSettled ? OptionalLong.of(part.kept()) : OptionalLong.empty()))
            .toList(),
        Instant.ofEpochMilli(known.expiresAt()),
        known.state() == SimShared.State.SETTLED_LATE);
  }

  private void apply(@Nullable SimShared known, State current) {
    SimModel.Change change = new SimModel.Change();
    switch (kind) {
      case CANCEL ->
          change.put(
              key,
              new SimShared(
                  SimShared.State.CANCELED, List.of(), 0, 0, false, false, current.timeMillis));
      case COMMIT, PLACE -> {
        List<SimShared.Part> parts = new ArrayList<>();
        for (Add add : adds) {
          SimModel.Cell cell = world.model.cell(add.counter(), current.wallMillis);
          long value = (cell == null ? 0 : cell.value()) + add.delta();
          long expiresAt = cell == null ? 0 : cell.expiresAt();
          change.put(add.counter(), new SimModel.Cell(value, null, expiresAt));
          parts.add(new SimShared.Part(add.counter(), add.delta(), add.bounds(), value, false));
        }
        change.put(
            key,
            kind == Kind.PLACE
                ? fresh(current)
                : fresh(current).with(SimShared.State.APPLIED, parts, current.timeMillis));
      }
      case EXTEND ->
          change.put(key, Objects.requireNonNull(known).expiring(current.wallMillis + ttlMillis));
      default -> applyEnd(change, Objects.requireNonNull(known), current);
    }
    change(change);
  }

  private void applyEnd(SimModel.Change change, SimShared known, State current) {
    if (known.isOpen()) {
      long[] kept =
          known.parts().stream()
              .mapToLong(part -> settled.getOrDefault(part.counter(), 0L))
              .toArray();
      SimHolds.end(world.model, change, key, ended(known, current).state(), kept, current);
      return;
    }
    for (SimShared.Part part : known.parts()) {
      long kept = settled.getOrDefault(part.counter(), 0L);
      if (kept != 0) {
        SimModel.Cell cell = world.model.cell(part.counter(), current.wallMillis);
        long value = (cell == null ? 0 : cell.value()) + kept;
        long expiresAt = cell == null ? 0 : cell.expiresAt();
        change.put(part.counter(), new SimModel.Cell(value, null, expiresAt));
      }
    }
    change.put(key, ended(known, current));
  }

  @Override
  public void failed(RuntimeException why) {
    failure = why;
    boolean isNotApplied =
        why instanceof dev.quipu.QuipuException known
            && known.outcome() == dev.quipu.Outcome.NOT_APPLIED;
    expect(why instanceof IllegalArgumentException || isNotApplied, this + "", "an answer", why);
    if (why instanceof IllegalArgumentException) {
      long wall = Objects.requireNonNull(state).wallMillis;
      boolean isText =
          adds.stream()
              .anyMatch(add -> {
                SimModel.Cell cell = world.model.cell(add.counter(), wall);
                return cell != null && cell.text() != null;
              });
      expect(isText && (kind == Kind.COMMIT || kind == Kind.PLACE), this + "", "an answer", why);
    }
  }

  @Override
  public String toString() {
    return kind + " " + adds + " id " + id + " keeps " + settled;
  }
}
