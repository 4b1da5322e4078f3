package dev.quipu.shard;

import dev.quipu.Bounds;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.cache.LruMap;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Creates, changes and caches the plans of all counters. */
final class ShardPlans {
  private static final int KNOWN_MAX = 100_000;
  private static final int TRIES_MAX = 20;

  /** Maximum time that independent shards are used without reading their plan again. */
  private static final Duration KNOWN_FOR = Duration.ofSeconds(10);

  private final Store store;
  private final CounterItems items;
  private final ShardOptions options;
  private final LruMap<String, Known> known = new LruMap<>(KNOWN_MAX);

  ShardPlans(Store store, CounterItems items, ShardOptions options) {
    this.store = store;
    this.items = items;
    this.options = options;
  }

  /** A plan and the time of its last read or write. */
  private record Known(ShardPlan plan, long nanos) {}

  /**
   * Returns the plan of a counter; creates it if there is none.
   *
   * @throws NotAppliedException if no plan could be read or created
   */
  ShardPlan of(String counter) {
    Optional<ShardPlan> plan = known(counter);
    return plan.isPresent()
        ? plan.get()
        : IdempotentRetry.prepared(store, counter, "its plan", () -> storedOrMade(counter));
  }

  private ShardPlan storedOrMade(String counter) {
    for (int i = 0; i < TRIES_MAX; i++) {
      Optional<ShardPlan> plan = find(counter);
      if (plan.isPresent()) {
        return plan.get();
      }
      make(counter);
    }
    throw new NotAppliedException(Reason.THROTTLED, "no plan for the shards of " + counter);
  }

  /** Returns the cached plan, which may be out of date. */
  Optional<ShardPlan> known(String counter) {
    return Optional.ofNullable(known.get(counter)).map(Known::plan);
  }

  /**
   * Returns the plan of a counter whose plan the store has lost; creates it again if it is missing.
   */
  ShardPlan again(String counter) {
    known.remove(counter);
    ShardPlan plan = of(counter);
    items.enlistAgain(counter);
    return plan;
  }

  /**
   * Returns the plan for independent shards. Their writes have no condition on the plan, so a lost
   * plan is not detected: it is read again after {@link #KNOWN_FOR}, and restored if it is missing.
   *
   * @param plan the cached plan
   */
  ShardPlan renewed(String counter, ShardPlan plan) {
    Known now = known.get(counter);
    if (now != null && store.clock().nanoTime() - now.nanos() < KNOWN_FOR.toNanos()) {
      return plan;
    }
    return IdempotentRetry.prepared(
        store,
        counter,
        "its plan",
        () -> {
          Optional<ShardPlan> stored = stored(counter);
          if (stored.isEmpty()) {
            store.write(put(counter, plan, new Condition.Absent()));
            items.enlistAgain(counter);
            stored = stored(counter);
          }
          return stored.orElse(plan);
        });
  }

  /** Returns the cached plan, or else the stored one. */
  Optional<ShardPlan> find(String counter) {
    Optional<ShardPlan> plan = known(counter);
    return plan.isEmpty() ? stored(counter) : plan;
  }

  /** Returns the stored plan. */
  Optional<ShardPlan> stored(String counter) {
    Optional<Item> item = store.get(ShardPlan.key(counter));
    return item.map(found -> keep(counter, checked(counter, ShardPlan.of(found))));
  }

  private ShardPlan keep(String counter, ShardPlan plan) {
    known.put(counter, new Known(plan, store.clock().nanoTime()));
    return plan;
  }

  private ShardPlan checked(String counter, ShardPlan plan) {
    boolean fits =
        plan.together() == options.actTogether()
            && plan.bounds().equals(options.bounds())
            && (plan.together() || plan.shards() == options.shards());
    if (!fits) {
      throw new NotAppliedException(Reason.DENIED, disagreement(counter, plan));
    }
    return plan;
  }

  /** Returns the error for a plan that does not match the options, with the operator's remedy. */
  private String disagreement(String counter, ShardPlan plan) {
    boolean canRepair = plan.together() && options.actTogether();
    String here = "%d shards, %s".formatted(options.shards(), text(options.bounds()));
    String message =
        "counter %s cannot be opened: it has %d shards, %s; this process is configured for %s"
            .formatted(counter, plan.shards(), text(plan.bounds()), here);
    return canRepair
        ? message
            + ". Give the counter the bounds of the store's record, with the other options of the"
            + " record: quipu repair %s --store URI --shards %d%s"
                .formatted(
                    quoted(counter),
                    options.shards(),
                    option("floor", options.bounds().floor(), Long.MIN_VALUE)
                        + option("ceiling", options.bounds().ceiling(), Long.MAX_VALUE))
        : message + ". Start the process with the options that the counter was divided with";
  }

  private static String text(Bounds bounds) {
    if (bounds.isNone()) {
      return "no bounds";
    }
    return "%s, %s"
        .formatted(
            bounds.floor() == Long.MIN_VALUE ? "no floor" : "floor " + bounds.floor(),
            bounds.ceiling() == Long.MAX_VALUE ? "no ceiling" : "ceiling " + bounds.ceiling());
  }

  private static String option(String name, long value, long none) {
    return value == none ? "" : " --%s %d".formatted(name, value);
  }

  /** Returns the name of a counter, quoted for a shell if necessary. */
  private static String quoted(String counter) {
    return counter.matches("[A-Za-z0-9_.:/@-]+")
        ? counter
        : "'%s'".formatted(counter.replace("'", "'\\''"));
  }

  /** Stores a plan if there is none, and divides an existing counter. */
  private void make(String counter) {
    ShardPlan undivided = ShardPlan.undivided(options.actTogether(), options.bounds());
    if (options.actTogether()) {
      boolean wasPlain = wasUsed(counter);
      ShardSnapshot now = snapshot(counter, undivided);
      if (now.planItem().isEmpty()) {
        divide(counter, now, undivided, options.shards(), wasPlain || now.wasAddedTo());
      }
      return;
    }
    if (wasUsed(counter) && stored(counter).isEmpty()) { // so it existed before any plan
      throw new NotAppliedException(
          Reason.DENIED,
          "counter %s was used without shards; only shards with bounds can take it over. Start"
                  .formatted(counter)
              + " without --shards, or with --floor or --ceiling too");
    }
    ShardPlan plan = new ShardPlan(options.shards(), 0, false, options.bounds(), false);
    store.write(put(counter, plan, new Condition.Absent()));
  }

  /** Returns whether the counter has a number or request ids; called while it has no plan. */
  private boolean wasUsed(String counter) {
    if (store.get(CounterItems.valueKey(counter)).isPresent()) {
      return true;
    }
    if (!store.profile().has(Capability.ORDERED_SCAN)) {
      return false; // such a store keeps request ids with the number
    }
    // Any item other than the plan counts.
    Scan some = Scan.all(CounterItems.partition(counter)).withPages(2);
    Optional<String> resume = Optional.empty();
    do {
      Page page = store.scan(resume.map(some::resumedAt).orElse(some));
      if (page.items().stream().anyMatch(item -> !ShardPlan.isPlan(item.key()))) {
        return true;
      }
      resume = page.resumeAt();
    } while (resume.isPresent());
    return false;
  }

  private static Write put(String counter, ShardPlan plan, Condition condition) {
    return new Write.Put(ShardPlan.key(counter), plan.fields(), condition);
  }

  /**
   * Returns the counter with its shards, by the stored plan or, if there is none, by the given one.
   */
  ShardSnapshot snapshot(String counter, ShardPlan guess) {
    ShardPlan plan = guess;
    for (int i = 0; i < TRIES_MAX; i++) {
      List<Key> keys = new ArrayList<>(List.of(ShardPlan.key(counter)));
      keys.addAll(plan.valueKeys(counter));
      List<Optional<Item>> found = store.getAll(keys);
      Optional<Item> stored = found.getFirst();
      ShardPlan now = stored.isPresent() ? checked(counter, ShardPlan.of(stored.get())) : guess;
      if (now.shards() == plan.shards()) {
        if (stored.isPresent()) {
          keep(counter, now);
        }
        return new ShardSnapshot(stored, now, found.subList(1, found.size()));
      }
      plan = now;
    }
    throw new NotAppliedException(
        Reason.THROTTLED,
        "gave up after %d attempts: the number of shards of %s changed during each read. Retry later"
            .formatted(TRIES_MAX, counter));
  }

  /** Raises the number of shards of a counter, if it has fewer. */
  void grow(String counter, int shards) {
    for (int i = 0; i < TRIES_MAX; i++) {
      ShardSnapshot now = snapshot(counter, of(counter));
      if (now.plan().shards() >= shards
          || divide(counter, now, now.plan(), shards, now.plan().wasPlain())) {
        return;
      }
    }
    throw new NotAppliedException(
        Reason.THROTTLED, "gave up dividing counter %s: contention".formatted(counter));
  }

  /**
   * Applies the bounds of the options to a counter that was divided within other bounds; returns
   * false if it has them already, or has no plan.
   */
  boolean rebound(String counter) {
    for (int i = 0; i < TRIES_MAX; i++) {
      Optional<Item> item = store.get(ShardPlan.key(counter));
      if (item.isEmpty()) {
        return false;
      }
      ShardPlan old = ShardPlan.of(item.get());
      if (!old.together() || !options.actTogether()) {
        throw new NotAppliedException(
            Reason.INVALID,
            "counter %s: changing bounds requires coordinated shards, both before and after"
                .formatted(counter));
      }
      if (old.bounds().equals(options.bounds())) {
        return false;
      }
      List<Key> keys = new ArrayList<>(List.of(ShardPlan.key(counter)));
      keys.addAll(old.valueKeys(counter));
      List<Optional<Item>> found = store.getAll(keys);
      ShardPlan others =
          new ShardPlan(old.shards(), old.epoch(), true, options.bounds(), old.wasPlain());
      ShardSnapshot now = new ShardSnapshot(item, others, found.subList(1, found.size()));
      checkInside(counter, now.total(), others.bounds(), Reason.INVALID);
      if (found.getFirst().equals(item)
          && divide(counter, now, others, old.shards(), old.wasPlain())) {
        return true;
      }
    }
    throw new NotAppliedException(
        Reason.THROTTLED, "gave up dividing counter %s: contention".formatted(counter));
  }

  /** Writes in one step the new plan, the new epoch in each shard, and an even part of the sum. */
  private boolean divide(
      String counter, ShardSnapshot now, ShardPlan old, int shards, boolean wasPlain) {
    long total = now.total();
    boolean isNew = !now.wasAddedTo();
    ShardPlan plan = old.grownTo(shards, wasPlain);
    checkInside(counter, total, plan.bounds(), Reason.DENIED);
    List<Write> batch = new ArrayList<>();
    Condition unchanged = Condition.unchanged(now.planItem());
    batch.add(put(counter, plan, unchanged));
    for (int shard = 0; shard < shards; shard++) {
      List<Change> changes = new ArrayList<>();
      changes.add(new Change.Put(ShardPlan.EPOCH, new Field.Number(plan.epoch())));
      if (!isNew) {
        long before = shard < old.shards() ? now.value(shard) : 0;
        long part = ShardPlan.share(total, shard, shards);
        changes.add(new Change.Add(CounterItems.VALUE, part - before));
      }
      batch.add(
          new Write.Update(plan.valueKey(counter, shard), changes, fence(plan, shard, now, isNew)));
    }
    boolean divided = store.writeAll(batch, null) instanceof WriteResult.Applied;
    if (divided) {
      keep(counter, plan);
    }
    return divided;
  }

  /**
   * Requires that the first shard of a new counter is unchanged: it may have a history otherwise.
   */
  private static Condition fence(ShardPlan plan, int shard, ShardSnapshot now, boolean isNew) {
    Condition local = plan.withinShare(shard);
    if (!isNew || shard >= now.shards().size()) {
      return local;
    }
    Condition unchanged = Condition.unchanged(now.shards().get(shard));
    return Condition.all(local, unchanged);
  }

  private static void checkInside(String counter, long total, Bounds bounds, Reason reason) {
    if (total < bounds.floor() || total > bounds.ceiling()) {
      throw new NotAppliedException(
          reason,
          "counter %s is %d, outside its bounds: %s; bring it back within them to divide it"
              .formatted(counter, total, text(bounds)));
    }
  }
}
