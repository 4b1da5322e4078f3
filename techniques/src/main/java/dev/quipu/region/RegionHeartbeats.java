package dev.quipu.region;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionRecords.Beat;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * Counts the renewals of leases, by which a replica that was restored from a backup is recognized:
 * it has fewer beats than others know of, or another mark for one of them, since a renewal in
 * progress during the restore has counted it again. Thread-safe.
 */
final class RegionHeartbeats {
  private static final int ROUNDS_MAX = 20;
  private static final int MARKS_MAX = 64; // of the last beats

  private final Regions regions;
  private final RandomGenerator random;
  private volatile Beat known = Beat.NONE; // last beat of this process

  RegionHeartbeats(Regions regions, RandomGenerator random) {
    this.regions = regions;
    this.random = random;
  }

  /**
   * Marks another region whose replica lacks a beat that the local replica knew before.
   *
   * @param knownHere records of the local replica before the others were read
   */
  void noticeSetBack(String region, RegionRecords knownHere, Map<String, RegionRecords> seen) {
    RegionRecords there = seen.get(region);
    if (there != null
        && lacks(there.lease(region), knownHere.beat(region))
        && knownHere.ended(region).isEmpty()) {
      markEnded(region, regions.own(), setBack(region, there.beat(region), knownHere));
    }
  }

  private static String setBack(String region, Beat beat, RegionRecords knows) {
    return "replica of region %s was restored from a backup: it has %d renewals, and region %s"
            .formatted(region, beat.number(), knows.place())
        + " knows %d; retire it, and add it again under another name"
            .formatted(knows.beat(region).number());
  }

  /** Returns whether a region's own record has fewer beats, or another one under that number. */
  static boolean lacks(Optional<Item> own, Beat beat) {
    if (Beat.of(own).number() < beat.number()) {
      return true;
    }
    String start = beat.number() + ":";
    return marks(own).stream()
        .anyMatch(each -> each.startsWith(start) && !each.equals(start + beat.mark()));
  }

  private static List<String> marks(Optional<Item> own) {
    return own.flatMap(item -> item.text(RegionRecords.MARKS))
        .map(marks -> List.of(marks.split(" ")))
        .orElse(List.of());
  }

  /**
   * Counts a beat in the local replica before others know it: none of them may know more beats. A
   * delayed write has no effect, so that it cannot hide a restore from a backup.
   *
   * @param seen the records of all regions that answer
   * @param end creates the exception if the local region must no longer count, from the reason
   */
  Beat next(Map<String, RegionRecords> seen, Function<String, QuipuException> end) {
    Store here = regions.here();
    String own = regions.own();
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Beat before = known; // this process may count another one concurrently
      Optional<Item> found = RegionRecords.one(here, own, own); // after the others were read
      Optional<String> why = whySetBack(before, found, seen);
      if (why.isPresent()) {
        for (String place : regions.names()) {
          regions.ask(place, () -> markEnded(own, place, why.get()));
        }
        throw end.apply(why.get());
      }
      Beat next = new Beat(1 + Beat.of(found).number(), Long.toHexString(random.nextLong()));
      List<String> marks = new ArrayList<>(marks(found));
      marks.add(next.number() + ":" + next.mark());
      List<String> last = marks.subList(Math.max(0, marks.size() - MARKS_MAX), marks.size());
      Write write =
          new Write.Update(
              RegionRecords.lease(own, own),
              List.of(
                  new Change.Put(RegionRecords.BEAT, new Field.Number(next.number())),
                  new Change.Put(RegionRecords.MARK, new Field.Text(next.mark())),
                  new Change.Put(RegionRecords.MARKS, new Field.Text(String.join(" ", last))),
                  new Change.Put(RegionRecords.AT, new Field.Number(here.clock().epochMillis())),
                  new Change.Put(
                      RegionRecords.NAMES, new Field.Text(String.join(",", regions.names())))),
              Condition.unchanged(found));
      if (IdempotentRetry.result(here, "a beat", () -> here.write(write))
          instanceof WriteResult.Applied) {
        synchronized (this) {
          known = known.number() < next.number() ? next : known;
        }
        return next;
      }
    }
    throw new NotAppliedException(
        Reason.THROTTLED, "gave up after %d attempts: beats of %s".formatted(ROUNDS_MAX, own));
  }

  /**
   * Returns why the local region must no longer count, if its replica was restored from a backup.
   */
  private Optional<String> whySetBack(
      Beat before, Optional<Item> found, Map<String, RegionRecords> seen) {
    String own = regions.own();
    Beat beat = Beat.of(found);
    for (RegionRecords each : seen.values()) {
      if (each.ended(own).isPresent()) {
        return each.ended(own);
      }
      if (lacks(found, each.beat(own))) {
        return Optional.of(setBack(own, beat, each));
      }
    }
    return lacks(found, before)
        ? Optional.of(
            "replica of region %s was restored from a backup: it has %d renewals, and had %d"
                    .formatted(own, beat.number(), before.number())
                + "; retire it, and add it again under another name")
        : Optional.empty();
  }

  private boolean markEnded(String region, String place, String why) {
    Write mark =
        new Write.Update(
            RegionRecords.lease(region, place),
            List.of(new Change.Put(RegionRecords.ENDED, new Field.Text(why))),
            Condition.always());
    return regions.replica(place).write(mark) instanceof WriteResult.Applied;
  }
}
