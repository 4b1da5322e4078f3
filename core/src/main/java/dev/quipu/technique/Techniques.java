package dev.quipu.technique;

import dev.quipu.Counters;
import dev.quipu.store.Store;
import dev.quipu.store.StoreProfile;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** All techniques that count on a store. */
public final class Techniques {
  /** In the order in which they are taught. */
  public static final List<TechniqueSpec> ALL =
      List.of(
          AtomicAdd.SPEC,
          Optimistic.SPEC,
          OptimisticWithHistory.SPEC,
          RequestTokens.SPEC,
          MarkerItem.SPEC,
          ItemCollection.SPEC,
          TokenSet.SPEC,
          HitLog.SPEC,
          VersionTree.SPEC);

  /** From the one that promises most, for counters that take any number of requests. */
  private static final List<TechniqueSpec> BY_PROMISE =
      List.of(MarkerItem.SPEC, HitLog.SPEC, AtomicAdd.SPEC, Optimistic.SPEC);

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
  static UnsupportedOperationException keepsNoBounds(TechniqueSpec spec) {
    List<String> others =
        ALL.stream()
            .filter(other -> other.promises(Guarantee.BOUNDED))
            .map(TechniqueSpec::name)
            .toList();
    return new UnsupportedOperationException(
        "%s keeps no bounds; these do: %s".formatted(spec.name(), String.join(", ", others)));
  }

  /**
   * Counts on a store by a technique.
   *
   * @param random where ids and tags come from
   * @param keep how long {@link MarkerItem} and {@link HitLog} remember request ids; empty for
   *     ever, which for the latter is its default
   * @throws IllegalArgumentException if the store lacks what the technique needs
   */
  public static Counters open(
      TechniqueSpec spec, Store store, RandomGenerator random, Optional<Duration> keep) {
    return switch (spec.name()) {
      case "atomic-add" -> new AtomicAdd(store);
      case "optimistic" -> new Optimistic(store, random);
      case "optimistic-with-history" -> new OptimisticWithHistory(store, random);
      case "request-token" -> new RequestTokens(store, random);
      case "marker-item" -> new MarkerItem(store, random, keep);
      case "item-collection" -> new ItemCollection(store, random);
      case "token-set" -> new TokenSet(store, random);
      case "hit-log" ->
          new HitLog(
              store,
              random,
              keep.map(HitLogOptions.DEFAULT::keeping).orElse(HitLogOptions.DEFAULT));
      case "version-tree" -> new VersionTree(store, random, VersionTreeOptions.DEFAULT);
      default -> throw new IllegalArgumentException("no way to open " + spec.name());
    };
  }
}
