package dev.quipu.transaction;

import dev.quipu.Counters;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Techniques;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** Which stores and techniques support transactions and holds. */
final class Support {
  private static final Set<Capability> NEEDS =
      EnumSet.of(Capability.STRONG_READ, Capability.NATIVE_UPDATE, Capability.ATOMIC_BATCH);
  private static final String STORES =
      "the engine, PostgreSQL, DynamoDB, Redis (not Redis Cluster), Datastore and App Engine";

  private Support() {}

  /**
   * Requires batches over all items, and counters of one item each.
   *
   * @param what supports it: {@code transactions} or {@code holds}
   * @param isListed whether it also needs scans
   * @throws UnsupportedOperationException naming the stores or techniques that support it
   */
  static void require(String what, boolean isListed, Counters counters, StoreProfile profile) {
    boolean isWhole =
        profile.capabilities().containsAll(NEEDS) && profile.atomicity() == Atomicity.STORE;
    if (!isWhole) {
      throw new UnsupportedOperationException(
          "%s need batches over all items; those of store %s reach one %s. Use %s"
              .formatted(what, profile.name(), extent(profile), STORES));
    }
    if (isListed && !profile.has(Capability.ORDERED_SCAN)) {
      throw new UnsupportedOperationException(
          "%s need consistent scans, which store %s lacks. Use %s with a group per partition"
              .formatted(what, profile.name(), STORES));
    }
    if (!Techniques.keepsOneNumber(counters)) {
      throw new UnsupportedOperationException(
          "%s are not supported by %s, which does not keep each counter in one item; use %s"
              .formatted(what, counters.technique(), String.join(", ", Techniques.ONE_NUMBER)));
    }
  }

  private static String extent(StoreProfile profile) {
    return profile.atomicity() == Atomicity.PARTITION ? "partition" : "item";
  }

  /** Returns how long a technique remembers request ids; empty for forever. */
  static Optional<Duration> retention(Counters counters) {
    return counters.as(MarkerItem.class).flatMap(MarkerItem::retention);
  }
}
