package dev.quipu.technique;

import dev.quipu.Bounds;
import dev.quipu.store.Condition;
import dev.quipu.store.Field;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import dev.quipu.store.Write;
import dev.quipu.technique.RegionRows.Right;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How the bounds of every counter are shared out before anybody counts: evenly to the founding
 * regions. All regions must have the same plan; each of their first cells says which it was made
 * by.
 */
record RegionPlan(List<String> founders, Bounds bounds) {
  RegionPlan {
    founders = List.copyOf(founders);
  }

  /** What a region begins with. */
  long share(String region, Right right) {
    int place = founders.indexOf(region);
    long all = right.atZero(bounds).orElse(0L);
    int parts = founders.size();
    return place < 0 ? 0 : all / parts + (place < all % parts ? 1 : 0);
  }

  /** Makes a cell, which is harmless to repeat: the first one has the share of the region. */
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

  /** That a cell was made, by this plan. */
  Condition isFounded() {
    return new Condition.FieldIs(RegionRows.PLAN, new Field.Text(text()));
  }

  /**
   * Refuses to count with a region that has another plan: the bounds would not hold.
   *
   * @throws StoreException if it has
   */
  void check(String counter, RegionRows rows) {
    Optional<String> other =
        rows.item(RegionRows.CELL + 0).flatMap(cell -> cell.text(RegionRows.PLAN));
    if (other.isPresent() && !other.get().equals(text())) {
      throw StoreException.notApplied(
          Reason.INVALID,
          "region %s counts %s %s, and this process %s; all must agree"
              .formatted(rows.region(), counter, other.get(), text()));
    }
  }

  private String text() {
    return "founded by %s, within %s to %s"
        .formatted(
            String.join(",", founders),
            bounds.floor() == Long.MIN_VALUE ? "any" : bounds.floor(),
            bounds.ceiling() == Long.MAX_VALUE ? "any" : bounds.ceiling());
  }
}
