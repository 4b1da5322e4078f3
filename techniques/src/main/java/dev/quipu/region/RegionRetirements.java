package dev.quipu.region;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionRecords.Retirement;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * Decides which regions are retired, one after the other, and who their successors are: each
 * decision is an instance of Paxos whose acceptors are the replicas of the remaining regions. All
 * regions agree on each decision, whichever processes die, and a retired region cannot retire
 * another. Thread-safe.
 *
 * <p>Stored in the replica of {@code PLACE}, and written only there: {@code regions}, {@code
 * retirement/NUMBER@PLACE}: {@code promised}, the highest ballot that was seen; {@code ballot},
 * {@code lost} and {@code successor}, the accepted proposal; {@code decided}, once it is decided.
 * In {@code lease/REGION@PLACE}: {@code blocked-NUMBER}, that this retirement was voted for, which
 * ends renewals; {@code successor}, once decided.
 */
final class RegionRetirements {
  private static final int ATTEMPTS_MAX = 20;
  private static final int ROUNDS_MAX = 2 * Regions.REGIONS_MAX + 1;
  private static final long NO_TIME = -1;
  private static final int ROUND_LENGTH = 19;
  private static final String PROMISED = "promised";
  private static final String BALLOT = "ballot";

  private final Regions regions;
  private final RandomGenerator random;

  /** A proposal; of no region, to complete a proposal that was interrupted. */
  private record Proposal(String lost, String successor) {}

  RegionRetirements(Regions regions, RandomGenerator random) {
    this.regions = regions;
    this.random = random;
  }

  /** Returns the retirements that the local replica knows. */
  List<Retirement> known() {
    return RegionRecords.read(regions.here(), regions.own()).decided();
  }

  /**
   * Reads the records of all remaining regions, and copies to each the records that only others
   * know. Regions that do not respond are missing from the result.
   */
  SortedMap<String, RegionRecords> exchange() {
    SortedMap<String, RegionRecords> seen = new TreeMap<>();
    for (String place : regions.names()) {
      regions
          .ask(place, () -> RegionRecords.read(regions.replica(place), place))
          .ifPresent(records -> seen.put(place, records));
    }
    List<Retirement> decided = decided(seen);
    for (Retirement each : decided) {
      for (RegionRecords records : List.copyOf(seen.values())) {
        String place = records.place();
        boolean isKnown = records.decided().contains(each);
        if (!isKnown && !place.equals(each.lost())) {
          regions.ask(place, () -> publish(place, each));
        }
      }
    }
    return seen;
  }

  /** Returns all decisions that any of the regions knows, in their order. */
  static List<Retirement> decided(Map<String, RegionRecords> seen) {
    SortedMap<Integer, Retirement> decided = new TreeMap<>();
    seen.values()
        .forEach(records ->
            records
                .decided()
                .forEach(
                    each -> decided.merge(each.number(), each, (a, b) -> a.isAccepted() ? a : b)));
    return List.copyOf(decided.values());
  }

  private WriteResult publish(String place, Retirement decision) {
    Store there = regions.replica(place);
    List<Write> batch = new ArrayList<>();
    batch.add(
        new Write.Update(
            RegionRecords.vote(decision.number(), place),
            List.of(
                text(RegionRecords.LOST, decision.lost()),
                text(RegionRecords.SUCCESSOR, decision.successor()),
                new Change.Put(RegionRecords.DECIDED, new Field.Number(1))),
            Condition.always()));
    if (!decision.lost().isEmpty()) {
      List<Change> changes = new ArrayList<>();
      changes.add(text(RegionRecords.SUCCESSOR, decision.successor()));
      if (decision.isAccepted()) {
        changes.add(new Change.Put(RegionRecords.ACCEPTED, new Field.Number(1)));
      }
      batch.add(
          new Write.Update(
              RegionRecords.lease(decision.lost(), place), changes, Condition.always()));
    }
    return there.writeAll(batch, null);
  }

  private static Change text(String field, String value) {
    return new Change.Put(field, new Field.Text(value));
  }

  /**
   * Retires a region, with the local region as its successor, unless that is already decided.
   * Idempotent.
   *
   * @param destroyed regions whose replicas are permanently lost according to an operator: they are
   *     not counted as voters
   * @param slackMillis the greatest clock difference
   * @throws IllegalStateException if the region must not be retired, or too few regions agree
   */
  void retire(String lost, Set<String> destroyed, long slackMillis) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      SortedMap<String, RegionRecords> seen = exchange();
      List<Retirement> decided = decided(seen);
      if (decided.stream().anyMatch(each -> each.lost().equals(lost))) {
        exchange(); // so that all regions that answer know it
        return;
      }
      if (decided.stream().anyMatch(each -> each.lost().equals(regions.own()))) {
        throw new IllegalStateException("region %s was retired".formatted(regions.own()));
      }
      boolean isSetBack = seen.values().stream().anyMatch(each -> each.ended(lost).isPresent());
      if (seen.containsKey(lost) && !isSetBack) {
        throw new IllegalStateException(
            "region %s is alive; only a region that does not respond can be retired"
                .formatted(lost));
      }
      int number = next(decided);
      List<String> voters = regions.living(decided.subList(0, number - 1));
      voters.removeAll(destroyed);
      Proposal own = new Proposal(lost, regions.own());
      long until = checkTime(lost, seen, voters, slackMillis);
      decide(number, own, until, voters, seen);
    }
    throw new IllegalStateException(
        "gave up after %d attempts: contention on the retirement of region %s"
            .formatted(ROUNDS_MAX, lost));
  }

  /**
   * Returns the lowest number whose decision is unknown. Later ones may be known already, and this
   * one only to regions that do not respond: it may be the retirement of the local region.
   */
  private static int next(List<Retirement> decided) {
    int number = 1;
    while (number <= decided.size() && decided.get(number - 1).number() == number) {
      number++;
    }
    return number;
  }

  /**
   * Completes a retirement that was interrupted, or decides that there is none under its number.
   */
  void resolve() {
    SortedMap<String, RegionRecords> seen = exchange();
    List<Retirement> decided = decided(seen);
    int number = next(decided);
    List<String> voters = regions.living(decided.subList(0, number - 1));
    decide(number, new Proposal("", ""), 0, voters, seen);
  }

  /**
   * Checks that the lease that the local region last confirmed has ended, by the clocks of a
   * quorum: the lost region counts only while all have confirmed it, and the local region will not
   * confirm it again.
   */
  private long checkTime(
      String lost, Map<String, RegionRecords> seen, List<String> voters, long slackMillis) {
    RegionRecords here = seen.get(regions.own());
    long until =
        here == null
            ? 0
            : here.lease(lost).map(item -> item.number(RegionRecords.UNTIL)).orElse(0L);
    Set<String> agree = new HashSet<>();
    StringBuilder clocks = new StringBuilder();
    for (String voter : voters) {
      RegionRecords records = seen.get(voter);
      boolean isOwn = voter.equals(regions.own());
      if (records == null || voter.equals(lost)) {
        continue;
      }
      long at = isOwn ? regions.here().clock().epochMillis() : records.at();
      if (at > until + slackMillis) {
        agree.add(voter);
      } else if (isOwn) {
        agree.clear();
        clocks.append(" by the clock here");
        break;
      } else {
        clocks.append(", in %s it was %s at the last beat".formatted(voter, time(at)));
      }
    }
    if (!isQuorum(agree, voters)) {
      throw new IllegalStateException(
          "lease of region %s ends at %s, and it may count until then; it may be"
                  .formatted(lost, time(until))
              + " retired %d ms later by the clocks of a majority of regions%s"
                  .formatted(slackMillis, clocks)
              + silent(seen, voters));
    }
    return until;
  }

  private static String time(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }

  private static String silent(Map<String, RegionRecords> seen, List<String> voters) {
    List<String> silent = voters.stream().filter(name -> !seen.containsKey(name)).toList();
    return silent.isEmpty() ? "" : "; not answering: " + silent;
  }

  /**
   * Returns whether votes are a majority; of an even number, also a half that includes the first
   * region.
   */
  static boolean isQuorum(Set<String> votes, List<String> voters) {
    int twice = 2 * votes.size();
    return twice > voters.size()
        || (twice == voters.size() && !voters.isEmpty() && votes.contains(voters.getFirst()));
  }

  private void decide(
      int number,
      Proposal own,
      long untilMillis,
      List<String> voters,
      Map<String, RegionRecords> seen) {
    List<String> able = voters.stream().filter(place -> mayVote(place, seen)).toList();
    long round = 1;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      if (attempt > 0) {
        Backoff.pause(regions.here().clock(), random, attempt);
      }
      String ballot = "%019d/%s".formatted(round, RequestId.random(random).text());
      SortedMap<String, Item> promises = new TreeMap<>();
      Proposal proposal = own;
      String highest = "";
      for (String place : able) {
        Optional<Optional<Item>> asked = regions.ask(place, () -> promise(place, number, ballot));
        Optional<Item> promise = asked.flatMap(each -> each);
        if (promise.isEmpty()) {
          continue;
        }
        Item vote = promise.get();
        if (vote.number(RegionRecords.DECIDED) != 0) {
          exchange();
          return;
        }
        if (!vote.text(PROMISED).orElse("").equals(ballot)) {
          round = Math.max(round, round(vote.text(PROMISED).orElse("")));
          continue;
        }
        promises.put(place, vote);
        String earlier = vote.text(BALLOT).orElse(""); // of the proposal that it voted for
        if (earlier.compareTo(highest) > 0) {
          highest = earlier;
          proposal =
              new Proposal(
                  vote.text(RegionRecords.LOST).orElse(""),
                  vote.text(RegionRecords.SUCCESSOR).orElse(""));
        }
      }
      round++;
      if (isQuorum(promises.keySet(), voters)
          && isAccepted(
              number,
              ballot,
              proposal,
              proposal.equals(own) ? untilMillis : NO_TIME,
              promises,
              voters)) {
        Retirement decision = new Retirement(number, proposal.lost, proposal.successor, false);
        for (String place : regions.names()) {
          if (!place.equals(proposal.lost)) {
            regions.ask(place, () -> publish(place, decision));
          }
        }
        return;
      }
    }
    throw new IllegalStateException(
        "retirement %d needs a majority of %s; able to vote: %s".formatted(number, voters, able)
            + silent(seen, voters));
  }

  private static long round(String ballot) {
    return ballot.length() < ROUND_LENGTH ? 0 : Long.parseLong(ballot, 0, ROUND_LENGTH, 10);
  }

  /**
   * Returns whether a place may vote: a replica that was restored from a backup may have lost a
   * vote.
   */
  private boolean mayVote(String place, Map<String, RegionRecords> seen) {
    RegionRecords records = seen.get(place);
    if (records == null) {
      return false;
    }
    Optional<Item> own = records.lease(place);
    boolean isIntact =
        seen.values().stream()
            .allMatch(each ->
                each.ended(place).isEmpty() && !RegionHeartbeats.lacks(own, each.beat(place)));
    Optional<String> names = own.flatMap(item -> item.text(RegionRecords.NAMES));
    if (names.isPresent() && !names.get().equals(String.join(",", regions.names()))) {
      throw new IllegalStateException(
          "topology of region %s is %s, and of this process %s; make them equal first"
              .formatted(place, names.get(), String.join(",", regions.names())));
    }
    return isIntact;
  }

  /**
   * Asks for a promise; empty if another writer won; the promise has a higher ballot if there is
   * one.
   */
  private Optional<Item> promise(String place, int number, String ballot) {
    Store there = regions.replica(place);
    Optional<Item> found = there.get(RegionRecords.vote(number, place));
    if (found.isPresent()
        && (found.get().number(RegionRecords.DECIDED) != 0
            || found.get().text(PROMISED).orElse("").compareTo(ballot) >= 0)) {
      return found;
    }
    Write write =
        new Write.Update(
            RegionRecords.vote(number, place),
            List.of(text(PROMISED, ballot)),
            Condition.unchanged(found));
    return there.write(write) instanceof WriteResult.Applied applied
        ? applied.after()
        : Optional.empty();
  }

  /** Collects votes of a quorum; the local place first, whose vote ends the lease. */
  private boolean isAccepted(
      int number,
      String ballot,
      Proposal proposal,
      long untilMillis,
      Map<String, Item> promises,
      List<String> voters) {
    List<String> order = new ArrayList<>(promises.keySet());
    if (order.remove(regions.own())) {
      order.addFirst(regions.own());
    }
    Set<String> votes = new HashSet<>();
    for (String place : order) {
      Item promise = Objects.requireNonNull(promises.get(place));
      boolean isOwn = place.equals(regions.own());
      boolean isVoted =
          regions
              .ask(
                  place,
                  () ->
                      vote(place, number, ballot, proposal, isOwn ? untilMillis : NO_TIME, promise))
              .orElse(false);
      if (isVoted) {
        votes.add(place);
      } else if (isOwn) {
        return false;
      }
    }
    return isQuorum(votes, voters);
  }

  private boolean vote(
      String place, int number, String ballot, Proposal proposal, long untilMillis, Item promise) {
    Store there = regions.replica(place);
    List<Write> batch = new ArrayList<>();
    batch.add(
        new Write.Update(
            RegionRecords.vote(number, place),
            List.of(
                text(BALLOT, ballot),
                text(RegionRecords.LOST, proposal.lost),
                text(RegionRecords.SUCCESSOR, proposal.successor)),
            new Condition.VersionIs(promise.version())));
    if (!proposal.lost.isEmpty() && !proposal.lost.equals(place)) {
      batch.add(
          new Write.Update(
              RegionRecords.lease(proposal.lost, place),
              List.of(new Change.Put(RegionRecords.BLOCKED + number, new Field.Number(1))),
              untilMillis == NO_TIME
                  ? Condition.always()
                  : new Condition.Within(RegionRecords.UNTIL, untilMillis, untilMillis)));
    }
    return there.writeAll(batch, null) instanceof WriteResult.Applied;
  }

  /** Returns the exception for a region that must answer but does not. */
  static QuipuException silent(String region) {
    return new NotAppliedException(
        Reason.UNAVAILABLE, "region %s does not respond".formatted(region));
  }
}
