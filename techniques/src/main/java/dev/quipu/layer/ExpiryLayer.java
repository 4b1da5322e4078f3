package dev.quipu.layer;

import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Hides expired items; a write under {@link Condition.Absent} replaces an expired item. */
final class ExpiryLayer extends Layer {
  private final RetryLayer retry;
  private final Clock clock;
  private volatile boolean isPaused;

  ExpiryLayer(RetryLayer retry, Clock clock) {
    super(retry);
    this.retry = retry;
    this.clock = clock;
  }

  /** Pauses expiry: until resumed, no item counts as expired, and none is removed for it. */
  void pause(boolean isPaused) {
    this.isPaused = isPaused;
  }

  /** Returns the layer below, which does not hide expired items. */
  RetryLayer below() {
    return retry;
  }

  Instant now() {
    return Instant.ofEpochMilli(clock.epochMillis());
  }

  private Instant expiryNow() {
    return isPaused ? Instant.MIN : now();
  }

  /** Returns the item unless it has expired. */
  Optional<Item> alive(Optional<Item> found) {
    return found.filter(item -> !item.isExpired(expiryNow()));
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return alive(super.get(key, consistency));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return eachAlive(super.getAll(keys));
  }

  @Override
  public List<Optional<Item>> getEach(List<Key> keys) {
    return eachAlive(super.getEach(keys));
  }

  private List<Optional<Item>> eachAlive(List<Optional<Item>> items) {
    Instant now = expiryNow();
    return items.stream().map(found -> found.filter(item -> !item.isExpired(now))).toList();
  }

  @Override
  public Page scan(Scan scan) {
    Page page = super.scan(scan);
    Instant now = expiryNow();
    return new Page(
        page.items().stream().filter(item -> !item.isExpired(now)).toList(), page.resumeAt());
  }

  @Override
  public WriteResult write(Write write) {
    return replacingExpired(List.of(write), writes -> super.write(writes.getFirst()));
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return replacingExpired(writes, all -> super.writeAll(all, token));
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    return isPaused ? 0 : super.removeExpired(before, itemsMax);
  }

  /**
   * Writes as if expired items were missing. The driver evaluates conditions as if they were not
   * expired, so a write that meets an expired item is sent again in the form that replaces exactly
   * that item. If the item is gone by then, removed or replaced by another client, the write is
   * evaluated again: otherwise a condition that failed on a missing item would look like one that
   * failed on an existing item.
   */
  private WriteResult replacingExpired(
      List<Write> writes, Function<List<Write>, WriteResult> driverCall) {
    RetryPolicy.Attempts attempts = retry.contention(); // for contention, not for failures
    List<Write> next = writes;
    for (int round = 1; ; round++) {
      List<Write> sent = next;
      WriteResult result = driverCall.apply(sent);
      if (!(result instanceof WriteResult.ConditionFailed failed)) {
        return result;
      }
      Optional<Item> alive = alive(failed.found());
      int at = indexOf(writes, failed.key());
      Write write = writes.get(at);
      boolean isReplacement = !sent.get(at).equals(write);
      boolean isDecided = alive.isPresent() && !isReplacement;
      if (isDecided || !(isReplacement ? holdsAnew(write, alive) : write.holdsOn(alive))) {
        return new WriteResult.ConditionFailed(failed.key(), alive);
      }
      if (round > writes.size() && !attempts.again()) {
        throw failed.key().contended(attempts.toString());
      }
      next = new ArrayList<>(sent);
      boolean isExpired = failed.found().isPresent() && alive.isEmpty();
      next.set(at, isExpired ? inPlaceOf(failed.found().get(), write) : write);
    }
  }

  /** Returns whether a write holds on the current state, without the expired item. */
  private static boolean holdsAnew(Write write, Optional<Item> alive) {
    return write.holdsOn(alive);
  }

  /** Returns the write as if the expired item were missing, conditional on exactly that item. */
  private static Write inPlaceOf(Item expired, Write write) {
    Condition unchanged = new Condition.VersionIs(expired.version());
    return switch (write.applyTo(Optional.empty(), new Version(""))) {
      case Write.Effect.Unmet unmet -> write; // its condition fails on a missing item
      case Write.Effect.Now now ->
          now.item()
              .<Write>map(
                  item -> new Write.Put(item.key(), item.fields(), item.expiresAt(), unchanged))
              .orElse(new Write.Delete(write.key(), unchanged));
    };
  }

  private static int indexOf(List<Write> writes, Key key) {
    for (int i = 0; i < writes.size(); i++) {
      if (writes.get(i).key().equals(key)) {
        return i;
      }
    }
    throw new IllegalStateException("the driver returned a key that is not in the batch: " + key);
  }
}
