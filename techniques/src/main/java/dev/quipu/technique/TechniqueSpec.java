package dev.quipu.technique;

import dev.quipu.Guarantee;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A technique in data: what it needs, what it promises, what it costs. The one source for the
 * rejection of a store that will not do, for the choice of contract tests, and for every table.
 *
 * @param name in lower case, words joined by hyphens
 * @param summary one sentence
 * @param afterLostReply what becomes of an add whose reply was lost
 * @param needs what the store must be able to do
 * @param atomicity how far the technique's batches reach
 * @param guarantees what it promises on such a store
 * @param perAdd cost of one add
 * @param perRead cost of one read
 * @param source where it comes from
 */
public record TechniqueSpec(
    String name,
    String summary,
    String afterLostReply,
    Set<Capability> needs,
    Atomicity atomicity,
    Set<Guarantee> guarantees,
    Cost perAdd,
    Cost perRead,
    String source) {
  /** Copies the sets. */
  public TechniqueSpec {
    needs = Set.copyOf(needs);
    guarantees = Set.copyOf(guarantees);
  }

  /** The same technique, used in a way that promises something else. */
  public TechniqueSpec promising(Set<Guarantee> others) {
    return new TechniqueSpec(
        name, summary, afterLostReply, needs, atomicity, others, perAdd, perRead, source);
  }

  /** Returns the same technique with one more guarantee. */
  public TechniqueSpec promisingAlso(Guarantee other) {
    Set<Guarantee> all = EnumSet.of(other);
    all.addAll(guarantees);
    return promising(all);
  }

  /** The same technique, with batches that must reach so far. */
  public TechniqueSpec over(Atomicity other) {
    return new TechniqueSpec(
        name, summary, afterLostReply, needs, other, guarantees, perAdd, perRead, source);
  }

  /** Whether the technique promises this. */
  public boolean promises(Guarantee guarantee) {
    return guarantees.contains(guarantee);
  }

  /** Whether requests have ids under which a repeat counts once. */
  public boolean remembersIds() {
    return promises(Guarantee.IDEMPOTENT) || promises(Guarantee.IDEMPOTENT_WITHIN_WINDOW);
  }

  /** Whether a store is able to do what the technique needs. */
  public boolean worksOn(StoreProfile profile) {
    return profile.capabilities().containsAll(needs)
        && profile.atomicity().compareTo(atomicity) >= 0;
  }

  /**
   * Rejects a store that will not do, naming what it lacks and the techniques that would work.
   *
   * @throws IllegalArgumentException if the technique does not work on the store
   */
  public void requireWorksOn(StoreProfile profile) {
    if (worksOn(profile)) {
      return;
    }
    Set<Capability> missing = EnumSet.noneOf(Capability.class);
    missing.addAll(needs);
    missing.removeAll(profile.capabilities());
    List<String> others =
        Techniques.ALL.stream()
            .filter(spec -> spec.worksOn(profile))
            .map(TechniqueSpec::name)
            .toList();
    throw new IllegalArgumentException(
        "technique %s does not work on store %s, which lacks %s; these do: %s"
            .formatted(
                name,
                profile.name(),
                missing.isEmpty() ? "batches over a " + atomicity : missing,
                others.isEmpty() ? "none" : String.join(", ", others)));
  }
}
