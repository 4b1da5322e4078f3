package dev.quipu.region;

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
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Until when a region may count. All others confirm it, each in its own replica; a region that they
 * have not heard of stops by itself when the time is over, and only then may it be retired.
 * Thread-safe.
 *
 * <p>Each renewal is a beat, which is counted in the own replica first, and then in those of all
 * others. A replica that knows of fewer beats than another does, or of another one under the same
 * number, was restored from a backup: its region stops for ever, and no process counts that has not
 * checked this within {@link #BEATS_UNCHECKED} beats. What is counted between the restore and then,
 * and after a restore of a backup that is younger than the last beat, is beyond any guarantee.
 *
 * <p>Stored in the replica of {@code PLACE}, and written there only: {@code regions}, {@code
 * lease/REGION@PLACE}: {@code until} in epoch milliseconds; {@code beat}, how often the region had
 * renewed by then, and the {@code mark} of the last; {@code ended}, why it must not count any more;
 * {@code accepted}, that an operator stated that nothing of it is missing; what {@link
 * RegionRetirements} says. In the region's own replica {@code beat}; {@code marks} of the last;
 * {@code at}, when that was by its clock; {@code names} of all regions as it knows them.
 */
public final class RegionLeases {
  /** Number of beats within which a replica that was restored from a backup is noticed. */
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
   * For how long.
   *
   * @param lease how long a region may count that the others cannot confirm
   * @param slack the most by which the clocks of two regions differ; within it no region that has a
   *     lease is retired; beyond it one may be, if the clocks of most regions are wrong alike, and
   *     bounds may be broken by what it counts until it reads the records of the others again
   * @param beat how often a lease is renewed; a replica that was restored from a backup is noticed
   *     within {@link RegionLeases#BEATS_UNCHECKED} of them, if the backup is older than the last
   *     one
   */
  public record Terms(Duration lease, Duration slack, Duration beat) {
    /** A day, half a minute, ten seconds. */
    public static final Terms DEFAULT =
        new Terms(Duration.ofDays(1), Duration.ofSeconds(30), Duration.ofSeconds(10));

    /** Terms with a usual beat: ten seconds, or a quarter of a lease that is shorter than that. */
    public Terms(Duration lease, Duration slack) {
      this(lease, slack, least(Duration.ofSeconds(10), lease.dividedBy(4)));
    }

    /**
     * Checks the times.
     *
     * @throws IllegalArgumentException if a lease is over before it is confirmed or renewed
     */
    public Terms {
      if (slack.isNegative() || lease.compareTo(slack.multipliedBy(2)) <= 0) {
        throw new IllegalArgumentException(
            "the lease is %s and the slack %s; it must be more than twice that"
                .formatted(lease, slack));
      }
      if (beat.isNegative() || beat.compareTo(lease.dividedBy(2)) > 0) {
        throw new IllegalArgumentException(
            "the lease is %s and the beat %s; it must be at most half of that"
                .formatted(lease, beat));
      }
    }

    private static Duration least(Duration one, Duration other) {
      return one.compareTo(other) <= 0 ? one : other;
    }
  }

  private RegionLeases(Regions regions, Optional<Terms> terms, RandomGenerator random) {
    this.regions = regions;
    this.terms = terms;
    this.retirements = new RegionRetirements(regions, random);
    this.beats = new RegionHeartbeats(regions, random);
  }

  /** Regions that may always count, and are never retired. A restored replica is not noticed. */
  public static RegionLeases none(Regions regions) {
    return new RegionLeases(regions, Optional.empty(), Randomness.secure());
  }

  /** Regions that may count as long as all others confirm it. {@link #renew} gets the first. */
  public static RegionLeases of(Regions regions, Terms terms) {
    return of(regions, terms, Randomness.secure());
  }

  /** The same, with a source of randomness for votes. */
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
   * A region as the own one knows it.
   *
   * @param answers whether its replica does
   * @param confirmedUntil what the own replica confirmed to it; of the own region, what all others
   *     did that answer; empty if nothing
   * @param successor the region that took over its rights, if it is retired
   * @param ended why it must not count any more, if it is known to have been set back
   */
  public record Status(
      String region,
      boolean answers,
      Optional<Instant> confirmedUntil,
      Optional<String> successor,
      Optional<String> ended) {}

  /** Returns all regions, in order of name. */
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
   * What the own replica knows of the regions.
   *
   * @param retired in their order, without decisions that nobody is
   * @param ended not retired, but set back: what they say is not so
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

  /** Whether {@link #requireMayActFor} lets it. */
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
   * Rejects counting in a region whose time is over.
   *
   * @throws QuipuException if it is, saying why
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
            "region %s may count again when all others have confirmed it".formatted(region));
      }
      if (nanos() - checkedNanos >= terms.get().beat().multipliedBy(BEATS_UNCHECKED).toNanos()) {
        throw new NotAppliedException(
            Reason.UNAVAILABLE,
            "the replica of region %s was not checked for more than %d beats of %s"
                .formatted(region, BEATS_UNCHECKED, terms.get().beat()));
      }
      return;
    }
    Optional<Item> lease = RegionRecords.one(regions.here(), region, regions.own());
    long until = lease.map(item -> item.number(RegionRecords.UNTIL)).orElse(0L);
    if (lease.flatMap(item -> item.text(RegionRecords.ENDED)).isPresent()) {
      throw new NotAppliedException(
          Reason.UNAVAILABLE, "the replica of region %s was set back: retire it".formatted(region));
    }
    if (lease.flatMap(item -> item.text(RegionRecords.SUCCESSOR)).isPresent()
        || now() >= until - terms.get().slack().toMillis()) {
      throw new NotAppliedException(
          Reason.UNAVAILABLE,
          "the lease of region %s ran out at %s".formatted(region, Instant.ofEpochMilli(until)));
    }
  }

  /**
   * Checks after a write that the region was not retired meanwhile, in which case it was too late.
   *
   * @throws QuipuException with an unknown outcome if it may have been
   */
  void requireStillActsFor(String region) {
    try {
      requireMayActFor(region);
    } catch (QuipuException e) {
      throw new OutcomeUnknownException(
          Reason.UNAVAILABLE, "the write may have come too late: " + e.getMessage(), e);
    }
  }

  /** Whether there are leases. */
  boolean areKept() {
    return terms.isPresent();
  }

  /** The regions that are not retired, as far as the own replica knows. */
  List<String> living() {
    return terms.isEmpty() ? regions.names() : retirements.living(retirements.known());
  }

  /** From now on, no lease is confirmed before all regions agree on a plan. */
  void countBy(RegionPlan counted) {
    plan = counted;
  }

  /**
   * Makes sure that all regions agree on the plan, once in the life of a process.
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
   * Asks all others to confirm the own region for another term, and checks that no replica was set
   * back.
   *
   * @return whether all did; those that were retired are not asked
   * @throws QuipuException if the own replica does not answer, or another has another plan, or the
   *     region's time is over for ever: it was retired, or its replica was set back
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
    List<String> others = retirements.living(decided);
    if (!others.remove(regions.own())) {
      throw end(
          "region %s was retired; it may come back under another name".formatted(regions.own()));
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

  /** Somebody began to retire this region and it is alive: one or the other, but not neither. */
  private void resolve() {
    try {
      retirements.resolve();
    } catch (IllegalStateException e) {
      // too few regions answer: again at the next renewal
    }
  }

  /** Another region's confirmation, in its replica; whether it is stored. */
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
   * Retires a region, the own one being its successor, unless that is decided. Safe to repeat.
   *
   * @throws IllegalStateException if it must not be: it answers, its lease runs, or too few regions
   *     agree
   */
  void retire(String region, Set<String> destroyed) {
    Terms agreed =
        terms.orElseThrow(() ->
            new IllegalStateException(
                "regions without leases are never retired: they may count at any time"));
    if (region.equals(regions.own())) {
      throw new IllegalStateException("a region does not retire itself");
    }
    retirements.retire(region, destroyed, agreed.slack().toMillis());
  }

  /**
   * Returns all retirements, of which one must be that of a region.
   *
   * @throws IllegalStateException if none is
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

  /** Notes in all regions that are left that what is known of a retired one is all. */
  void accept(String region) {
    List<Retirement> decided = requireRetired(region);
    for (String place : retirements.living(decided)) {
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
   * Lets all regions that are left know of all retirements.
   *
   * @return those retirements
   * @throws QuipuException if one of the regions does not answer
   */
  List<Retirement> publish() {
    retirements.exchange();
    SortedMap<String, RegionRecords> seen = retirements.exchange();
    List<Retirement> decided = RegionRetirements.decided(seen);
    for (String place : retirements.living(decided)) {
      RegionRecords there = seen.get(place);
      if (there == null || there.decided().size() < decided.size()) {
        throw RegionRetirements.silent(place);
      }
    }
    return decided.stream().filter(each -> !each.lost().isEmpty()).toList();
  }
}
