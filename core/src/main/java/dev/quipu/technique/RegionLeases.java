package dev.quipu.technique;

import dev.quipu.store.Change;
import dev.quipu.store.Condition;
import dev.quipu.store.Consistency;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.Scan;
import dev.quipu.store.Store;
import dev.quipu.store.StoreException;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Until when a region may count. All others confirm it, each in its own replica; a region that they
 * have not heard of stops by itself when the time is over, and only then may it be retired.
 * Thread-safe.
 *
 * <p>Stored in the replica of {@code PLACE}, and written there only: {@code regions}, {@code
 * lease/REGION@PLACE}: {@code until} in epoch milliseconds; {@code beat}, how often the region had
 * renewed by then; {@code heir}, once it is retired. In the region's own replica the beat alone: if
 * that is behind one that others know, the replica was set back to an old state.
 */
public final class RegionLeases {
  private static final String PARTITION = "regions";
  private static final String LEASE = "lease/";
  private static final String UNTIL = "until";
  private static final String BEAT = "beat";
  private static final String HEIR = "heir";

  private final Regions regions;
  private final Optional<Terms> terms;
  private volatile long actsUntilMillis;
  private volatile String ended = "";

  /**
   * For how long.
   *
   * @param lease how long a region may count that the others cannot confirm
   * @param slack the most by which clocks differ, and a request is under way
   */
  public record Terms(Duration lease, Duration slack) {
    /** A day, and half a minute. */
    public static final Terms DEFAULT = new Terms(Duration.ofDays(1), Duration.ofSeconds(30));

    /**
     * Checks the times.
     *
     * @throws IllegalArgumentException if a lease is over before it is confirmed
     */
    public Terms {
      if (slack.isNegative() || lease.compareTo(slack.multipliedBy(2)) <= 0) {
        throw new IllegalArgumentException(
            "the lease is %s and the slack %s; it must be more than twice that"
                .formatted(lease, slack));
      }
    }
  }

  private RegionLeases(Regions regions, Optional<Terms> terms) {
    this.regions = regions;
    this.terms = terms;
  }

  /** Regions that may always count, and are never retired. */
  public static RegionLeases none(Regions regions) {
    return new RegionLeases(regions, Optional.empty());
  }

  /** Regions that may count as long as all others confirm it. {@link #renew} gets the first. */
  public static RegionLeases of(Regions regions, Terms terms) {
    return new RegionLeases(regions, Optional.of(terms));
  }

  private static Key key(String region, String place) {
    return new Key(PARTITION, LEASE + region + "@" + place);
  }

  private long now() {
    return regions.here().clock().epochMillis();
  }

  /**
   * A region as the own one knows it.
   *
   * @param answers whether its replica does
   * @param confirmedUntil what the own replica confirmed to it; of the own region, what all others
   *     did that answer; empty if nothing
   * @param heir the region that took over what it had, if it is retired
   */
  public record Status(
      String region, boolean answers, Optional<Instant> confirmedUntil, Optional<String> heir) {}

  /** All regions, in order of name. */
  public List<Status> status() {
    return regions.names().stream().map(this::status).toList();
  }

  private Status status(String region) {
    boolean isOwn = region.equals(regions.own());
    boolean answers =
        regions
            .ask(region, () -> regions.replica(region).get(key(region, region), Consistency.STRONG))
            .isPresent();
    Optional<Item> lease = regions.here().get(key(region, regions.own()), Consistency.STRONG);
    OptionalLong until = isOwn ? confirmedToOwn() : confirmed(lease);
    return new Status(
        region,
        answers,
        until.isEmpty() ? Optional.empty() : Optional.of(Instant.ofEpochMilli(until.getAsLong())),
        lease.flatMap(item -> item.text(HEIR)));
  }

  private static OptionalLong confirmed(Optional<Item> lease) {
    return lease.isEmpty() ? OptionalLong.empty() : OptionalLong.of(number(lease, UNTIL));
  }

  private OptionalLong confirmedToOwn() {
    OptionalLong least = OptionalLong.empty();
    for (String place : regions.namesBut(regions.own())) {
      Key key = key(regions.own(), place);
      Optional<Item> lease =
          regions
              .ask(place, () -> regions.replica(place).get(key, Consistency.STRONG))
              .flatMap(found -> found);
      OptionalLong until = confirmed(lease);
      if (until.isPresent() && until.getAsLong() < least.orElse(Long.MAX_VALUE)) {
        least = until;
      }
    }
    return least;
  }

  /** The retired regions, each with its heir, as the own replica knows them. */
  SortedMap<String, String> retired() {
    SortedMap<String, String> retired = new TreeMap<>();
    if (terms.isPresent()) {
      String here = "@" + regions.own();
      regions
          .here()
          .scanAll(
              Scan.all(PARTITION),
              page -> {
                for (Item item : page) {
                  String sort = item.key().sort();
                  if (sort.startsWith(LEASE) && sort.endsWith(here)) {
                    String region = sort.substring(LEASE.length(), sort.length() - here.length());
                    item.text(HEIR).ifPresent(heir -> retired.put(region, heir));
                  }
                }
              });
    }
    return retired;
  }

  /** Whether {@link #requireMayActFor} lets it. */
  boolean mayActFor(String region) {
    try {
      requireMayActFor(region);
      return true;
    } catch (StoreException e) {
      if (e.outcome() == Outcome.UNKNOWN) {
        throw e;
      }
      return false;
    }
  }

  /**
   * Refuses to count in a region whose time is over.
   *
   * @throws StoreException if it is, saying why
   */
  void requireMayActFor(String region) {
    if (terms.isEmpty()) {
      return;
    }
    if (region.equals(regions.own())) {
      String why = ended;
      if (!why.isEmpty()) {
        throw StoreException.notApplied(Reason.DENIED, why);
      }
      if (now() >= actsUntilMillis) {
        throw StoreException.notApplied(
            Reason.UNAVAILABLE,
            "region %s may count again when all others have confirmed it".formatted(region));
      }
      return;
    }
    Optional<Item> lease = regions.here().get(key(region, regions.own()), Consistency.STRONG);
    long until = lease.map(item -> item.number(UNTIL)).orElse(0L);
    if (lease.flatMap(item -> item.text(HEIR)).isPresent()
        || now() >= until - terms.get().slack().toMillis()) {
      throw StoreException.notApplied(
          Reason.UNAVAILABLE,
          "the lease of region %s ran out at %s".formatted(region, Instant.ofEpochMilli(until)));
    }
  }

  /** As {@link #renew}, if it is time for it: half of the term is over, or it was not confirmed. */
  public boolean renewIfDue() {
    long left = actsUntilMillis - now();
    return terms.isEmpty() || left > terms.get().lease().toMillis() / 2 || renew();
  }

  /**
   * Asks all others to confirm the own region for another term.
   *
   * @return whether all did; those that were retired are not asked
   * @throws StoreException if the own replica does not answer, or the region's time is over for
   *     ever: it was retired, or its replica was set back
   */
  public boolean renew() {
    if (terms.isEmpty()) {
      return true;
    }
    if (!ended.isEmpty()) {
      throw StoreException.notApplied(Reason.DENIED, ended);
    }
    Map<String, Optional<Item>> known = new TreeMap<>();
    SortedMap<String, String> retired = retired();
    List<String> asked =
        regions.namesBut(regions.own()).stream()
            .filter(name -> !retired.containsKey(name))
            .toList();
    for (String place : asked) {
      Key key = key(regions.own(), place);
      regions
          .ask(place, () -> regions.replica(place).get(key, Consistency.STRONG))
          .ifPresent(found -> known.put(place, found));
    }
    long until = now() + terms.get().lease().toMillis();
    long beat = nextBeat(known);
    boolean all = known.size() == asked.size();
    for (Map.Entry<String, Optional<Item>> each : known.entrySet()) {
      String place = each.getKey();
      all &= regions.ask(place, () -> confirm(place, each.getValue(), until, beat)).orElse(false);
    }
    if (all) {
      actsUntilMillis = until - terms.get().slack().toMillis();
    }
    return all;
  }

  /**
   * Counts a renewal in the own replica, before others hear of it: so no other may know of more.
   */
  private long nextBeat(Map<String, Optional<Item>> known) {
    Store here = regions.here();
    Key key = key(regions.own(), regions.own());
    long beat = number(here.get(key, Consistency.STRONG), BEAT);
    for (Map.Entry<String, Optional<Item>> each : known.entrySet()) {
      if (each.getValue().flatMap(item -> item.text(HEIR)).isPresent()) {
        throw end(
            "region %s was retired; it may come back under another name".formatted(regions.own()));
      }
      long heard = number(each.getValue(), BEAT);
      if (heard > beat) {
        throw end(
            "the replica of region %s was set back: it renewed its lease %d times, and region %s"
                    .formatted(regions.own(), beat, each.getKey())
                + " knows of %d; it may come back under another name".formatted(heard));
      }
    }
    Write next = new Write.Update(key, List.of(new Change.Add(BEAT, 1)), Condition.always());
    UntilDefinite.result(here, "a beat", () -> here.write(next));
    return number(here.get(key, Consistency.STRONG), BEAT);
  }

  private static long number(Optional<Item> item, String field) {
    return item.map(found -> found.number(field)).orElse(0L);
  }

  /** Another region's confirmation, in its replica; whether it is stored. */
  private boolean confirm(String place, Optional<Item> found, long until, long beat) {
    Map<String, Field> fields = new HashMap<>();
    fields.put(UNTIL, new Field.Number(Math.max(until, number(found, UNTIL))));
    fields.put(BEAT, new Field.Number(beat));
    Write write =
        new Write.Put(
            key(regions.own(), place), fields, Optional.empty(), Condition.unchanged(found));
    return regions.replica(place).write(write) instanceof WriteResult.Applied;
  }

  private StoreException end(String why) {
    ended = why;
    return StoreException.notApplied(Reason.DENIED, why);
  }

  /**
   * Retires a region in the replicas of all others, the own region being its heir. Safe to repeat.
   *
   * @throws IllegalStateException if it must not be: it answers, its lease runs, another region is
   *     silent or the heir already
   */
  void retire(String region) {
    Terms agreed =
        terms.orElseThrow(() ->
            new IllegalStateException(
                "regions without leases are never retired: they may count at any time"));
    if (region.equals(regions.own())) {
      throw new IllegalStateException("a region does not retire itself");
    }
    boolean answers =
        regions
            .ask(region, () -> regions.replica(region).get(key(region, region), Consistency.STRONG))
            .isPresent();
    if (answers) {
      throw new IllegalStateException(
          "region %s answers: what it holds is given as ever".formatted(region));
    }
    SortedMap<String, String> retired = retired();
    for (String place : regions.namesBut(region)) {
      if (!retired.containsKey(place)) {
        boolean done = regions.ask(place, () -> retire(region, place, agreed)).orElse(false);
        if (!done) {
          throw new IllegalStateException(
              "region %s does not answer, so nobody knows how long region %s may count"
                  .formatted(place, region));
        }
      }
    }
  }

  private boolean retire(String region, String place, Terms agreed) {
    Store there = regions.replica(place);
    Key key = key(region, place);
    Optional<Item> found = there.get(key, Consistency.STRONG);
    Optional<String> heir = found.flatMap(item -> item.text(HEIR));
    if (heir.isPresent()) {
      if (!heir.get().equals(regions.own())) {
        throw new IllegalStateException(
            "the heir of region %s is %s".formatted(region, heir.get()));
      }
      return true;
    }
    long until = found.map(item -> item.number(UNTIL)).orElse(0L);
    if (now() <= until + agreed.slack().toMillis()) {
      throw new IllegalStateException(
          "the lease of region %s runs until %s, and it may count so long; with the slack of %s it"
                  .formatted(region, Instant.ofEpochMilli(until), agreed.slack())
              + " may be retired after that");
    }
    Map<String, Field> fields = new HashMap<>(found.map(Item::fields).orElse(Map.of()));
    fields.put(HEIR, new Field.Text(regions.own()));
    Write write = new Write.Put(key, fields, Optional.empty(), Condition.unchanged(found));
    return there.write(write) instanceof WriteResult.Applied;
  }
}
