package dev.quipu.technique;

import dev.quipu.Guarantee;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import java.util.List;
import java.util.Set;

/** All techniques that count on a store. */
public final class Techniques {
  /** What {@code dev.quipu.hits.HitLog} needs, promises and costs, with strong reads. */
  public static final TechniqueSpec HIT_LOG =
      new TechniqueSpec(
          "hit-log",
          "One item a hit, in order of time; a read adds those behind a summary to it.",
          "a repeat under its id counts once, and is answered as a repeat",
          Set.of(Capability.STRONG_READ, Capability.ORDERED_SCAN),
          Atomicity.ITEM,
          Set.of(
              Guarantee.AT_MOST_ONCE,
              Guarantee.IDEMPOTENT_WITHIN_WINDOW,
              Guarantee.LINEARIZABLE_READ),
          new Cost(1, 1, 1),
          new Cost(3, 0, 0),
          "SimpleDB counters, the easy way");

  /** What {@code dev.quipu.hits.VersionTree} needs, promises and costs, with strong reads. */
  public static final TechniqueSpec VERSION_TREE =
      new TechniqueSpec(
          "version-tree",
          "Each process adds versions of its own to a set of values; readers resolve the tree.",
          "it is put again, which is harmless; what stays unknown counts once or not at all",
          Set.of(Capability.STRONG_READ, Capability.ORDERED_SCAN),
          Atomicity.ITEM,
          Set.of(Guarantee.AT_MOST_ONCE, Guarantee.LINEARIZABLE_READ),
          new Cost(1, 1, 0),
          new Cost(1, 0, 0),
          "SimpleDB counters, the hard way");

  /** In the order in which they are taught. */
  public static final List<TechniqueSpec> ALL =
      List.of(
          AtomicAdd.SPEC,
          Optimistic.SPEC,
          Optimistic.WITH_HISTORY,
          RequestTokens.SPEC,
          MarkerItem.SPEC,
          ItemCollection.SPEC,
          TokenSet.SPEC,
          HIT_LOG,
          VERSION_TREE);

  /** From the one that promises most, for counters that take any number of requests. */
  private static final List<TechniqueSpec> BY_PROMISE =
      List.of(MarkerItem.SPEC, HIT_LOG, AtomicAdd.SPEC, Optimistic.SPEC);

  /** Those that keep the number of a counter in one item, which can be set. */
  private static final List<TechniqueSpec> SETTABLE =
      List.of(
          AtomicAdd.SPEC,
          Optimistic.SPEC,
          Optimistic.WITH_HISTORY,
          RequestTokens.SPEC,
          MarkerItem.SPEC,
          TokenSet.SPEC);

  private Techniques() {}

  /**
   * The technique of this name.
   *
   * @throws IllegalArgumentException if there is none, naming those that there are
   */
  public static TechniqueSpec named(String name) {
    return ALL.stream()
        .filter(spec -> spec.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "no technique '%s'; there are %s"
                    .formatted(name, ALL.stream().map(TechniqueSpec::name).toList())));
  }

  /**
   * The technique that promises most on such a store.
   *
   * @throws IllegalArgumentException if none works there
   */
  public static TechniqueSpec bestFor(StoreProfile profile) {
    return BY_PROMISE.stream()
        .filter(spec -> spec.worksOn(profile))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("no technique works on store " + profile.name()));
  }

  /** The exception for an add with bounds, by a technique that cannot honour them. */
  public static UnsupportedOperationException keepsNoBounds(TechniqueSpec spec) {
    List<String> others =
        ALL.stream()
            .filter(other -> other.promises(Guarantee.BOUNDED))
            .map(TechniqueSpec::name)
            .toList();
    return new UnsupportedOperationException(
        "%s keeps no bounds; these do: %s".formatted(spec.name(), String.join(", ", others)));
  }

  /** Returns the exception for a set or delete, by a technique that cannot do it exactly. */
  public static UnsupportedOperationException cannotSet(String technique) {
    List<String> others = SETTABLE.stream().map(TechniqueSpec::name).toList();
    return new UnsupportedOperationException(
        "%s cannot set or delete a counter exactly; these can: %s"
            .formatted(technique, String.join(", ", others)));
  }

  /** The exception for a call that needs request ids, by a technique that keeps none. */
  public static UnsupportedOperationException keepsNoIds(String technique) {
    List<String> others =
        ALL.stream().filter(TechniqueSpec::remembersIds).map(TechniqueSpec::name).toList();
    return new UnsupportedOperationException(
        "%s keeps no request ids; these do: %s".formatted(technique, String.join(", ", others)));
  }
}
