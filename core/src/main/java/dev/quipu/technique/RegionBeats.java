package dev.quipu.technique;

import dev.quipu.store.Change;
import dev.quipu.store.Condition;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Reason;
import dev.quipu.store.Store;
import dev.quipu.store.StoreException;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Counts the renewals of leases, by which a replica that was restored from a backup is recognised:
 * it knows of fewer than others do. Thread-safe.
 */
final class RegionBeats {
  private static final int ROUNDS_MAX = 20;

  private final Regions regions;
  private volatile long known;

  RegionBeats(Regions regions) {
    this.regions = regions;
  }

  /**
   * Marks another region whose replica knows of fewer beats than the own one did before.
   *
   * @param knownHere what the own replica recorded before the others were read
   */
  void noticeSetBack(String region, RegionRecords knownHere, Map<String, RegionRecords> seen) {
    RegionRecords there = seen.get(region);
    if (there != null
        && there.beat(region) < knownHere.beat(region)
        && knownHere.ended(region).isEmpty()) {
      markEnded(region, regions.own(), setBack(region, there.beat(region), knownHere));
    }
  }

  private static String setBack(String region, long beat, RegionRecords knows) {
    return "the replica of region %s was set back: it renewed its lease %d times, and region %s"
            .formatted(region, beat, knows.place())
        + " knows of %d; retire it, and let it come back under another name"
            .formatted(knows.beat(region));
  }

  /** Why the own region must not count any more, if its replica was set back; marks it then. */
  Optional<String> whySetBack(Map<String, RegionRecords> seen) {
    String own = regions.own();
    long before = known; // by this process, which may count another one meanwhile
    long beat = beat(); // after the others were read: a beat is counted here first
    Optional<String> why = Optional.empty();
    for (RegionRecords each : seen.values()) {
      if (each.ended(own).isPresent()) {
        why = each.ended(own);
      } else if (each.beat(own) > beat) {
        why = Optional.of(setBack(own, beat, each));
      }
    }
    if (why.isEmpty() && before > beat) {
      why =
          Optional.of(
              "the replica of region %s was set back: it renewed its lease %d times, and %d before"
                      .formatted(own, beat, before)
                  + "; retire it, and let it come back under another name");
    }
    if (why.isPresent()) {
      String text = why.get();
      for (String place : regions.names()) {
        regions.ask(place, () -> markEnded(own, place, text));
      }
    }
    return why;
  }

  private boolean markEnded(String region, String place, String why) {
    Write mark =
        new Write.Update(
            RegionRecords.lease(region, place),
            List.of(new Change.Put(RegionRecords.ENDED, new Field.Text(why))),
            Condition.always());
    return regions.replica(place).write(mark) instanceof WriteResult.Applied;
  }

  /**
   * Counts a beat in the own replica, before others know of it: none of them may know of more. A
   * write that comes late changes nothing, so that it cannot hide that the replica was set back.
   */
  long next() {
    Store here = regions.here();
    String own = regions.own();
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Optional<Item> found = RegionRecords.one(here, own, own);
      long next = 1 + found.map(item -> item.number(RegionRecords.BEAT)).orElse(0L);
      Write write =
          new Write.Update(
              RegionRecords.lease(own, own),
              List.of(
                  new Change.Put(RegionRecords.BEAT, new Field.Number(next)),
                  new Change.Put(RegionRecords.AT, new Field.Number(here.clock().epochMillis())),
                  new Change.Put(
                      RegionRecords.NAMES, new Field.Text(String.join(",", regions.names())))),
              Condition.unchanged(found));
      if (UntilDefinite.result(here, "a beat", () -> here.write(write))
          instanceof WriteResult.Applied) {
        synchronized (this) {
          known = Math.max(known, next);
        }
        return next;
      }
    }
    throw StoreException.notApplied(
        Reason.THROTTLED, "gave up after %d attempts: beats of %s".formatted(ROUNDS_MAX, own));
  }

  private long beat() {
    return RegionRecords.one(regions.here(), regions.own(), regions.own())
        .map(item -> item.number(RegionRecords.BEAT))
        .orElse(0L);
  }
}
