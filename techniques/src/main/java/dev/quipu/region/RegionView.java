package dev.quipu.region;

import dev.quipu.Bounds;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.Uncertainty;
import dev.quipu.region.RegionLeases.Standing;
import dev.quipu.region.RegionRecords.Retirement;
import dev.quipu.region.RegionRows.Frozen;
import dev.quipu.region.RegionRows.Right;
import dev.quipu.shard.StoredParts;
import dev.quipu.shard.StoredParts.Part;
import dev.quipu.technique.CounterItems;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One counter over all regions, read twice. At some moment between the two reads, every region that
 * answered both had counted at least what the first read found, and at most what the second did.
 *
 * @param standing which regions are retired, or restored from a backup
 * @param before rows of each region that answered
 * @param after rows of the same regions at the second read
 * @param copies rows in the local replica of regions that did not respond or are not reliable, and
 *     of retired ones whose sums are not recorded yet: out of date
 * @param frozen the recorded sums of retired regions
 */
record RegionView(
    Standing standing,
    SortedMap<String, RegionRows> before,
    SortedMap<String, RegionRows> after,
    SortedMap<String, RegionRows> copies,
    SortedMap<String, Frozen> frozen) {
  private static final int LOOKS_MAX = 20;

  /** Reads twice; again while a retirement is recorded between the reads. */
  static RegionView of(Regions regions, RegionLeases leases, String counter) {
    for (int look = 0; look < LOOKS_MAX; look++) {
      Standing standing = leases.standing();
      SortedMap<String, RegionRows> before = look(regions, standing, counter);
      SortedMap<String, RegionRows> after = look(regions, standing, counter);
      before.keySet().retainAll(after.keySet());
      SortedMap<String, Frozen> frozen = frozen(after);
      if (!frozen.keySet().equals(frozen(before).keySet())
          || !before.keySet().containsAll(after.keySet())) {
        continue;
      }
      before.keySet().removeAll(frozen.keySet()); // retired: its sums are recorded
      after.keySet().removeAll(frozen.keySet());
      Set<String> missing = new TreeSet<>(regions.names());
      missing.removeAll(before.keySet());
      missing.removeAll(frozen.keySet());
      SortedMap<String, RegionRows> copies = new TreeMap<>();
      for (String region : missing) {
        copies.put(region, RegionRows.read(regions.here(), counter, region));
      }
      RegionView view = new RegionView(standing, before, after, copies, frozen);
      view.check(regions, counter);
      return view;
    }
    throw new NotAppliedException(
        Reason.THROTTLED,
        "gave up after %d attempts: the regions changed during each read of counter %s"
            .formatted(LOOKS_MAX, counter));
  }

  private static SortedMap<String, Frozen> frozen(SortedMap<String, RegionRows> seen) {
    SortedMap<String, Frozen> frozen = new TreeMap<>();
    seen.values().forEach(rows -> frozen.putAll(rows.frozen()));
    return frozen;
  }

  private static SortedMap<String, RegionRows> look(
      Regions regions, Standing standing, String counter) {
    SortedMap<String, RegionRows> seen = new TreeMap<>();
    for (String region : regions.names()) {
      if (!standing.lost().contains(region) && !standing.ended().contains(region)) {
        regions
            .ask(region, () -> RegionRows.read(regions.replica(region), counter, region))
            .ifPresent(rows -> seen.put(region, rows));
      }
    }
    return seen;
  }

  private void check(Regions regions, String counter) {
    for (RegionRows rows : after.values()) {
      for (String prefix : List.of(RegionRows.GAVE, RegionRows.GOT)) {
        for (String other : rows.others(prefix)) {
          if (!regions.names().contains(other)) {
            throw new NotAppliedException(
                Reason.DENIED,
                "region %s shares counter %s with region %s, which is not one of %s"
                    .formatted(rows.region(), counter, other, regions.names()));
          }
        }
      }
    }
  }

  /**
   * Checks that all regions divide bounds by the same plan.
   *
   * @throws QuipuException if a region has a different one
   */
  void requirePlan(RegionPlan plan) {
    after.values().forEach(plan::requireOf);
  }

  /** Returns what each region counted and may count by itself; see {@link StoredParts}. */
  List<Part> parts(Bounds bounds) {
    List<Part> parts = new ArrayList<>();
    if (isEmpty()) {
      return parts;
    }
    after.forEach((region, rows) -> parts.add(part(region, rows, bounds, Optional.empty())));
    copies.forEach((region, rows) ->
        parts.add(
            part(region, rows, bounds, Optional.of("does not respond; as replicated before"))));
    frozen.forEach((region, sums) ->
        parts.add(
            new Part(
                region,
                CounterItems.narrow(sums.net()),
                OptionalLong.of(0),
                OptionalLong.of(0),
                Optional.of("retired"))));
    return parts;
  }

  private static Part part(String region, RegionRows rows, Bounds bounds, Optional<String> note) {
    return new Part(
        region,
        CounterItems.narrow(rows.net()),
        rights(rows, Right.LOWER, bounds),
        rights(rows, Right.RAISE, bounds),
        note);
  }

  private static OptionalLong rights(RegionRows rows, Right right, Bounds bounds) {
    return right.atZero(bounds).isPresent()
        ? OptionalLong.of(rows.rights(right))
        : OptionalLong.empty();
  }

  /** Returns whether nothing changed between the reads: they are a snapshot of one moment. */
  boolean isStill() {
    return before.equals(after);
  }

  /** Returns the regions that are not retired, and did not respond or are not reliable. */
  List<String> silent() {
    return copies.keySet().stream().filter(name -> !standing.lost().contains(name)).toList();
  }

  /** Returns whether the sums of some retired regions are not recorded for this counter yet. */
  boolean lacksRetired() {
    return copies.keySet().stream().anyMatch(standing.lost()::contains);
  }

  /** Returns whether nothing was ever counted in any region, as far as is known. */
  boolean isEmpty() {
    return silent().isEmpty()
        && frozen.values().stream().allMatch(sums -> sums.up().add(sums.down()).signum() == 0)
        && copies.values().stream().allMatch(RegionView::isUnused)
        && after.values().stream().allMatch(RegionView::isUnused);
  }

  private static boolean isUnused(RegionRows rows) {
    return rows.up().signum() == 0 && rows.down().signum() == 0;
  }

  /** Returns the rights that one region gave another that has not added them to its cells yet. */
  long open(Right right, String from, String to) {
    RegionRows giver = after.containsKey(from) ? after.get(from) : copies.get(from);
    RegionRows taker = after.get(to);
    return giver == null || taker == null
        ? 0
        : Math.max(0, CounterItems.narrow(giver.gave(right, to).subtract(taker.got(right, from))));
  }

  /** Returns the value and its bounds, clamped to 64 bits. */
  Reading reading(Bounds bounds) {
    BigInteger value = BigInteger.ZERO;
    BigInteger up = BigInteger.ZERO;
    BigInteger down = BigInteger.ZERO;
    for (Frozen sums : frozen.values()) {
      value = value.add(sums.net());
    }
    for (RegionRows rows : after.values()) {
      RegionRows was = before(rows);
      value = value.add(rows.net());
      up = up.add(rows.up().subtract(was.up()));
      down = down.add(rows.down().subtract(was.down()));
    }
    for (RegionRows copy : copies.values()) {
      value = value.add(copy.net());
    }
    List<Uncertainty> uncertainties = unlimited();
    if (!uncertainties.isEmpty()) {
      return new Reading(CounterItems.narrow(value), Long.MIN_VALUE, Long.MAX_VALUE, uncertainties);
    }
    if (!silent().isEmpty()) {
      return unsure(bounds, value);
    }
    if (up.signum() == 0 && down.signum() == 0) {
      return CounterItems.reading(value);
    }
    return new Reading(
        CounterItems.narrow(value),
        CounterItems.narrow(value.subtract(up)), // positive adds since then may be missing
        CounterItems.narrow(value.add(down)),
        List.of(new Uncertainty(Uncertainty.Cause.MOVING, "", CounterItems.narrow(up.add(down)))));
  }

  /**
   * Returns uncertainties without limits: adds of retired regions that were never replicated, and
   * duplicate use of rights by a restored replica.
   */
  private List<Uncertainty> unlimited() {
    List<Uncertainty> uncertainties = new ArrayList<>();
    for (Retirement each : standing.retired()) {
      if (!each.isAccepted()) {
        uncertainties.add(
            new Uncertainty(Uncertainty.Cause.RETIRED_REGION, each.lost(), Long.MAX_VALUE));
      }
    }
    for (String region : standing.ended()) {
      uncertainties.add(new Uncertainty(Uncertainty.Cause.RESTORED_REGION, region, Long.MAX_VALUE));
    }
    return uncertainties;
  }

  private RegionRows before(RegionRows rows) {
    RegionRows was = before.get(rows.region());
    return was == null ? rows : was;
  }

  /**
   * Returns the reading with regions that do not respond: the distance of the counter from its
   * floor is the sum of all rights to lower it, and regions that do not respond cannot have used
   * those that the others hold; the same applies to the ceiling.
   */
  private Reading unsure(Bounds bounds, BigInteger value) {
    List<Uncertainty> uncertainties = new ArrayList<>();
    for (String region : silent()) {
      RegionRows copy = copies.get(region);
      long used =
          copy == null || bounds.floor() == Long.MIN_VALUE || bounds.ceiling() == Long.MAX_VALUE
              ? Long.MAX_VALUE
              : Math.max(copy.rights(Right.LOWER), copy.rights(Right.RAISE));
      uncertainties.add(new Uncertainty(Uncertainty.Cause.SILENT_REGION, region, used));
      uncertainties.addAll(underWay(region));
    }
    long low =
        Right.LOWER
            .atZero(bounds)
            .map(any -> CounterItems.narrow(certain(Right.LOWER).add(big(bounds.floor()))))
            .orElse(Long.MIN_VALUE);
    long high =
        Right.RAISE
            .atZero(bounds)
            .map(any -> CounterItems.narrow(big(bounds.ceiling()).subtract(certain(Right.RAISE))))
            .orElse(Long.MAX_VALUE);
    return low == high // regions that do not respond hold no usable rights
        ? Reading.exact(low)
        : new Reading(
            Math.clamp(CounterItems.narrow(value), Math.min(low, high), high),
            low,
            high,
            uncertainties);
  }

  private static BigInteger big(long number) {
    return BigInteger.valueOf(number);
  }

  private List<Uncertainty> underWay(String silent) {
    List<Uncertainty> uncertainties = new ArrayList<>();
    RegionRows taker = copies.get(silent);
    for (RegionRows giver : after.values()) {
      for (Right right : Right.values()) {
        long open =
            taker == null
                ? 0
                : CounterItems.narrow(
                    giver.gave(right, silent).subtract(taker.got(right, giver.region())));
        if (open > 0) {
          String where = giver.region() + " to " + silent;
          uncertainties.add(new Uncertainty(Uncertainty.Cause.OPEN_TRANSFER, where, open));
        }
      }
    }
    return uncertainties;
  }

  /**
   * Returns the rights that were certainly unused at a moment between the reads, by the regions
   * that answered.
   */
  private BigInteger certain(Right right) {
    BigInteger certain = BigInteger.ZERO;
    for (RegionRows rows : after.values()) {
      RegionRows was = before(rows);
      BigInteger used =
          right == Right.LOWER ? rows.down().subtract(was.down()) : rows.up().subtract(was.up());
      BigInteger given = rows.gave(right).subtract(was.gave(right));
      BigInteger left = big(was.rights(right)).subtract(used).subtract(given);
      certain = certain.add(left.max(BigInteger.ZERO));
      for (RegionRows other : after.values()) {
        BigInteger open = was.gave(right, other.region()).subtract(other.got(right, rows.region()));
        certain = certain.add(open.max(BigInteger.ZERO));
      }
    }
    return certain;
  }
}
