package dev.quipu.region;

import dev.quipu.Bounds;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionRows.Right;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.technique.IdempotentRetry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How the bounds of every counter are shared out before anybody counts: evenly to the initial
 * regions. All regions must have the same plan: it is recorded in each replica before anything is
 * counted there, and each cell says by which it was made.
 *
 * <p>Stored in the replica of {@code PLACE}: {@code regions}, {@code plan@PLACE}: {@code plan}.
 */
record RegionPlan(List<String> initial, Bounds bounds) {
  RegionPlan {
    initial = List.copyOf(initial);
  }

  /** What a region begins with. */
  long share(String region, Right right) {
    int place = initial.indexOf(region);
    long all = right.atZero(bounds).orElse(0L);
    int parts = initial.size();
    return place < 0 ? 0 : all / parts + (place < all % parts ? 1 : 0);
  }

  /**
   * Returns the write of a new cell, which is harmless to repeat: the first one has the share of
   * the region.
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
    return new Write.Put(
        RegionRows.cell(counter, region, cell), fields, Optional.empty(), new Condition.Absent());
  }

  /** Returns the condition that a cell was made, by this plan. */
  Condition isFounded() {
    return new Condition.FieldIs(RegionRows.PLAN, new Field.Text(text()));
  }

  /** Returns by which other plan a region counts, if it is another. */
  Optional<String> conflict(RegionRows rows) {
    return rows.item(RegionRows.CELL + 0)
        .flatMap(cell -> cell.text(RegionRows.PLAN))
        .filter(other -> !other.equals(text()));
  }

  /** Returns the exception for an add where another plan counts: the bounds would not hold. */
  QuipuException rejected(String region, String other) {
    return new NotAppliedException(
        Reason.DENIED, // by the operator's configuration: the client did nothing wrong
        "region %s counts %s, and this process %s; make the topologies alike"
            .formatted(region, other, text()));
  }

  /**
   * Makes sure that all regions have this plan: of two, that counts which is first in the first
   * region.
   *
   * @throws QuipuException if one has another, or is silent and the own replica has none so far
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
            "region %s does not answer, and it is not known whether it shares out bounds alike"
                .formatted(place));
      }
    }
  }

  private static String recorded(Store replica, String place) {
    return replica
        .get(RegionRecords.plan(place), Consistency.STRONG)
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
              Optional.empty(),
              new Condition.Absent());
      IdempotentRetry.result(replica, "a plan", () -> replica.write(put));
      return recorded(replica, place);
    }
    return found;
  }

  /** Returns the plan as it is stored. */
  String text() {
    return "founded by %s, within %s to %s"
        .formatted(
            String.join(",", initial),
            bounds.floor() == Long.MIN_VALUE ? "any" : bounds.floor(),
            bounds.ceiling() == Long.MAX_VALUE ? "any" : bounds.ceiling());
  }
}
