package dev.quipu.region;

import dev.quipu.Bounds;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionRows.Right;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Write;
import dev.quipu.technique.IdempotentRetry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The initial division of the bounds of every counter: evenly to the initial regions. All regions
 * must have the same plan: it is recorded in each replica before anything is counted there, and
 * each cell names the plan by which it was made.
 *
 * <p>Stored in the replica of {@code PLACE}: {@code regions}, {@code plan@PLACE}: {@code plan}.
 */
record RegionPlan(List<String> initial, Bounds bounds) {
  RegionPlan {
    initial = List.copyOf(initial);
  }

  /** Returns the initial rights of a region. */
  long share(String region, Right right) {
    int place = initial.indexOf(region);
    long all = right.atZero(bounds).orElse(0L);
    int parts = initial.size();
    return place < 0 ? 0 : all / parts + (place < all % parts ? 1 : 0);
  }

  /**
   * Returns the write of a new cell, which is idempotent: the first cell has the share of the
   * region.
   */
  Write founding(String counter, String region, int cell) {
    Map<String, Field> fields = new HashMap<>();
    for (Right right : Right.values()) {
      if (right.atZero(bounds).isPresent()) {
        fields.put(right.field(), new Field.Number(cell == 0 ? share(region, right) : 0));
      }
    }
    fields.put(RegionRows.UP, new Field.Number(0));
    fields.put(RegionRows.DOWN, new Field.Number(0));
    fields.put(RegionRows.PLAN, new Field.Text(text()));
    return new Write.Put(RegionRows.cell(counter, region, cell), fields, new Condition.Absent());
  }

  /** Returns the condition that a cell was made, by this plan. */
  Condition isFounded() {
    return new Condition.FieldIs(RegionRows.PLAN, new Field.Text(text()));
  }

  /**
   * Passes unless a region was founded by another plan.
   *
   * @throws QuipuException if it was
   */
  void requireOf(RegionRows rows) {
    String other =
        rows.item(RegionRows.CELL + 0).flatMap(cell -> cell.text(RegionRows.PLAN)).orElse(text());
    if (!other.equals(text())) {
      throw rejected(rows.region(), other);
    }
  }

  /**
   * Returns the exception for an add while a region has a different plan: the bounds would not
   * hold.
   */
  QuipuException rejected(String region, String other) {
    return new NotAppliedException(
        Reason.DENIED, // by the operator's configuration, not a client error
        "plan of region %s is: %s; plan of this process is: %s. Use the same topology"
            .formatted(region, other, text()));
  }

  /**
   * Ensures that all regions have this plan: if there are two plans, the one recorded first in the
   * first region wins.
   *
   * @throws QuipuException if a region has a different one, or does not respond while the local
   *     replica has none yet
   */
  void requireAgreed(Regions regions, RegionLeases leases) {
    for (String place : leases.living()) {
      Optional<String> there = regions.ask(place, () -> recordIn(regions.replica(place), place));
      if (there.isPresent() && !there.get().equals(text())) {
        throw rejected(place, there.get());
      }
      if (there.isEmpty()
          && leases.areKept()
          && !recorded(regions.here(), regions.own()).equals(text())) {
        throw new NotAppliedException(
            Reason.UNAVAILABLE,
            "region %s does not respond; unknown whether it has the same plan of bounds"
                .formatted(place));
      }
    }
  }

  private static String recorded(Store replica, String place) {
    return replica
        .get(RegionRecords.plan(place))
        .flatMap(item -> item.text(RegionRows.PLAN))
        .orElse("");
  }

  private String recordIn(Store replica, String place) {
    String found = recorded(replica, place);
    if (found.isEmpty()) {
      Write put =
          new Write.Put(
              RegionRecords.plan(place),
              Map.of(RegionRows.PLAN, new Field.Text(text())),
              new Condition.Absent());
      IdempotentRetry.result(replica, "a plan", () -> replica.write(put));
      return recorded(replica, place);
    }
    return found;
  }

  /** Returns the stored form of the plan. */
  String text() {
    return "founded by %s, within %s to %s"
        .formatted(
            String.join(",", initial),
            bounds.floor() == Long.MIN_VALUE ? "any" : bounds.floor(),
            bounds.ceiling() == Long.MAX_VALUE ? "any" : bounds.ceiling());
  }
}
