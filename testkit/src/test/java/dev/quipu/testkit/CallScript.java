package dev.quipu.testkit;

import dev.quipu.OutcomeUnknownException;
import dev.quipu.Reason;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Events around the calls of one client, in the order in which a test declares them: another
 * client's action before a read or a write, a write that arrives late, a lost reply. Each event
 * occurs once.
 */
final class CallScript implements InterceptingDriver.Interceptor {
  private final List<Step> steps = new ArrayList<>();
  private final List<Supplier<WriteResult>> late = new ArrayList<>();

  private enum Kind {
    BEFORE,
    AFTER,
    LATE,
    REPLY_LOST
  }

  private record Step(Kind kind, Predicate<List<Write>> when, Runnable action) {}

  /** Returns the driver of the client. */
  StoreDriver around(StoreDriver driver) {
    return new InterceptingDriver(driver, this);
  }

  /** Adds another client's action before the next write of this kind. */
  CallScript before(Predicate<List<Write>> when, Runnable action) {
    steps.add(new Step(Kind.BEFORE, when, action));
    return this;
  }

  /** Adds another client's action after the next write of this kind, before its reply arrives. */
  CallScript after(Predicate<List<Write>> when, Runnable action) {
    steps.add(new Step(Kind.AFTER, when, action));
    return this;
  }

  /** Delays the next write of this kind until {@link #arrive}. */
  CallScript late(Predicate<List<Write>> when) {
    steps.add(new Step(Kind.LATE, when, () -> {}));
    return this;
  }

  /** Loses the reply to the next write of this kind, which is applied. */
  CallScript replyLost(Predicate<List<Write>> when) {
    steps.add(new Step(Kind.REPLY_LOST, when, () -> {}));
    return this;
  }

  /** Adds another client's action before the next read. */
  CallScript beforeRead(Runnable action) {
    return before(List::isEmpty, action);
  }

  /** Adds another client's action after the next read, before its reply arrives. */
  CallScript afterRead(Runnable action) {
    return after(List::isEmpty, action);
  }

  /** Returns whether all declared events have occurred. */
  boolean isDone() {
    return steps.isEmpty();
  }

  /**
   * Delivers the delayed writes now, in order.
   *
   * @return the store's replies, which no client receives
   */
  List<WriteResult> arrive() {
    List<WriteResult> answers = late.stream().map(Supplier::get).toList();
    late.clear();
    return answers;
  }

  /** Returns whether writes go to partitions with this prefix. */
  static Predicate<List<Write>> to(String partition) {
    return writes -> !writes.isEmpty() && writes.getFirst().key().partition().startsWith(partition);
  }

  @Override
  public <T> T call(Supplier<T> call) {
    next(List.of(), Kind.BEFORE).ifPresent(Runnable::run);
    T answer = call.get();
    next(List.of(), Kind.AFTER).ifPresent(Runnable::run);
    return answer;
  }

  @Override
  public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
    next(writes, Kind.BEFORE).ifPresent(Runnable::run);
    if (next(writes, Kind.LATE).isPresent()) {
      late.add(call);
      throw new OutcomeUnknownException(Reason.TIMEOUT, "a request is late", null);
    }
    WriteResult result = call.get();
    next(writes, Kind.AFTER).ifPresent(Runnable::run);
    if (next(writes, Kind.REPLY_LOST).isPresent()) {
      throw new OutcomeUnknownException(Reason.UNAVAILABLE, "a reply is lost", null);
    }
    return result;
  }

  /** Only the first remaining event may occur, so that the order is the declared one. */
  private Optional<Runnable> next(List<Write> writes, Kind kind) {
    if (steps.isEmpty() || steps.getFirst().kind != kind || !steps.getFirst().when.test(writes)) {
      return Optional.empty();
    }
    return Optional.of(steps.removeFirst().action);
  }
}
