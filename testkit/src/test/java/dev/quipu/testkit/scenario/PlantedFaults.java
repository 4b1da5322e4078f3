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
    return all;
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
            "what is given to a retired region can be taken", // the ceiling is passed
            RETIREMENT,
            "region.RegionTakeOver",
            "close",
            Returns.NONE),
        new Planted(
            "what a retired region must have used is given to another",
            RETIREMENT,
            "region.RegionTakeOver",
            "infer",
            Returns.NONE),
        new Planted(
            "what is known of a retired region is certain",
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
            "what a sum names as merged is named no more before it is gone",
            "regions-collection",
            "region.RegionalCollection",
            "isCleared",
            Returns.TRUE),
        new Planted(
            "a replica that is set back is not noticed",
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
            "a lost write is taken for one that was overtaken",
            "optimistic-with-history",
            "technique.Optimistic",
            "tellsAllSince",
            Returns.TRUE),
        new Planted(
            "a request does not recognise its record",
            "sequence-emulated",
            "sequence.Numbering$Attempt",
            "isOwn",
            Returns.NONE),
        new Planted(
            "the head of an entity stays behind its revision",
            "revisions",
            "sequence.RevisionLog",
            "advanceHead",
            Returns.NONE),
        new Planted("a lease keeps nobody away", "locks", "lock.Locks", "isHeld", Returns.NONE));
  }
}
