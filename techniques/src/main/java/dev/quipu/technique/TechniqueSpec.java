package dev.quipu.technique;

import dev.quipu.Guarantee;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The specification of a technique: its requirements, guarantees and costs. Store checks, contract
 * tests and all tables are derived from it.
 *
 * @param name in lower case, words joined by hyphens
 * @param summary one sentence
 * @param afterLostReply the outcome of an add whose reply was lost
 * @param needs the required capabilities of the store
 * @param atomicity the required scope of atomic batches
 * @param guarantees its guarantees on such a store
 * @param perAdd cost of one add
 * @param perRead cost of one read
 * @param source the article that describes it
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
  /**
   * The cost of one call without faults and without concurrent writers.
   *
   * @param roundTrips sequential calls to the store
   * @param writes number of items written
   * @param itemsKept number of items that stay in the store
   */
  public record Cost(int roundTrips, int writes, int itemsKept) {}

  /** Copies the sets. */
  public TechniqueSpec {
    needs = Set.copyOf(needs);
    guarantees = Set.copyOf(guarantees);
  }

  /** Returns the same technique with other guarantees. */
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

  /** Returns the same technique with another required scope of batches. */
  public TechniqueSpec over(Atomicity other) {
    return new TechniqueSpec(
        name, summary, afterLostReply, needs, other, guarantees, perAdd, perRead, source);
  }

  /** Returns whether the technique has this guarantee. */
  public boolean promises(Guarantee guarantee) {
    return guarantees.contains(guarantee);
  }

  /** Returns whether an add repeated under the same request id counts exactly once. */
  public boolean remembersIds() {
    return promises(Guarantee.IDEMPOTENT) || promises(Guarantee.IDEMPOTENT_WITHIN_WINDOW);
  }

  /** Returns whether a store has the required capabilities. */
  public boolean worksOn(StoreProfile profile) {
    return missingOn(profile).isEmpty();
  }

  /** Returns what a store lacks for this technique, in words. */
  public List<String> missingOn(StoreProfile profile) {
    List<String> missing = new ArrayList<>();
    needs.stream()
        .filter(each -> !profile.has(each))
        .sorted()
        .forEach(each -> missing.add(each.name().toLowerCase(Locale.ROOT).replace('_', ' ')));
    if (missing.isEmpty() && profile.atomicity().compareTo(atomicity) < 0) {
      missing.add("batches over a " + atomicity.name().toLowerCase(Locale.ROOT));
    }
    return missing;
  }

  /**
   * Rejects a store without the required capabilities, naming these and the techniques that work
   * there.
   *
   * @throws IllegalArgumentException if the technique does not work on the store
   */
  public void requireWorksOn(StoreProfile profile) {
    List<String> missing = missingOn(profile);
    if (missing.isEmpty()) {
      return;
    }
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
                String.join(" and ", missing),
                others.isEmpty() ? "none" : String.join(", ", others)));
  }
}
