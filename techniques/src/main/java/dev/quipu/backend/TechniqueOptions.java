package dev.quipu.backend;

import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.AtomicAdd.AfterUnknown;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.TokenSet;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Options of a technique; all processes on one store must have the same.
 *
 * @param keep how long request ids are remembered; empty for the default of the technique
 * @param afterUnknown what {@link AtomicAdd} does after an unknown outcome; empty for {@link
 *     AfterUnknown#GIVE_UP}
 * @param slots slots of each counter of {@link TokenSet}, 1 to {@link TokenSet#SLOTS_MAX}; empty
 *     for {@link TokenSet#SLOTS}
 * @param markers placement of the markers of {@link MarkerItem}; empty for the partition of the
 *     counter
 */
public record TechniqueOptions(
    Optional<Duration> keep,
    Optional<AfterUnknown> afterUnknown,
    OptionalInt slots,
    Optional<String> markers) {
  /** The defaults of each technique. */
  public static final TechniqueOptions DEFAULT = keeping(Optional.empty());

  /** Returns the defaults, with this time for which request ids are remembered. */
  public static TechniqueOptions keeping(Optional<Duration> keep) {
    return new TechniqueOptions(keep, Optional.empty(), OptionalInt.empty(), Optional.empty());
  }

  /**
   * Requires that each option applies to a technique.
   *
   * @throws IllegalArgumentException for an option of another technique
   */
  public void requireFor(TechniqueSpec spec) {
    requireFor(afterUnknown.isPresent(), "after-unknown", AtomicAdd.SPEC, spec);
    requireFor(slots.isPresent(), "slots", TokenSet.SPEC, spec);
    requireFor(markers.isPresent(), "markers", MarkerItem.SPEC, spec);
  }

  private static void requireFor(
      boolean isSet, String option, TechniqueSpec owner, TechniqueSpec spec) {
    if (isSet && !spec.name().equals(owner.name())) {
      throw new IllegalArgumentException(
          "option %s is not supported by technique %s; use technique %s"
              .formatted(option, spec.name(), owner.name()));
    }
  }

  /** Returns the values that differ from the defaults, for the record of a store. */
  public Map<String, String> recorded() {
    Map<String, String> values = new LinkedHashMap<>();
    afterUnknown
        .filter(action -> action == AfterUnknown.REPEAT)
        .ifPresent(action -> values.put("after-unknown", "retry"));
    slots.stream()
        .filter(count -> count != TokenSet.SLOTS)
        .forEach(count -> values.put("slots", Integer.toString(count)));
    markers.ifPresent(placement -> values.put("markers", placement));
    return values;
  }
}
