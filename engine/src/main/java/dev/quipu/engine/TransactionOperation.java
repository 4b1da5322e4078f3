package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.Limits;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.Transactions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A call about a transaction or a hold, as an operation with a result.
 *
 * @param <T> the type of the result
 */
public final class TransactionOperation<T> implements Operation {
  private final @Nullable RequestId id;
  private final ToIntFunction<CounterAccess> bytesMax;
  private final Function<CounterAccess, T> work;
  private @Nullable T result;
  private @Nullable RuntimeException failure;

  private TransactionOperation(
      @Nullable RequestId id,
      ToIntFunction<CounterAccess> bytesMax,
      Function<CounterAccess, T> work) {
    this.id = id;
    this.bytesMax = bytesMax;
    this.work = work;
  }

  /**
   * Returns {@link Transactions#commit}.
   *
   * @throws IllegalArgumentException as it does
   */
  public static TransactionOperation<TransactionResult> commit(RequestId id, List<Add> adds) {
    List<Add> checked = Transactions.check(List.copyOf(adds));
    return new TransactionOperation<>(
        id,
        access -> TransactionAccess.bytesMax(checked),
        access -> new TransactionAccess(access).commit(id, checked));
  }

  /** Returns {@link Transactions#outcome}. */
  public static TransactionOperation<TransactionOutcome> outcome(RequestId id) {
    return new TransactionOperation<>(
        id, access -> 0, access -> new TransactionAccess(access).outcome(id));
  }

  /** Returns {@link Transactions#cancel}. */
  public static TransactionOperation<TransactionOutcome> cancel(RequestId id) {
    return new TransactionOperation<>(
        id,
        access -> CounterAccess.bytesMax(1, 0),
        access -> new TransactionAccess(access).cancel(id));
  }

  /** Returns {@link Holds#place}. */
  public static TransactionOperation<HoldResult> place(HoldRequest request) {
    return new TransactionOperation<>(
        request.id(),
        access -> HoldAccess.bytesMax(request),
        access -> new HoldAccess(access).place(request));
  }

  /** Returns {@link Holds#settle}. */
  public static TransactionOperation<HoldResult> settle(RequestId id, Settlement settlement) {
    return onHold(id, access -> new HoldAccess(access).settle(id, settlement));
  }

  /** Returns {@link Holds#release}. */
  public static TransactionOperation<HoldResult> release(RequestId id) {
    return onHold(id, access -> new HoldAccess(access).release(id));
  }

  /** Returns {@link Holds#extend}. */
  public static TransactionOperation<HoldResult> extend(RequestId id, Duration ttl) {
    return onHold(id, access -> new HoldAccess(access).extend(id, ttl));
  }

  private static TransactionOperation<HoldResult> onHold(
      RequestId id, Function<CounterAccess, HoldResult> work) {
    return new TransactionOperation<>(id, access -> new HoldAccess(access).bytesMax(id), work);
  }

  /** Returns {@link Holds#find}. */
  public static TransactionOperation<Optional<HoldReading>> find(RequestId id) {
    return new TransactionOperation<>(id, access -> 0, access -> new HoldAccess(access).find(id));
  }

  /** Returns {@link Holds#list}. */
  public static TransactionOperation<List<HoldReading>> list(
      String counter, @Nullable RequestId after, int limit) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return new TransactionOperation<>(
        null, access -> 0, access -> new HoldAccess(access).list(counter, after, limit));
  }

  /** Returns {@link Holds#balance}. */
  public static TransactionOperation<Optional<Holds.Balance>> balance(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return new TransactionOperation<>(
        null, access -> 0, access -> new HoldAccess(access).balance(counter));
  }

  /**
   * Returns the result of an operation that was run.
   *
   * @throws RuntimeException the exception with which it failed; nothing has changed then
   */
  public T result() {
    if (failure != null) {
      throw failure;
    }
    return Objects.requireNonNull(result);
  }

  /** Prefetches what the call looks up, so that the cache misses of several calls overlap. */
  public void touch(CounterAccess access) {
    if (id != null) {
      access.expectId(id);
    }
  }

  @Override
  public int bytesMax(CounterAccess access) {
    return bytesMax.applyAsInt(access);
  }

  @Override
  public void on(CounterAccess access) {
    result = work.apply(access);
  }

  @Override
  public void failed(RuntimeException why) {
    failure = why;
  }
}
