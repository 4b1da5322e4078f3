package dev.quipu.technique;

import dev.quipu.store.Change;
import dev.quipu.store.Condition;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Reason;
import dev.quipu.store.Store;
import dev.quipu.store.StoreException;
import dev.quipu.store.Write;
import dev.quipu.technique.RegionRows.Right;
import dev.quipu.technique.RegionalCounters.Estate;
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
 * Takes over what a retired region had: its count as far as it was heard of, and the rights it had
 * left. {@link RegionalCounters} tells how.
 */
final class RegionHeir {
  private static final int ROUNDS_MAX = 100;

  private final Regions regions;
  private final RegionPlan plan;

  RegionHeir(Regions regions, RegionPlan plan) {
    this.regions = regions;
    this.plan = plan;
  }

  /** All counters that anybody has heard of; safe to repeat. */
  Map<String, Estate> takeOver(String region, SortedMap<String, String> retired) {
    List<String> alive =
        regions.names().stream().filter(name -> !retired.containsKey(name)).toList();
    Set<String> counters = new TreeSet<>();
    for (String each : alive) {
      through(each, store -> counters.addAll(CounterItems.names(store)));
    }
    Map<String, Estate> estates = new TreeMap<>();
    for (String counter : counters) {
      estates.put(counter, takeOver(counter, region, alive));
    }
    return estates;
  }

  private <T> T through(String region, Function<Store, T> call) {
    return regions
        .ask(region, () -> call.apply(regions.replica(region)))
        .orElseThrow(() ->
            StoreException.notApplied(
                Reason.UNAVAILABLE, "region %s does not answer".formatted(region)));
  }

  private Estate takeOver(String counter, String region, List<String> alive) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      RegionRows own = RegionRows.read(regions.here(), counter, regions.own());
      Optional<Item> done = own.item(RegionRows.HEIR + region);
      if (done.isPresent()) {
        return estate(done.get());
      }
      if (!own.isFounded()) {
        regions.here().write(plan.founding(counter, regions.own(), 0));
        continue;
      }
      Map<String, Field> left = left(counter, region, alive);
      List<Change> changes = new ArrayList<>();
      for (Right right : Right.values()) {
        if (left.get(right.field()) instanceof Field.Number rights) {
          changes.add(new Change.Add(right.field(), rights.value()));
        }
      }
      List<Write> batch = new ArrayList<>();
      batch.add(
          new Write.Put(
              RegionRows.key(counter, regions.own(), RegionRows.HEIR + region),
              left,
              Optional.empty(),
              new Condition.Absent()));
      if (!changes.isEmpty()) {
        batch.add(
            new Write.Update(
                RegionRows.cell(counter, regions.own(), 0), changes, plan.isFounded()));
      }
      UntilDefinite.result(regions.here(), "an estate", () -> regions.here().writeAll(batch, null));
    }
    throw StoreException.notApplied(Reason.THROTTLED, "others came first, each time");
  }

  private static Estate estate(Item heir) {
    return new Estate(
        heir.number(RegionRows.UP) - heir.number(RegionRows.DOWN),
        heir.number(Right.LOWER.field()),
        heir.number(Right.RAISE.field()));
  }

  /** The region's sums, and its rights: what it began with and got, less what it gave and used. */
  private Map<String, Field> left(String counter, String region, List<String> alive) {
    RegionRows last = new RegionRows(region, new TreeMap<>());
    List<RegionRows> others = new ArrayList<>();
    for (String each : alive) {
      others.add(through(each, store -> closed(store, counter, each, region)));
      last = last.newest(through(each, store -> RegionRows.read(store, counter, region)));
    }
    Map<String, Field> left = new HashMap<>();
    left.put(RegionRows.UP, new Field.Number(last.up()));
    left.put(RegionRows.DOWN, new Field.Number(last.down()));
    for (Right right : Right.values()) {
      if (right.atZero(plan.bounds()).isPresent()) {
        long rights = plan.share(region, right) + last.inherited(right) + last.usable(right);
        for (RegionRows other : others) {
          rights += other.gave(right, region) - other.got(right, region);
        }
        for (String gone : last.others(RegionRows.GOT)) {
          if (!alive.contains(gone)) {
            rights += last.got(right, gone);
          }
        }
        left.put(right.field(), new Field.Number(Math.max(0, rights)));
      }
    }
    return left;
  }

  /**
   * A region's rows, after no transfer between it and the retired one can come any more: what was
   * on its way was made for another state of these two items.
   */
  private static RegionRows closed(Store store, String counter, String region, String retired) {
    for (String prefix : List.of(RegionRows.GAVE, RegionRows.GOT)) {
      Write close =
          new Write.Update(
              RegionRows.key(counter, region, prefix + retired),
              List.of(new Change.Put(RegionTransfers.CLOSED, new Field.Number(1))),
              Condition.always());
      UntilDefinite.result(store, "a transfer's end", () -> store.write(close));
    }
    return RegionRows.read(store, counter, region);
  }
}
