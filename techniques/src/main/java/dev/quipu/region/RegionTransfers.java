package dev.quipu.region;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.cache.LruMap;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionRows.Right;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * Transfers rights to a region that lacks them, from the region that has most: the missing ones
 * plus twice as many as were used here since the last transfer, so that lasting demand needs ever
 * fewer transfers; but beyond the missing ones at most half of what the other has. In steps: a
 * process that dies between two of them leaves rights in flight, which any later process completes.
 */
final class RegionTransfers {
  static final String CLOSED = "closed";

  private final Regions regions;
  private final RegionLeases leases;
  private final RegionPlan plan;
  private final RegionTakeOver takeOver;

  RegionTransfers(Regions regions, RegionLeases leases, RegionPlan plan) {
    this.regions = regions;
    this.leases = leases;
    this.plan = plan;
    this.takeOver = new RegionTakeOver(regions, leases, plan);
  }

  /**
   * Makes one step.
   *
   * @param need rights that the region must have in all
   * @param demand rights that it used since its last transfer
   * @return the rejection, if it cannot have them; empty if something moved: look again
   */
  Optional<AddResult.Rejected> bring(
      String counter, String to, Right right, long need, long demand) {
    leases.requireMayActFor(to);
    RegionView view = RegionView.of(regions, leases, counter);
    view.requirePlan(plan);
    if (view.lacksRetired() && view.silent().isEmpty()) {
      takeOver.takeOver(counter);
      return Optional.empty();
    }
    List<String> able = view.after().keySet().stream().filter(leases::mayActFor).toList();
    if (createCells(counter, to, view, able) || receive(counter, to, right, view)) {
      return Optional.empty();
    }
    long here = rights(view, to, right);
    if (here >= need) {
      return Optional.empty();
    }
    List<String> donors =
        able.stream()
            .filter(region -> !region.equals(to) && rights(view, region, right) > 0)
            .sorted(
                Comparator.comparingLong((String region) -> rights(view, region, right)).reversed())
            .toList();
    long there =
        donors.stream()
            .mapToLong(donor -> rights(view, donor, right))
            .reduce(0, RegionTransfers::plus);
    boolean isEnough = plus(here, there) >= need;
    if (!view.isStill() && !isEnough) {
      return Optional.empty();
    }
    if (plus(plus(here, there), underWay(view, right)) < need) {
      return Optional.of(rejected(right, need, view, able));
    }
    if (!isEnough) {
      able.forEach(each -> receive(counter, each, right, view));
      return Optional.empty();
    }
    String richest = donors.getFirst();
    long has = rights(view, richest, right);
    long missing = need - here;
    long wanted = Math.max(missing, Math.min(plus(missing, 2 * demand), has / 2));
    give(counter, richest, to, right, Math.min(wanted, has), view);
    return Optional.empty();
  }

  /** Returns the sum of two non-negative numbers, or the largest 64-bit number on overflow. */
  private static long plus(long one, long other) {
    return one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other;
  }

  private static long rights(RegionView view, String region, Right right) {
    RegionRows rows = view.after().get(region);
    return rows == null ? 0 : rows.rights(right);
  }

  /** Returns the rights that were given to regions that answer, and are not in their cells yet. */
  private static long underWay(RegionView view, Right right) {
    long all = 0;
    for (String from : view.after().keySet()) {
      for (String to : view.after().keySet()) {
        all = plus(all, view.open(right, from, to));
      }
    }
    return all;
  }

  private AddResult.Rejected rejected(Right right, long need, RegionView view, List<String> able) {
    Bounds bounds = plan.bounds();
    Reading reading = view.reading(bounds);
    boolean isSure =
        right == Right.LOWER
            ? BigInteger.valueOf(reading.high())
                    .subtract(BigInteger.valueOf(need))
                    .compareTo(BigInteger.valueOf(bounds.floor()))
                < 0
            : BigInteger.valueOf(reading.low())
                    .add(BigInteger.valueOf(need))
                    .compareTo(BigInteger.valueOf(bounds.ceiling()))
                > 0;
    Rejection bound = right == Right.LOWER ? Rejection.FLOOR : Rejection.CEILING;
    List<String> away = new ArrayList<>(view.silent());
    view.after().keySet().stream().filter(region -> !able.contains(region)).forEach(away::add);
    return away.isEmpty() || isSure
        ? new AddResult.Rejected(bound, reading.value())
        : new AddResult.Rejected(
            Rejection.HELD_ELSEWHERE,
            OptionalLong.of(reading.value()),
            away.stream().sorted().toList());
  }

  /**
   * Creates the first cells of regions that have initial rights, or get some; returns whether any
   * was missing.
   */
  private boolean createCells(String counter, String to, RegionView view, List<String> able) {
    boolean any = false;
    for (RegionRows rows : view.after().values()) {
      String region = rows.region();
      if (!rows.isFounded()
          && able.contains(region)
          && (region.equals(to) || plan.initial().contains(region))) {
        any = true;
        through(region, store -> store.write(plan.founding(counter, region, 0)));
      }
    }
    return any;
  }

  /** Adds rights in flight to the cells of a region; returns whether there were any. */
  private boolean receive(String counter, String to, Right right, RegionView view) {
    boolean any = false;
    for (String from : regions.namesBut(to)) {
      if (view.open(right, from, to) > 0) {
        any |= through(to, store -> receive(store, counter, from, to, right, view));
      }
    }
    return any;
  }

  private WriteResult receive(
      Store store, String counter, String from, String to, Right right, RegionView view) {
    RegionRows rows = view.after().get(to);
    Optional<Item> got = rows == null ? Optional.empty() : rows.item(RegionRows.GOT + from);
    Key gotKey = RegionRows.key(counter, to, RegionRows.GOT + from);
    if (isClosed(got)) {
      return new WriteResult.ConditionFailed(gotKey, got); // the giver was retired
    }
    long open = view.open(right, from, to);
    Write note =
        new Write.Update(
            gotKey,
            RegionRows.put(right.field(), sum(got, right).add(BigInteger.valueOf(open))),
            Condition.unchanged(got));
    Write more =
        new Write.Update(
            RegionRows.cell(counter, to, 0),
            List.of(new Change.Add(right.field(), open)),
            plan.isFounded());
    return store.writeAll(List.of(note, more), null);
  }

  /** Takes rights from the cells of a region, the richest first, and records the recipient. */
  private void give(
      String counter, String from, String to, Right right, long amount, RegionView view) {
    RegionRows rows = Objects.requireNonNull(view.after().get(from));
    Optional<Item> gave = rows.item(RegionRows.GAVE + to);
    if (isClosed(gave)) {
      return; // the recipient was retired
    }
    List<Write> batch = new ArrayList<>();
    batch.add(
        new Write.Update(
            RegionRows.key(counter, from, RegionRows.GAVE + to),
            RegionRows.put(right.field(), sum(gave, right).add(BigInteger.valueOf(amount))),
            Condition.unchanged(gave)));
    long left = amount;
    for (Item cell : rows.richestFirst(right)) {
      long part = Math.min(left, cell.number(right.field()));
      if (part > 0) {
        batch.add(less(cell.key(), right, part));
        left -= part;
      }
    }
    through(from, store -> store.writeAll(batch, null));
  }

  private static BigInteger sum(Optional<Item> transfer, Right right) {
    return transfer.map(item -> RegionRows.wide(item, right.field())).orElse(BigInteger.ZERO);
  }

  /** Returns whether the region at the other end of a transfer was retired. */
  private static boolean isClosed(Optional<Item> transfer) {
    return transfer.filter(item -> item.number(CLOSED) != 0).isPresent();
  }

  static Write less(Key cell, Right right, long part) {
    return new Write.Update(
        cell,
        List.of(new Change.Add(right.field(), -part)),
        new Condition.Within(right.field(), 0, Long.MAX_VALUE));
  }

  /** Writes through a region's replica; returns whether the write is known to be applied. */
  private boolean through(String region, Function<Store, WriteResult> write) {
    leases.requireMayActFor(region);
    return regions.ask(region, () -> write.apply(regions.replica(region))).orElse(null)
        instanceof WriteResult.Applied;
  }

  /** The rights that each region used for each counter since its last transfer. */
  static final class Demand {
    private static final int COUNTERS_MAX = 10_000;
    private final LruMap<String, Long> used =
        new LruMap<>(COUNTERS_MAX); // eviction worsens the estimate

    void used(String counter, long amount) {
      used.merge(
          counter, amount, (a, b) -> a > Long.MAX_VALUE / 4 - b ? Long.MAX_VALUE / 4 : a + b);
    }

    long take(String counter) {
      Long amount = used.remove(counter);
      return amount == null ? 0 : amount;
    }
  }
}
