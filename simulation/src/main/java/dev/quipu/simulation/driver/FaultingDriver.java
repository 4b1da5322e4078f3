package dev.quipu.simulation.driver;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A driver whose calls fail at random, and which keeps a ledger of what actually reached the store.
 * Thread-safe.
 */
public final class FaultingDriver implements BatchDriver, ScanDriver {
  private static final int DELAYED_CALLS = 8; // number of later calls that precede it

  private final StoreDriver driver;
  private final RandomGenerator random;
  private final List<Fault> faults;
  private final Runnable beforeEach;
  private final Map<Fault, Integer> fired = new EnumMap<>(Fault.class);
  private final Queue<Delayed> delayed = new ArrayDeque<>();
  private double rate;
  private int applied;
  private long calls;

  private record Delayed(long call, Supplier<WriteResult> write) {}

  /** Injects the faults of a simulation; see the other constructor. */
  public FaultingDriver(
      StoreDriver driver, RandomGenerator random, double rate, Runnable beforeEach) {
    this(driver, random, rate, Fault.PLAIN, beforeEach);
  }

  /**
   * Injects faults with a probability.
   *
   * @param rate from 0 (never) to 1 (always)
   * @param faults the faults of writes, equally likely; reads are throttled, if that is among them
   * @param beforeEach runs before each call, for example to switch to another client
   */
  public FaultingDriver(
      StoreDriver driver,
      RandomGenerator random,
      double rate,
      List<Fault> faults,
      Runnable beforeEach) {
    this.driver = driver;
    this.random = random;
    this.rate = rate;
    this.faults = List.copyOf(faults);
    this.beforeEach = beforeEach;
  }

  /** Ends all faults; delayed requests have reached the store when this returns. */
  public void heal() {
    synchronized (this) {
      rate = 0;
    }
    for (Delayed late = due(Long.MAX_VALUE); late != null; late = due(Long.MAX_VALUE)) {
      again(late.write);
    }
  }

  /** Returns how often each fault occurred. */
  public synchronized Map<Fault, Integer> fired() {
    return Map.copyOf(fired);
  }

  /**
   * Returns the writes and batches that the store applied, regardless of what was reported to the
   * caller.
   */
  public synchronized int applied() {
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
    return read(() -> BatchDriver.of(driver).getAll(keys));
  }

  @Override
  public Page scan(Scan scan) {
    return read(() -> ScanDriver.of(driver).scan(scan));
  }

  @Override
  public WriteResult write(Write write) {
    return change(() -> driver.write(write));
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return change(() -> BatchDriver.of(driver).writeAll(writes, token));
  }

  @Override
  public Instant intactSince() {
    return driver.intactSince();
  }

  @Override
  public void close() {
    driver.close();
  }

  private <T> T read(Supplier<T> call) {
    beforeEach.run();
    synchronized (this) {
      if (faults.contains(Fault.THROTTLED) && random.nextDouble() < rate) {
        note(Fault.THROTTLED);
        throw new NotAppliedException(Reason.THROTTLED, "simulated: no answer to a read");
      }
    }
    return call.get();
  }

  private WriteResult change(Supplier<WriteResult> call) {
    beforeEach.run();
    Delayed late = due(nextCall());
    if (late != null) {
      again(late.write);
    }
    Optional<Fault> drawn = draw();
    if (drawn.isEmpty()) {
      return applied(call.get());
    }
    return switch (drawn.get()) {
      case THROTTLED -> throw new NotAppliedException(Reason.THROTTLED, "simulated: throttled");
      case LOST_REQUEST ->
          throw new OutcomeUnknownException(
              Reason.UNAVAILABLE, "simulated: a request is lost", null);
      case LOST_REPLY -> {
        applied(call.get());
        throw new OutcomeUnknownException(Reason.UNAVAILABLE, "simulated: a reply is lost", null);
      }
      case DELAYED -> {
        delay(call);
        throw new OutcomeUnknownException(Reason.TIMEOUT, "simulated: a request is late", null);
      }
      case DUPLICATE -> {
        WriteResult first = applied(call.get());
        again(call);
        yield first;
      }
      case CLIENT_REPEATS -> {
        applied(call.get());
        WriteResult second = applied(call.get());
        if (second instanceof WriteResult.ConditionFailed) {
          // It may have failed because of its own first attempt: a driver must not report that as a
          // failure.
          throw new OutcomeUnknownException(
              Reason.UNAVAILABLE, "simulated: the client repeated", null);
        }
        yield second;
      }
    };
  }

  private synchronized Optional<Fault> draw() {
    if (random.nextDouble() >= rate) {
      return Optional.empty();
    }
    Fault fault = faults.get(random.nextInt(faults.size()));
    note(fault);
    return Optional.of(fault);
  }

  private void note(Fault fault) {
    fired.merge(fault, 1, Integer::sum);
  }

  private synchronized long nextCall() {
    return ++calls;
  }

  private synchronized void delay(Supplier<WriteResult> call) {
    delayed.add(new Delayed(calls + DELAYED_CALLS, call));
  }

  private synchronized @Nullable Delayed due(long call) {
    Delayed first = delayed.peek();
    return first != null && first.call <= call ? delayed.poll() : null;
  }

  /** Repeats a call and ignores the result. */
  private void again(Supplier<WriteResult> call) {
    try {
      applied(call.get());
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.UNKNOWN) {
        throw e; // otherwise the ledger would be wrong
      }
    }
  }

  private synchronized WriteResult applied(WriteResult result) {
    applied += result instanceof WriteResult.Applied ? 1 : 0;
    return result;
  }
}
