package dev.quipu.region;

import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.region.RegionRecords.Beat;
import dev.quipu.region.RegionRecords.Retirement;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The lease of each region, until which it may count. All other regions confirm it, each in its own
 * replica; a region that they cannot reach stops by itself when its lease ends, and only then may
 * it be retired. Thread-safe.
 *
 * <p>Each renewal is a beat, which is counted in the local replica first, and then in those of all
 * others. A replica that has fewer beats than another knows, or a different one under the same
 * number, was restored from a backup: its region stops permanently, and no process counts that has
 * not checked this within {@link #BEATS_UNCHECKED} beats. Adds between the restore and its
 * detection, and after a restore of a backup that is younger than the last beat, are beyond any
 * guarantee.
 *
 * <p>Stored in the replica of {@code PLACE}, and written only there: {@code regions}, {@code
 * lease/REGION@PLACE}: {@code until} in epoch milliseconds; {@code beat}, the number of renewals of
 * the region until then, and the {@code mark} of the last; {@code ended}, why it must no longer
 * count; {@code accepted}, that an operator stated that nothing of it is missing; the fields of
 * {@link RegionRetirements}. In the region's own replica {@code beat}; {@code marks} of the last;
 * {@code at}, its time by its clock; {@code names} of all regions as it knows them.
 */
public final class RegionLeases {
  /** Number of beats within which a replica that was restored from a backup is detected. */
  public static final int BEATS_UNCHECKED = 3;

  private final Regions regions;
  private final Optional<Terms> terms;
  private final RegionRetirements retirements;
  private final RegionHeartbeats beats;
  private volatile boolean isConfirmed;
  private volatile long actsUntilMillis;
  private volatile long actsUntilNanos;
  private volatile long beatNanos;
  private volatile long checkedNanos;
  private volatile String ended = "";
  private volatile @Nullable RegionPlan plan;
  private volatile boolean isAgreed;

  /**
   * The durations of leases.
   *
   * @param lease how long a region may count without confirmation by the others
   * @param slack the greatest difference between the clocks of two regions; within it no region
   *     that has a lease is retired; beyond it one may be, if the clocks of most regions are wrong
   *     in the same way, and bounds may be broken by its adds until it reads the records of the
   *     others again
   * @param beat the interval between renewals; a replica that was restored from a backup is
   *     detected within {@link RegionLeases#BEATS_UNCHECKED} of them, if the backup is older than
   *     the last one
   */
  public record Terms(Duration lease, Duration slack, Duration beat) {
    /** A day, half a minute, ten seconds. */
    public static final Terms DEFAULT =
        new Terms(Duration.ofDays(1), Duration.ofSeconds(30), Duration.ofSeconds(10));

    /** Creates terms with the default beat: ten seconds, or a quarter of a shorter lease. */
    public Terms(Duration lease, Duration slack) {
      this(lease, slack, Collections.min(List.of(Duration.ofSeconds(10), lease.dividedBy(4))));
    }

    /**
     * Checks the durations.
     *
     * @throws IllegalArgumentException if a lease would end before it is confirmed or renewed
     */
    public Terms {
      if (slack.isNegative() || lease.compareTo(slack.multipliedBy(2)) <= 0) {
        throw new IllegalArgumentException(
            "lease is %s and slack is %s; the lease must be more than twice the slack"
                .formatted(Limits.text(lease), Limits.text(slack)));
      }
      if (beat.isNegative() || beat.compareTo(lease.dividedBy(2)) > 0) {
        throw new IllegalArgumentException(
            "lease is %s and beat is %s; the beat must be at most half of the lease"
                .formatted(Limits.text(lease), Limits.text(beat)));
      }
    }
  }

  private RegionLeases(Regions regions, Optional<Terms> terms, RandomGenerator random) {
    this.regions = regions;
    this.terms = terms;
    this.retirements = new RegionRetirements(regions, random);
    this.beats = new RegionHeartbeats(regions, random);
  }

  /**
   * Returns no leases: regions may always count, and are never retired. A restored replica is not
   * detected.
   */
  public static RegionLeases none(Regions regions) {
    return new RegionLeases(regions, Optional.empty(), Randomness.secure());
  }

  /** Returns leases that all other regions confirm. {@link #renew} obtains the first. */
  public static RegionLeases of(Regions regions, Terms terms) {
    return of(regions, terms, Randomness.secure());
  }

  /** Returns leases with a source of randomness for votes. */
  public static RegionLeases of(Regions regions, Terms terms, RandomGenerator random) {
    return new RegionLeases(regions, Optional.of(terms), random);
  }

  private long now() {
    return regions.here().clock().epochMillis();
  }

  private long nanos() {
    return regions.here().clock().nanoTime();
  }

  /**
   * A region as the local region knows it.
   *
   * @param answers whether its replica answers
   * @param confirmedUntil the end of the lease that the local replica confirmed; for the local
   *     region, that all others that answer confirmed; empty if none
   * @param successor the region that took over its rights, if it is retired
   * @param ended why it must no longer count, if its replica is known to be restored from a backup
   */
  public record Status(
      String region,
      boolean answers,
      Optional<Instant> confirmedUntil,
      Optional<String> successor,
      Optional<String> ended) {}

  /** Returns all regions, ordered by name. */
  public List<Status> status() {
    SortedMap<String, RegionRecords> seen = retirements.exchange();
    List<Retirement> decided = RegionRetirements.decided(seen);
    List<Status> all = new ArrayList<>();
    for (String region : regions.names()) {
      OptionalLong until = OptionalLong.empty();
      for (RegionRecords place : seen.values()) {
        boolean counts =
            region.equals(regions.own())
                ? !place.place().equals(region)
                : place.place().equals(regions.own());
        long one = place.lease(region).map(item -> item.number(RegionRecords.UNTIL)).orElse(0L);
        if (counts && one > 0 && one < until.orElse(Long.MAX_VALUE)) {
          until = OptionalLong.of(one);
        }
      }
      all.add(
          new Status(
              region,
              seen.containsKey(region),
              until.stream().mapToObj(Instant::ofEpochMilli).findAny(),
              decided.stream()
                  .filter(each -> each.lost().equals(region))
                  .map(Retirement::successor)
                  .findAny(),
              seen.values().stream().flatMap(each -> each.ended(region).stream()).findAny()));
    }
    return all;
  }

  /**
   * What the local replica knows about the regions.
   *
   * @param retired in their order, without decisions that no region is
   * @param ended not retired, but restored from a backup: their records are not reliable
   */
  record Standing(List<Retirement> retired, Set<String> ended) {
    Set<String> lost() {
      Set<String> lost = new TreeSet<>();
      retired.forEach(each -> lost.add(each.lost()));
      return lost;
    }
  }

  Standing standing() {
    if (terms.isEmpty()) {
      return new Standing(List.of(), Set.of());
    }
    RegionRecords here = RegionRecords.read(regions.here(), regions.own());
    List<Retirement> retired =
        here.decided().stream().filter(each -> !each.lost().isEmpty()).toList();
    Set<String> set = new TreeSet<>();
    for (String region : regions.names()) {
      if (here.ended(region).isPresent()) {
        set.add(region);
      }
    }
    if (!ended.isEmpty()) {
      set.add(regions.own());
    }
    retired.forEach(each -> set.remove(each.lost()));
    return new Standing(retired, set);
  }

  /** Returns whether {@link #requireMayActFor} passes. */
  boolean mayActFor(String region) {
    try {
      requireMayActFor(region);
      return true;
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.UNKNOWN) {
        throw e;
      }
      return false;
    }
  }

  /**
   * Throws if a region must not count now.
   *
   * @throws QuipuException if it must not, with the reason
   */
  void requireMayActFor(String region) {
    if (terms.isEmpty()) {
      return;
    }
    if (region.equals(regions.own())) {
      String why = ended;
      if (!why.isEmpty()) {
        throw new NotAppliedException(Reason.DENIED, why);
      }
      if (now() >= actsUntilMillis || nanos() - actsUntilNanos >= 0) {
        throw new NotAppliedException(
            Reason.UNAVAILABLE,
            "region %s may count again when all other regions have confirmed its lease"
                .formatted(region));
      }
      if (nanos() - checkedNanos >= terms.get().beat().multipliedBy(BEATS_UNCHECKED).toNanos()) {
        throw new NotAppliedException(
            Reason.UNAVAILABLE,
            "replica of region %s was not checked for more than %d beats of %s"
                .formatted(region, BEATS_UNCHECKED, Limits.text(terms.get().beat())));
      }
      return;
    }
    Optional<Item> lease = RegionRecords.one(regions.here(), region, regions.own());
    long until = lease.map(item -> item.number(RegionRecords.UNTIL)).orElse(0L);
    if (lease.flatMap(item -> item.text(RegionRecords.ENDED)).isPresent()) {
      throw new NotAppliedException(
          Reason.UNAVAILABLE,
          "replica of region %s was restored from a backup: retire the region".formatted(region));
    }
    if (lease.flatMap(item -> item.text(RegionRecords.SUCCESSOR)).isPresent()
        || now() >= until - terms.get().slack().toMillis()) {
      throw new NotAppliedException(
          Reason.UNAVAILABLE,
          "lease of region %s expired at %s".formatted(region, Instant.ofEpochMilli(until)));
    }
  }

  /**
   * Checks after a write that the region was not retired in the meantime, in which case the write
   * was too late.
   *
   * @throws QuipuException with an unknown outcome if it may have been
   */
  void requireStillActsFor(String region) {
    try {
      requireMayActFor(region);
    } catch (QuipuException e) {
      throw new OutcomeUnknownException(
          Reason.UNAVAILABLE, "write may have been too late: " + e.getMessage(), e);
    }
  }

  /** Returns whether regions have leases. */
  boolean areKept() {
    return terms.isPresent();
  }

  /** Returns the regions that are not retired, as far as the local replica knows. */
  List<String> living() {
    return terms.isEmpty() ? regions.names() : regions.living(retirements.known());
  }

  /** Requires from now on that all regions agree on a plan before a lease is confirmed. */
  void countBy(RegionPlan counted) {
    plan = counted;
  }

  /**
   * Ensures that all regions agree on the plan, once per process.
   *
   * @throws QuipuException see {@link RegionPlan#requireAgreed}
   */
  void requireAgreed() {
    RegionPlan counted = plan;
    if (counted != null && !isAgreed) {
      counted.requireAgreed(regions, this);
      isAgreed = true;
    }
  }

  /** Renews as {@link #renew} does if a beat is due, or the last one was not confirmed. */
  public boolean renewIfDue() {
    return terms.isEmpty()
        || (isConfirmed && nanos() - beatNanos < terms.get().beat().toNanos())
        || renew();
  }

  /**
   * Renews the lease of the local region in all other replicas, and checks that no replica was
   * restored from a backup.
   *
   * @return whether all confirmed it, except for retired regions
   * @throws QuipuException if the local replica does not respond, or another region has a different
   *     plan, or the local region must not count any more: it was retired, or its replica was
   *     restored from a backup
   */
  public boolean renew() {
    if (terms.isEmpty()) {
      return true;
    }
    if (!ended.isEmpty()) {
      throw new NotAppliedException(Reason.DENIED, ended);
    }
    isConfirmed = false;
    long start = nanos();
    RegionRecords knownHere = RegionRecords.read(regions.here(), regions.own());
    SortedMap<String, RegionRecords> seen = retirements.exchange();
    List<Retirement> decided = RegionRetirements.decided(seen);
    List<String> others = regions.living(decided);
    if (!others.remove(regions.own())) {
      throw end("region %s was retired; it may return under another name".formatted(regions.own()));
    }
    others.forEach(each -> beats.noticeSetBack(each, knownHere, seen));
    long until = now() + terms.get().lease().toMillis();
    Beat beat = beats.next(seen, this::end);
    checkedNanos = start;
    boolean all = agrees();
    for (String place : others) {
      RegionRecords there = seen.get(place);
      all &=
          there != null
              && !there.isBlocked(regions.own(), decided)
              && regions
                  .ask(place, () -> confirm(place, there.lease(regions.own()), until, beat))
                  .orElse(false);
    }
    if (seen.values().stream().anyMatch(each -> each.isBlocked(regions.own(), decided))) {
      resolve();
    }
    if (all) {
      actsUntilMillis = until - terms.get().slack().toMillis();
      actsUntilNanos = start + terms.get().lease().minus(terms.get().slack()).toNanos();
    }
    beatNanos = start;
    isConfirmed = all;
    return all;
  }

  private boolean agrees() {
    try {
      requireAgreed();
      return true;
    } catch (QuipuException e) {
      if (e.reason().isTemporary()) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Resolves a retirement of this region that was begun while it is alive: it is decided or
   * dismissed.
   */
  private void resolve() {
    try {
      retirements.resolve();
    } catch (IllegalStateException e) {
      // too few regions answer: retry at the next renewal
    }
  }

  /** Stores another region's confirmation in its replica; returns whether it is stored. */
  private boolean confirm(String place, Optional<Item> found, long until, Beat beat) {
    long before = found.map(item -> item.number(RegionRecords.UNTIL)).orElse(0L);
    Beat known = Beat.of(found);
    Beat last = known.number() < beat.number() ? beat : known;
    Write write =
        new Write.Update(
            RegionRecords.lease(regions.own(), place),
            List.of(
                new Change.Put(RegionRecords.UNTIL, new Field.Number(Math.max(until, before))),
                new Change.Put(RegionRecords.BEAT, new Field.Number(last.number())),
                new Change.Put(RegionRecords.MARK, new Field.Text(last.mark()))),
            Condition.unchanged(found));
    return regions.replica(place).write(write) instanceof WriteResult.Applied;
  }

  private QuipuException end(String why) {
    ended = why;
    return new NotAppliedException(Reason.DENIED, why);
  }

  /**
   * Retires a region, with the local region as its successor, unless that is already decided.
   * Idempotent.
   *
   * @throws IllegalStateException if it must not be retired: it answers, its lease has not ended,
   *     or too few regions agree
   */
  void retire(String region, Set<String> destroyed) {
    Terms agreed =
        terms.orElseThrow(() ->
            new IllegalStateException(
                "regions without leases cannot be retired: they may count at any time"));
    if (region.equals(regions.own())) {
      throw new IllegalStateException("a region cannot retire itself");
    }
    retirements.retire(region, destroyed, agreed.slack().toMillis());
  }

  /**
   * Returns all retirements, after checking that a region is retired.
   *
   * @throws IllegalStateException if it is not
   */
  List<Retirement> requireRetired(String region) {
    List<Retirement> decided = RegionRetirements.decided(retirements.exchange());
    List<String> lost =
        decided.stream().map(Retirement::lost).filter(name -> !name.isEmpty()).toList();
    if (!lost.contains(region)) {
      throw new IllegalStateException(
          "region %s is not retired; retired regions: %s"
              .formatted(region, lost.isEmpty() ? "none" : String.join(", ", lost)));
    }
    return decided;
  }

  /** Notes in all remaining regions that the known records of a retired one are complete. */
  void accept(String region) {
    List<Retirement> decided = requireRetired(region);
    for (String place : regions.living(decided)) {
      Write accepted =
          new Write.Update(
              RegionRecords.lease(region, place),
              List.of(new Change.Put(RegionRecords.ACCEPTED, new Field.Number(1))),
              Condition.always());
      var unused =
          regions
              .ask(place, () -> regions.replica(place).write(accepted))
              .orElseThrow(() -> RegionRetirements.silent(place));
    }
  }

  /**
   * Distributes all retirements to all remaining regions.
   *
   * @return those retirements
   * @throws QuipuException if one of the regions does not respond
   */
  List<Retirement> publish() {
    retirements.exchange();
    SortedMap<String, RegionRecords> seen = retirements.exchange();
    List<Retirement> decided = RegionRetirements.decided(seen);
    for (String place : regions.living(decided)) {
      RegionRecords there = seen.get(place);
      if (there == null || there.decided().size() < decided.size()) {
        throw RegionRetirements.silent(place);
      }
    }
    return decided.stream().filter(each -> !each.lost().isEmpty()).toList();
  }
}
