package dev.quipu.testkit.scenario;

import dev.quipu.testkit.scenario.Planted.Returns;
import java.util.ArrayList;
import java.util.List;

/** Faults that scenarios must find. */
final class PlantedFaults {
  private static final String SHARDED = "shard.Sharded";
  private static final String RETIREMENT = "regions-retirement";
  private static final String PLAN = "shard.ShardPlan";

  private PlantedFaults() {}

  /** Returns the faults, by scenario. */
  static List<Planted> all() {
    List<Planted> all = new ArrayList<>(ViewScenarios.planted());
    all.addAll(shards());
    all.addAll(regions());
    all.addAll(holds());
    return all;
  }

  private static List<Planted> holds() {
    String hold = "transaction.Stored$Held";
    return List.of(
        new Planted("a hold is returned twice", "holds", hold, "unchanged", Returns.ALWAYS),
        new Planted("a released hold is settled", "holds", hold, "isOpen", Returns.TRUE),
        new Planted(
            "a hold whose process was killed never expires",
            "holds",
            "transaction.HoldIndex",
            "addExpiry",
            Returns.NONE),
        new Planted(
            "a repeated hold counts again",
            "holds",
            "transaction.Stored",
            "unused",
            Returns.ALWAYS),
        new Planted(
            "a transaction adds to values that have changed",
            "transfers",
            "transaction.StoredTransactions",
            "stillHas",
            Returns.ALWAYS));
  }

  private static List<Planted> regions() {
    return List.of(
        new Planted(
            "two regions may retire each other",
            RETIREMENT,
            "region.RegionRetirements",
            "isQuorum",
            Returns.TRUE),
        new Planted(
            "rights given to a retired region can be received", // the ceiling is passed
            RETIREMENT,
            "region.RegionTakeOver",
            "close",
            Returns.NONE),
        new Planted(
            "rights that a retired region must have used are given to another",
            RETIREMENT,
            "region.RegionTakeOver",
            "infer",
            Returns.NONE),
        new Planted(
            "the known records of a retired region are certain",
            RETIREMENT,
            "region.RegionRecords$Retirement",
            "isAccepted",
            Returns.TRUE),
        new Planted(
            "a region counts without a lease",
            RETIREMENT,
            "region.RegionLeases",
            "requireMayActFor",
            Returns.NONE),
        new Planted(
            "a sum unlists merged changes before they are deleted",
            "regions-collection",
            "region.RegionalCollection",
            "isCleared",
            Returns.TRUE),
        new Planted(
            "a replica that is reset is not detected",
            "regions-restore",
            "region.RegionHeartbeats",
            "whySetBack",
            Returns.EMPTY));
  }

  private static List<Planted> shards() {
    return List.of(
        new Planted(
            "the place of a request id depends on the plan",
            "growing-marker-item",
            SHARDED,
            "hasPlaces",
            Returns.NONE),
        new Planted(
            "a growth before the first add forgets cancellations",
            "take-over-marker-item",
            "shard.ShardPlans",
            "wasUsed",
            Returns.NONE),
        new Planted(
            "a rejection does not look for an earlier attempt",
            "growing-bounded-marker-item",
            SHARDED,
            "isNoted",
            Returns.NONE),
        new Planted(
            "no shard keeps to its share of the bounds",
            "sharded-bounded-marker-item",
            PLAN,
            "withinShare",
            Returns.ALWAYS),
        new Planted(
            "an add by an old plan is applied",
            "growing-bounded-marker-item",
            PLAN,
            "inEpoch",
            Returns.ALWAYS),
        new Planted(
            "a lost write is considered overtaken",
            "optimistic-with-history",
            "technique.Optimistic",
            "hasAllTagsSince",
            Returns.TRUE),
        new Planted(
            "a request does not recognize its record",
            "sequence-emulated",
            "sequence.Numbering$Attempt",
            "isOwn",
            Returns.NONE),
        new Planted(
            "the head of an entity lags behind its revision",
            "revisions",
            "sequence.RevisionLog",
            "advanceHead",
            Returns.NONE),
        new Planted(
            "a lease does not exclude other holders",
            "locks",
            "lock.Locks",
            "isHeld",
            Returns.NONE));
  }
}
