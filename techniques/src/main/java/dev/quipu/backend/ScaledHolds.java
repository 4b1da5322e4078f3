package dev.quipu.backend;

import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.RequestId;
import dev.quipu.ScaleRules;
import dev.quipu.Settlement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Holds on counters whose scales follow from their names, as {@link ScaledCounters}. */
record ScaledHolds(Holds inUnits, ScaleRules rules) implements Holds {
  @Override
  public HoldResult place(HoldRequest request) {
    HoldRequest units =
        new HoldRequest(
            request.id(),
            ScaledTransactions.units(request.adds(), rules),
            request.ttl(),
            request.late(),
            request.excess());
    return at(inUnits.place(units));
  }

  /** Keeps what was used; decimals take one more request, which reads the counters of the hold. */
  @Override
  public HoldResult settle(RequestId id, Settlement settlement) {
    if (settlement.isInUnits()) {
      return at(inUnits.settle(id, settlement));
    }
    Optional<HoldReading> hold = find(id);
    if (hold.isEmpty()) {
      return new HoldResult.NotFound();
    }
    long[] deltas = settlement.deltasFor(hold.get());
    Map<String, Long> units = new HashMap<>();
    for (int i = 0; i < deltas.length; i++) {
      units.put(hold.get().counters().get(i).counter(), deltas[i]);
    }
    return at(inUnits.settle(id, Settlement.of(units)));
  }

  @Override
  public HoldResult release(RequestId id) {
    return at(inUnits.release(id));
  }

  @Override
  public HoldResult extend(RequestId id, Duration ttl) {
    return at(inUnits.extend(id, ttl));
  }

  private HoldResult at(HoldResult result) {
    return switch (result) {
      case HoldResult.Done done -> new HoldResult.Done(at(done.hold(), rules), done.isReplayed());
      case HoldResult.Rejected not ->
          new HoldResult.Rejected(
              not.counter(), not.why(), not.valueIfKnown(), rules.of(not.counter()));
      case HoldResult.Exceeded exceeded ->
          new HoldResult.Exceeded(
              exceeded.counter(), exceeded.held(), rules.of(exceeded.counter()));
      case HoldResult.Closed closed -> new HoldResult.Closed(at(closed.hold(), rules));
      case HoldResult.NotFound none -> none;
      case HoldResult.Conflict conflict -> conflict;
    };
  }

  /** Returns a hold with the scales of its counters. */
  static HoldReading at(HoldReading hold, ScaleRules rules) {
    List<HoldReading.Part> parts =
        hold.counters().stream()
            .map(part ->
                new HoldReading.Part(
                    part.counter(), part.delta(), part.settled(), rules.of(part.counter())))
            .toList();
    return new HoldReading(hold.id(), hold.state(), parts, hold.expires(), hold.isLate());
  }

  @Override
  public Optional<HoldReading> find(RequestId id) {
    return inUnits.find(id).map(hold -> at(hold, rules));
  }

  @Override
  public List<HoldReading> list(String counter, @Nullable RequestId after, int limit) {
    return inUnits.list(counter, after, limit).stream().map(hold -> at(hold, rules)).toList();
  }

  @Override
  public Optional<Balance> balance(String counter) {
    return inUnits.balance(counter).map(balance -> balance.at(rules.of(counter)));
  }
}
