package dev.quipu.verify.simulate;

import dev.quipu.store.Consistency;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Page;
import dev.quipu.store.Reason;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreException;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A driver whose calls go wrong by chance, and which keeps a ledger of what really reached the
 * store.
 */
public final class FaultingDriver implements StoreDriver {
  private static final List<Fault> FAULTS = List.of(Fault.values());

  private final StoreDriver driver;
  private final RandomGenerator random;
  private final Runnable beforeEach;
  private final Map<Fault, Integer> fired = new EnumMap<>(Fault.class);
  private double rate;
  private int applied;

  /**
   * Goes wrong with this probability.
   *
   * @param rate from 0 (never) to 1 (always)
   * @param beforeEach what happens before each call, for example another client's turn
   */
  public FaultingDriver(
      StoreDriver driver, RandomGenerator random, double rate, Runnable beforeEach) {
    this.driver = driver;
    this.random = random;
    this.rate = rate;
    this.beforeEach = beforeEach;
  }

  /** From now on, nothing goes wrong. */
  public void heal() {
    rate = 0;
  }

  /** How often each fault happened. */
  public Map<Fault, Integer> fired() {
    return Map.copyOf(fired);
  }

  /** Writes and batches that the store applied, whatever the caller heard. */
  public int applied() {
    return applied;
  }

  @Override
  public StoreProfile profile() {
    return driver.profile();
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return read(() -> driver.get(key, consistency));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return read(() -> driver.getAll(keys));
  }

  @Override
  public Page scan(Scan scan) {
    return read(() -> driver.scan(scan));
  }

  @Override
  public WriteResult write(Write write) {
    return change(() -> driver.write(write));
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return change(() -> driver.writeAll(writes, token));
  }

  @Override
  public void close() {
    driver.close();
  }

  private <T> T read(Supplier<T> call) {
    beforeEach.run();
    if (random.nextDouble() < rate) {
      fired.merge(Fault.THROTTLED, 1, Integer::sum);
      throw StoreException.notApplied(Reason.THROTTLED, "simulated: no answer to a read");
    }
    return call.get();
  }

  private WriteResult change(Supplier<WriteResult> call) {
    beforeEach.run();
    if (random.nextDouble() >= rate) {
      return applied(call.get());
    }
    Fault fault = FAULTS.get(random.nextInt(FAULTS.size()));
    fired.merge(fault, 1, Integer::sum);
    switch (fault) {
      case THROTTLED -> throw StoreException.notApplied(Reason.THROTTLED, "simulated: throttled");
      case LOST_REQUEST ->
          throw StoreException.unknown(Reason.UNAVAILABLE, "simulated: a request is lost", null);
      case LOST_REPLY -> {
        applied(call.get());
        throw StoreException.unknown(Reason.UNAVAILABLE, "simulated: a reply is lost", null);
      }
    }
    throw new IllegalStateException("no such fault: " + fault);
  }

  private WriteResult applied(WriteResult result) {
    applied += result instanceof WriteResult.Applied ? 1 : 0;
    return result;
  }
}
