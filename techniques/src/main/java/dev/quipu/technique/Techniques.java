package dev.quipu.technique;

import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.TechniqueSpec.Cost;
import java.util.List;
import java.util.Set;

/** All techniques for stores. */
public final class Techniques {
  /** The requirements, guarantees and costs of {@code dev.quipu.hits.HitLog}, with strong reads. */
  public static final TechniqueSpec HIT_LOG =
      new TechniqueSpec(
          "hit-log",
          "One item per hit, sorted by time; a read adds the hits after a summary to it.",
          "an add repeated under its id counts exactly once; the repeat is replayed",
          Set.of(Capability.STRONG_READ, Capability.ORDERED_SCAN),
          Atomicity.ITEM,
          Set.of(
              Guarantee.AT_MOST_ONCE,
              Guarantee.IDEMPOTENT_WITHIN_WINDOW,
              Guarantee.LINEARIZABLE_READ),
          new Cost(1, 1, 1),
          new Cost(3, 0, 0),
          "SimpleDB counters, the easy way");

  /**
   * The requirements, guarantees and costs of {@code dev.quipu.hits.VersionTree}, with strong
   * reads.
   */
  public static final TechniqueSpec VERSION_TREE =
      new TechniqueSpec(
          "version-tree",
          "Each process adds versions of its own to a set of values; readers resolve the tree.",
          "the value is put again, which is harmless; if still unknown, it counts at most once",
          Set.of(Capability.STRONG_READ, Capability.ORDERED_SCAN),
          Atomicity.ITEM,
          Set.of(Guarantee.AT_MOST_ONCE, Guarantee.LINEARIZABLE_READ),
          new Cost(1, 1, 0),
          new Cost(1, 0, 0),
          "SimpleDB counters, the hard way");

  /** In the order of their pages. */
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

  /** By strength of their guarantees, for counters with any number of requests. */
  private static final List<TechniqueSpec> BY_PROMISE =
      List.of(MarkerItem.SPEC, HIT_LOG, AtomicAdd.SPEC, Optimistic.SPEC);

  /** Techniques that keep a counter in one item, which can be set. */
  private static final List<TechniqueSpec> SETTABLE =
      List.of(
          AtomicAdd.SPEC,
          Optimistic.SPEC,
          Optimistic.WITH_HISTORY,
          RequestTokens.SPEC,
          MarkerItem.SPEC,
          TokenSet.SPEC);

  /** Names of the techniques that keep a counter in one item, which other batches may change. */
  public static final List<String> ONE_NUMBER =
      SETTABLE.stream()
          .filter(spec -> !spec.equals(TokenSet.SPEC)) // its item is read before each add
          .map(TechniqueSpec::name)
          .toList();

  private Techniques() {}

  /** Returns whether each of these counters is one item, which other batches may change. */
  public static boolean keepsOneNumber(Counters counters) {
    return counters.as(OneItem.class).isPresent() && counters.as(TokenSet.class).isEmpty();
  }

  /**
   * Returns the technique with this name.
   *
   * @throws IllegalArgumentException if there is none, listing all names
   */
  public static TechniqueSpec named(String name) {
    return ALL.stream()
        .filter(spec -> spec.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "unknown technique '%s'; known: %s"
                    .formatted(name, ALL.stream().map(TechniqueSpec::name).toList())));
  }

  /**
   * Returns the technique with the strongest guarantees on a store.
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

  /** Returns the exception for an add with bounds, if the technique does not support them. */
  public static UnsupportedOperationException keepsNoBounds(TechniqueSpec spec) {
    List<String> others =
        ALL.stream()
            .filter(other -> other.promises(Guarantee.BOUNDED) && !other.name().equals(spec.name()))
            .map(TechniqueSpec::name)
            .toList();
    return new UnsupportedOperationException(
        "%s does not support bounds; these do: %s"
            .formatted(spec.name(), String.join(", ", others)));
  }

  /** Returns the exception for a set or delete that the technique cannot do exactly. */
  public static UnsupportedOperationException cannotSet(String technique) {
    List<String> others = SETTABLE.stream().map(TechniqueSpec::name).toList();
    return new UnsupportedOperationException(
        "%s cannot set or delete a counter exactly; these can: %s"
            .formatted(technique, String.join(", ", others)));
  }

  /** Returns the exception for a call with a request id, if the technique does not support ids. */
  public static UnsupportedOperationException keepsNoIds(String technique) {
    List<String> others =
        ALL.stream().filter(TechniqueSpec::remembersIds).map(TechniqueSpec::name).toList();
    return new UnsupportedOperationException(
        "%s does not support request ids; these do: %s"
            .formatted(technique, String.join(", ", others)));
  }
}
