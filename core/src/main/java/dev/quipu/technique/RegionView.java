package dev.quipu.technique;

import dev.quipu.Bounds;
import dev.quipu.Doubt;
import dev.quipu.Reading;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import dev.quipu.technique.RegionRows.Right;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One counter over all regions, looked at twice. Between the two looks was a moment at which every
 * region that answered both had counted at least what the first look found, and at most what the
 * second did.
 *
 * @param before what each region had that answered
 * @param after what the same regions had a moment later
 * @param copies of the silent ones, what has come to the own replica: old, by some time
 */
record RegionView(
    SortedMap<String, RegionRows> before,
    SortedMap<String, RegionRows> after,
    SortedMap<String, RegionRows> copies) {

  /** Looks twice. */
  static RegionView of(Regions regions, RegionLeases leases, RegionPlan plan, String counter) {
    Set<String> retired = leases.retired().keySet();
    SortedMap<String, RegionRows> before = look(regions, retired, counter);
    SortedMap<String, RegionRows> after = look(regions, retired, counter);
    before.keySet().retainAll(after.keySet());
    Set<String> missing = new TreeSet<>(regions.names());
    missing.removeAll(before.keySet());
    for (RegionRows rows : List.copyOf(before.values())) {
      List<String> gone = rows.others(RegionRows.HEIR); // their counts are in these rows
      missing.removeAll(gone);
      before.keySet().removeAll(gone);
    }
    after.keySet().retainAll(before.keySet());
    SortedMap<String, RegionRows> copies = new TreeMap<>();
    for (String silent : missing) {
      copies.put(silent, RegionRows.read(regions.here(), counter, silent));
    }
    RegionView view = new RegionView(before, after, copies);
    view.check(regions, plan, counter);
    return view;
  }

  private static SortedMap<String, RegionRows> look(
      Regions regions, Set<String> retired, String counter) {
    SortedMap<String, RegionRows> seen = new TreeMap<>();
    for (String region : regions.names()) {
      if (!retired.contains(region)) {
        regions
            .ask(region, () -> RegionRows.read(regions.replica(region), counter, region))
            .ifPresent(rows -> seen.put(region, rows));
      }
    }
    return seen;
  }

  private void check(Regions regions, RegionPlan plan, String counter) {
    for (RegionRows rows : after.values()) {
      plan.check(counter, rows);
      for (String prefix : List.of(RegionRows.GAVE, RegionRows.GOT)) {
        for (String other : rows.others(prefix)) {
          if (!regions.names().contains(other)) {
            throw StoreException.notApplied(
                Reason.INVALID,
                "region %s shares counter %s with region %s, which is not among %s"
                    .formatted(rows.region(), counter, other, regions.names()));
          }
        }
      }
    }
  }

  /** Whether nothing moved: all that is seen was so at one moment. */
  boolean isStill() {
    return before.equals(after);
  }

  /** The regions that did not answer. */
  List<String> silent() {
    return List.copyOf(copies.keySet());
  }

  /** Whether nothing was ever counted, anywhere. */
  boolean isEmpty() {
    return copies.isEmpty()
        && after.values().stream().allMatch(rows -> rows.up() == 0 && rows.down() == 0);
  }

  /** What one region gave another that has not taken it to its cells yet. */
  long open(Right right, String from, String to) {
    RegionRows giver = after.containsKey(from) ? after.get(from) : copies.get(from);
    RegionRows taker = after.get(to);
    return giver == null || taker == null
        ? 0
        : Math.max(0, giver.gave(right, to) - taker.got(right, from));
  }

  /** The value, and between what it lies. */
  Reading reading(String counter, Bounds bounds) {
    long value = 0;
    long up = 0;
    long down = 0;
    for (RegionRows rows : after.values()) {
      RegionRows was = before(rows);
      value = CounterItems.plus(counter, value, rows.up() - rows.down());
      up = CounterItems.plus(counter, up, rows.up() - was.up());
      down = CounterItems.plus(counter, down, rows.down() - was.down());
    }
    if (!copies.isEmpty()) {
      return unsure(counter, bounds, value);
    }
    long moved = CounterItems.plus(counter, up, down);
    return moved == 0
        ? Reading.exact(value)
        : new Reading(
            value,
            value - up, // what went up since may not have been there yet
            value + down,
            List.of(new Doubt(Doubt.Cause.MOVING, "", moved)));
  }

  private RegionRows before(RegionRows rows) {
    RegionRows was = before.get(rows.region());
    return was == null ? rows : was;
  }

  /**
   * With silent regions: the counter is above its floor by all rights to lower it, and what the
   * others hold of them, nobody who is silent has used; the ceiling likewise.
   */
  private Reading unsure(String counter, Bounds bounds, long seen) {
    long value = seen;
    List<Doubt> doubts = new ArrayList<>();
    for (RegionRows copy : copies.values()) {
      value = CounterItems.plus(counter, value, copy.up() - copy.down());
      long used =
          bounds.floor() == Long.MIN_VALUE || bounds.ceiling() == Long.MAX_VALUE
              ? Long.MAX_VALUE
              : Math.max(copy.rights(Right.LOWER), copy.rights(Right.RAISE));
      doubts.add(new Doubt(Doubt.Cause.SILENT_REGION, copy.region(), used));
      doubts.addAll(underWay(copy.region()));
    }
    long low =
        Right.LOWER
            .atZero(bounds)
            .map(any -> CounterItems.plus(counter, bounds.floor(), certain(Right.LOWER)))
            .orElse(Long.MIN_VALUE);
    long high =
        Right.RAISE
            .atZero(bounds)
            .map(any -> CounterItems.plus(counter, bounds.ceiling(), -certain(Right.RAISE)))
            .orElse(Long.MAX_VALUE);
    return low == high // those who are silent hold nothing that they could use
        ? Reading.exact(low)
        : new Reading(Math.clamp(value, low, high), low, high, doubts);
  }

  private List<Doubt> underWay(String silent) {
    List<Doubt> doubts = new ArrayList<>();
    for (RegionRows giver : after.values()) {
      for (Right right : Right.values()) {
        RegionRows taker = copies.get(silent);
        long open =
            taker == null ? 0 : giver.gave(right, silent) - taker.got(right, giver.region());
        if (open > 0) {
          String where = giver.region() + " to " + silent;
          doubts.add(new Doubt(Doubt.Cause.OPEN_TRANSFER, where, open));
        }
      }
    }
    return doubts;
  }

  /** Rights that were surely unused at the moment between the looks, by those who answered. */
  private long certain(Right right) {
    long certain = 0;
    for (RegionRows rows : after.values()) {
      RegionRows was = before(rows);
      long used = right == Right.LOWER ? rows.down() - was.down() : rows.up() - was.up();
      long given = rows.gave(right) - was.gave(right);
      certain += Math.max(0, was.rights(right) - used - given);
      for (RegionRows other : after.values()) {
        long open = was.gave(right, other.region()) - other.got(right, rows.region());
        certain += Math.max(0, open);
      }
    }
    return certain;
  }
}
