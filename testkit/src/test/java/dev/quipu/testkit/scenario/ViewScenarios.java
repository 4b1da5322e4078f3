package dev.quipu.testkit.scenario;

import dev.quipu.presence.OnlineExact;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.Window;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.testkit.scenario.Planted.Returns;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Scenarios of views, hits, displays, presence and unique values, within their assumptions. */
final class ViewScenarios {
  private static final Duration SKEW = Duration.ofSeconds(20);
  private static final LinkFaults ANY = LinkFaults.ALL;
  private static final LinkFaults BRIEF = ANY.within(Duration.ofMinutes(1), Duration.ofMinutes(1));
  private static final double REPEATED = 0.01;
  private static final LinkFaults MANY = // plus the number of calls that must fail together
      new LinkFaults(
          0.02,
          0.02,
          0.05,
          0.04,
          REPEATED,
          0.01,
          0.01,
          Duration.ofMinutes(1),
          Duration.ofMinutes(1),
          3);
  private static final Window RING = new Window(Duration.ofMinutes(3), Duration.ofMinutes(1));

  private ViewScenarios() {}

  /** Adds the scenarios; replaces those of a technique with default options. */
  static void addTo(Map<String, Scenarios.Scenario> all) {
    LinkFaults repeated = ANY.repeating(REPEATED);
    LinkFaults brief = BRIEF.repeating(REPEATED);
    Duration hour = Duration.ofHours(1);
    all.put("views", seed -> new ViewsRun(seed, Optional.empty(), repeated, hour).run());
    all.put(
        "views-expiring",
        seed -> new ViewsRun(seed, Optional.of(ViewsRun.KEEP), brief, SKEW).run());
    all.put("hit-log", seed -> new HitLogRun(seed, MANY, SKEW).run());
    all.put("version-tree", seed -> new VersionTreeRun(seed, MANY, SKEW).run());
    all.put(
        "online-exact",
        seed ->
            new OnlineRun(
                    seed,
                    repeated,
                    SKEW,
                    Duration.ofMinutes(5),
                    (store, random) -> new OnlineExact(store, Duration.ofMinutes(5)))
                .run());
    all.put(
        "online-ring",
        seed ->
            new OnlineRun(
                    seed,
                    ANY,
                    SKEW.dividedBy(2),
                    RING.length(),
                    (store, random) -> new OnlineRing(store, RING, random))
                .run());
    all.put("cache-first", seed -> new DisplayRun(seed, true, repeated, SKEW).run());
    all.put("durable-first", seed -> new DisplayRun(seed, false, ANY, SKEW).run());
    all.put("unique-values", seed -> new UniqueValuesRun(seed, ANY, hour).run());
  }

  /** Returns the faults that these scenarios must find. */
  static List<Planted> planted() {
    return List.of(
        new Planted(
            "an expired marker that is removed meanwhile counts as existing",
            "views-expiring",
            "layer.ExpiryLayer",
            "holdsAnew",
            Returns.NONE),
        new Planted(
            "a view's own marker is not recognized after a lost reply",
            "views",
            "view.ViewCounter",
            "isOwn",
            Returns.NONE),
        new Planted(
            "a replay is returned without the required repair",
            "hit-log",
            "hits.HitWrites",
            "repairForOther",
            Returns.NONE),
        new Planted(
            "a late hit is not repaired",
            "hit-log",
            "hits.HitWrites",
            "repairIfLate",
            Returns.NONE),
        new Planted("a late hit undoes an edit", "hit-log", "hits.Hits", "ifNew", Returns.ALWAYS),
        new Planted(
            "a late edit undoes a later one",
            "hit-log",
            "hits.HitWrites",
            "ifUnchanged",
            Returns.ALWAYS),
        new Planted(
            "the end of the last summary is never marked",
            "hit-log",
            "hits.HitSummaries",
            "isLeft",
            Returns.NONE),
        new Planted(
            "hits are swept as soon as a summary has them",
            "hit-log",
            "hits.HitSummary",
            "isNextSettled",
            Returns.TRUE),
        new Planted(
            "a root is considered known as soon as it is stored",
            "version-tree",
            "hits.VersionTrees",
            "isKnown",
            Returns.TRUE),
        new Planted(
            "a late hit shortens a later one",
            "online-exact",
            "presence.OnlineExact",
            "ifUnchanged",
            Returns.ALWAYS),
        new Planted(
            "the result of a paused reader is complete",
            "online-ring",
            "presence.RingNumbers",
            "isQuick",
            Returns.TRUE),
        new Planted(
            "a reader without the cache uses its remembered state",
            "cache-first",
            "display.CacheFirst",
            "latest",
            Returns.GIVEN),
        new Planted(
            "a repeat by the owner of a value does not store it again",
            "unique-values",
            "sequence.UniqueValues",
            "isKept",
            Returns.TRUE),
        new Planted(
            "a late delete deletes any item",
            "unique-values",
            "sequence.UniqueValues",
            "ifUnchanged",
            Returns.ALWAYS));
  }
}
