package dev.quipu.region;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionRecords.Retirement;
import dev.quipu.region.RegionRows.Frozen;
import dev.quipu.region.RegionRows.Right;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Gives the remaining rights of all retired regions for one counter to the successor of the region
 * that was retired last. Any process of any remaining region may do so, also concurrently, and
 * continue where another crashed. {@link RegionalCounters} describes the protocol.
 */
final class RegionTakeOver {
  private static final int ROUNDS_MAX = 100;
  private static final BigInteger RIGHTS_MAX = BigInteger.ONE.shiftLeft(61);

  private final Regions regions;
  private final RegionLeases leases;
  private final RegionPlan plan;

  RegionTakeOver(Regions regions, RegionLeases leases, RegionPlan plan) {
    this.regions = regions;
    this.leases = leases;
    this.plan = plan;
  }

  /**
   * Takes over all known counters.
   *
   * @throws QuipuException if a remaining region does not respond
   */
  Map<String, TakenOver> takeOverAll() {
    List<Retirement> retired = leases.publish();
    if (retired.isEmpty()) {
      return Map.of();
    }
    Set<String> counters = new TreeSet<>();
    for (String each : regions.living(retired)) {
      through(each, store -> counters.addAll(CounterItems.names(store)));
    }
    Map<String, TakenOver> all = new TreeMap<>();
    for (String counter : counters) {
      all.put(counter, takeOver(counter, retired));
    }
    return all;
  }

  /**
   * Takes over one counter, if a region was retired.
   *
   * @throws QuipuException if a remaining region does not respond
   */
  void takeOver(String counter) {
    List<Retirement> retired = leases.publish();
    if (!retired.isEmpty()) {
      takeOver(counter, retired);
    }
  }

  private <T> T through(String region, Function<Store, T> call) {
    return regions
        .ask(region, () -> call.apply(regions.replica(region)))
        .orElseThrow(() -> RegionRetirements.silent(region));
  }

  private static Key key(String counter, Retirement retirement) {
    return RegionRows.key(
        counter, retirement.successor(), RegionRows.TAKEN + "%04d".formatted(retirement.number()));
  }

  private TakenOver takeOver(String counter, List<Retirement> retired) {
    Retirement last = retired.getLast();
    List<String> living = regions.living(retired);
    for (int round = 0; round < ROUNDS_MAX; round++) {
      RegionRows rows =
          through(last.successor(), store -> RegionRows.read(store, counter, last.successor()));
      Optional<Item> done = rows.item(key(counter, last).sort());
      if (done.isPresent()) {
        return takenOver(done.get());
      }
      plan.requireOf(rows);
      if (!rows.isFounded()) {
        through(
            last.successor(), store -> store.write(plan.founding(counter, last.successor(), 0)));
        continue;
      }
      for (Retirement each : retired) {
        if (!each.equals(last) && living.contains(each.successor())) {
          close(counter, each);
        }
      }
      List<Write> batch = batch(counter, last, retired, living);
      IdempotentRetry.result(
          regions.replica(last.successor()),
          "the take-over of counter " + counter,
          () -> through(last.successor(), store -> store.writeAll(batch, null)));
    }
    throw new NotAppliedException(
        Reason.THROTTLED,
        "gave up after %d attempts: contention on the take-over of counter %s"
            .formatted(ROUNDS_MAX, counter));
  }

  /**
   * Closes an earlier take-over: if an earlier successor has not done it, the last one gets the
   * rights.
   */
  private void close(String counter, Retirement earlier) {
    Write nothing =
        new Write.Put(
            key(counter, earlier),
            Map.of(RegionTransfers.CLOSED, new Field.Number(1)),
            new Condition.Absent());
    IdempotentRetry.result(
        regions.replica(earlier.successor()),
        "closing the earlier take-over of counter %s from region %s by region %s"
            .formatted(counter, earlier.lost(), earlier.successor()),
        () -> through(earlier.successor(), store -> store.write(nothing)));
  }

  private static TakenOver takenOver(Item done) {
    BigInteger counted = BigInteger.ZERO;
    for (String field : done.fields().keySet()) {
      if (field.startsWith(RegionRows.FROZEN_UP)) {
        counted = counted.add(new BigInteger(done.text(field).orElseThrow()));
      } else if (field.startsWith(RegionRows.FROZEN_DOWN)) {
        counted = counted.subtract(new BigInteger(done.text(field).orElseThrow()));
      }
    }
    return new TakenOver(
        CounterItems.narrow(counted),
        done.number(Right.LOWER.field()),
        done.number(Right.RAISE.field()));
  }

  /**
   * Returns the writes that transfer the remaining rights: the initial rights of the retired
   * regions, the effect of their adds, the transfers to them from remaining regions, less the
   * transfers from them and earlier take-overs.
   */
  private List<Write> batch(
      String counter, Retirement last, List<Retirement> retired, List<String> living) {
    List<RegionRows> others = new ArrayList<>();
    SortedMap<String, Frozen> recorded = new TreeMap<>();
    for (String each : living) {
      for (Retirement gone : retired) {
        close(counter, each, gone.lost());
      }
      RegionRows rows = through(each, store -> RegionRows.read(store, counter, each));
      others.add(rows);
      recorded.putAll(rows.frozen());
    }
    SortedMap<String, Frozen> fresh = new TreeMap<>();
    for (Retirement gone : retired) {
      if (!recorded.containsKey(gone.lost())) {
        fresh.put(gone.lost(), newest(counter, gone.lost(), living));
      }
    }
    copiesOfRecords(counter, retired, living, fresh);
    for (Right right : Right.values()) {
      BigInteger rights = left(right, retired, others, recorded, fresh);
      if (right.atZero(plan.bounds()).isPresent() && rights.signum() < 0) {
        // They gave more than they are known to have had, so they had counted that much more.
        infer(last.lost(), right, rights.negate(), fresh);
      }
    }
    Map<String, Field> fields = new HashMap<>();
    List<Change> changes = new ArrayList<>();
    for (Right right : Right.values()) {
      if (right.atZero(plan.bounds()).isPresent()) {
        BigInteger rights = left(right, retired, others, recorded, fresh);
        long some = rights.max(BigInteger.ZERO).min(RIGHTS_MAX).longValueExact();
        fields.put(right.field(), new Field.Number(some));
        changes.add(new Change.Add(right.field(), some));
      }
    }
    fresh.forEach((region, sums) -> {
      fields.put(RegionRows.FROZEN_UP + region, new Field.Text(sums.up().toString()));
      fields.put(RegionRows.FROZEN_DOWN + region, new Field.Text(sums.down().toString()));
    });
    List<Write> batch = new ArrayList<>();
    batch.add(new Write.Put(key(counter, last), fields, new Condition.Absent()));
    if (!changes.isEmpty()) {
      batch.add(
          new Write.Update(
              RegionRows.cell(counter, last.successor(), 0), changes, plan.isFounded()));
    }
    return batch;
  }

  private BigInteger left(
      Right right,
      List<Retirement> retired,
      List<RegionRows> others,
      SortedMap<String, Frozen> recorded,
      SortedMap<String, Frozen> fresh) {
    BigInteger rights = BigInteger.ZERO;
    for (Retirement gone : retired) {
      String region = gone.lost();
      Frozen sums = recorded.containsKey(region) ? recorded.get(region) : fresh.get(region);
      BigInteger net = sums == null ? BigInteger.ZERO : sums.net();
      rights =
          rights
              .add(BigInteger.valueOf(plan.share(region, right)))
              .add(right == Right.LOWER ? net : net.negate());
      for (RegionRows other : others) {
        rights = rights.add(other.gave(right, region)).subtract(other.got(right, region));
      }
    }
    for (RegionRows other : others) {
      rights = rights.subtract(other.taken(right));
    }
    return rights;
  }

  private static void infer(
      String region, Right right, BigInteger missing, SortedMap<String, Frozen> fresh) {
    Frozen sums = fresh.get(region);
    if (sums != null) {
      fresh.put(
          region,
          right == Right.LOWER
              ? new Frozen(sums.up().add(missing), sums.down())
              : new Frozen(sums.up(), sums.down().add(missing)));
    }
  }

  /** Returns the newest known sums of a region over all remaining regions. */
  private Frozen newest(String counter, String region, List<String> living) {
    RegionRows newest = new RegionRows(region, new TreeMap<>());
    for (String each : living) {
      newest = newest.newest(through(each, store -> RegionRows.read(store, counter, region)));
    }
    return new Frozen(newest.up(), newest.down());
  }

  /** Copies the records of a successor that is itself retired by now. */
  private void copiesOfRecords(
      String counter,
      List<Retirement> retired,
      List<String> living,
      SortedMap<String, Frozen> fresh) {
    for (Retirement each : retired) {
      if (living.contains(each.successor())) {
        continue;
      }
      for (String place : living) {
        through(place, store -> RegionRows.read(store, counter, each.successor()))
            .frozen()
            .forEach(
                (region, sums) -> fresh.computeIfPresent(region, (any, was) -> was.newest(sums)));
      }
    }
  }

  /**
   * Closes a region's transfers with a retired one: transfers in flight are conditional on another
   * state of these two items.
   */
  private void close(String counter, String region, String retired) {
    for (String prefix : List.of(RegionRows.GAVE, RegionRows.GOT)) {
      Write close =
          new Write.Update(
              RegionRows.key(counter, region, prefix + retired),
              List.of(new Change.Put(RegionTransfers.CLOSED, new Field.Number(1))),
              Condition.always());
      IdempotentRetry.result(
          regions.replica(region),
          "closing the transfers of counter %s between regions %s and %s"
              .formatted(counter, region, retired),
          () -> through(region, store -> store.write(close)));
    }
  }
}
