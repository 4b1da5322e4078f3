package dev.quipu.engine.threshold;

import dev.quipu.Decimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The thresholds that apply to a counter. */
public final class Matching {
  private final List<Defined> all;
  private final @Nullable Levels[] byScale = new Levels[Decimal.SCALE_MAX + 1];

  Matching(List<Defined> all) {
    this.all = all;
  }

  /** A threshold in units of a scale. */
  private record Level(long units, Defined defined) {}

  /** Both in ascending order. */
  private record Levels(List<Level> up, List<Level> down) {}

  /** Returns whether a change of a value, in units of a scale, crosses any of them. */
  public boolean isCrossed(int scale, long before, long after) {
    if (all.isEmpty() || before == after) {
      return false;
    }
    Levels levels = at(scale);
    if (before < after) {
      for (Level each : levels.up) {
        if (each.units > before) {
          return each.units <= after;
        }
      }
      return false;
    }
    for (Level each : levels.down) {
      if (each.units >= after) {
        return each.units < before;
      }
    }
    return false;
  }

  /** Returns those that a change crosses, in the order in which the value passes them. */
  List<Defined> crossed(int scale, long before, long after) {
    List<Defined> crossed = new ArrayList<>();
    Levels levels = at(scale);
    if (before < after) {
      for (Level each : levels.up) {
        if (each.units > before && each.units <= after) {
          crossed.add(each.defined);
        }
      }
      return crossed;
    }
    for (Level each : levels.down) {
      if (each.units >= after && each.units < before) {
        crossed.addFirst(each.defined);
      }
    }
    return crossed;
  }

  private Levels at(int scale) {
    Levels known = byScale[scale];
    if (known == null) {
      known = new Levels(levels(true, scale), levels(false, scale));
      byScale[scale] = known;
    }
    return known;
  }

  private List<Level> levels(boolean isUp, int scale) {
    List<Level> levels = new ArrayList<>();
    for (Defined each : all) {
      if (each.isUp() == isUp) {
        addLevel(levels, each, scale);
      }
    }
    levels.sort(Comparator.comparingLong(Level::units));
    return levels;
  }

  /** Adds a threshold, unless no value of this scale can cross it. */
  private static void addLevel(List<Level> levels, Defined defined, int scale) {
    Decimal at = defined.threshold.at();
    long units = at.units();
    for (int i = at.scale(); i > scale; i--) { // the first value that is beyond it
      units = defined.isUp() ? Math.ceilDiv(units, 10) : Math.floorDiv(units, 10);
    }
    try {
      for (int i = at.scale(); i < scale; i++) {
        units = Math.multiplyExact(units, 10);
      }
    } catch (ArithmeticException e) {
      return;
    }
    levels.add(new Level(units, defined));
  }
}
