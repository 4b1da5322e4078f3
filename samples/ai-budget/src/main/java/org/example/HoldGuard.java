package org.example;

import dev.quipu.Add;
import dev.quipu.Decimal;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * Budgets as counters of a server, in dollars with six digits after the point: a call reserves by
 * one hold over all of them.
 */
final class HoldGuard implements Guard {
  /** Much longer than any call: a crashed gateway has a successor before it ends. */
  private static final Duration TTL = Duration.ofMinutes(10);

  private static final int PAGE = 100;

  private final Quipu quipu;
  private final Holds holds;

  HoldGuard(URI server) {
    this.quipu = Quipu.connect(server);
    this.holds = quipu.part(Holds.class);
  }

  /**
   * Repeats a call without a reply: under its id, it has its effect once. A cancellation of the
   * caller does not end this.
   */
  private static <T> T definite(Supplier<T> call) {
    boolean isCanceled = false;
    try {
      while (true) {
        try {
          return call.get();
        } catch (QuipuException e) {
          if (!e.reason().isTemporary()) {
            throw e;
          }
          isCanceled |= Thread.interrupted();
        }
      }
    } finally {
      if (isCanceled) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Returns an amount as the exact decimal that the server counts. */
  private static Decimal dollars(long micros) {
    return new Decimal(micros, 6);
  }

  @Override
  public boolean reserve(String call, List<Budget> budgets, long most) {
    List<Add> adds =
        budgets.stream()
            .map(each -> Add.of(each.counter(), dollars(most), null, dollars(each.limit()), null))
            .toList();
    HoldRequest request =
        new HoldRequest(
            RequestId.of(call), adds, TTL, HoldRequest.Late.APPLY, HoldRequest.Excess.REJECT);
    return switch (definite(() -> holds.place(request))) {
      case HoldResult.Rejected rejected -> false;
      case HoldResult result -> result.orElseThrow().hold().state() == HoldReading.State.OPEN;
    };
  }

  /** Settles within what was reserved, also after the hold has expired. */
  @Override
  public void settle(String call, List<Budget> budgets, long reserved, long cost) {
    HoldResult.Done done =
        definite(() -> holds.settle(RequestId.of(call), Settlement.each(dollars(cost))))
            .orElseThrow();
    if (done.hold().isLate()) {
      System.err.println("settled after its hold expired: " + call);
    }
  }

  /**
   * Settles what the model billed. Any process may do so at any time, since a settlement has its
   * effect once.
   */
  @Override
  public void recover(List<Budget> budgets, ModelClient model, boolean isLast)
      throws InterruptedException {
    RequestId after = null;
    List<HoldReading> page;
    do {
      RequestId from = after;
      page = definite(() -> holds.list(budgets.getFirst().counter(), from, PAGE));
      for (HoldReading hold : page) {
        recover(hold.id(), model.billed(hold.id().text()), isLast);
        after = hold.id();
      }
    } while (page.size() == PAGE);
  }

  private void recover(RequestId call, OptionalLong cost, boolean isLast) {
    if (cost.isPresent() || isLast) {
      HoldResult result =
          definite(() ->
              cost.isPresent()
                  ? holds.settle(call, Settlement.each(dollars(cost.getAsLong())))
                  : holds.release(call));
      if (!(result instanceof HoldResult.Closed)) { // its gateway is alive and was faster
        result.orElseThrow();
      }
    }
  }

  @Override
  public long spent(Budget budget) {
    return definite(() -> holds.balance(budget.counter())).map(Holds.Balance::value).orElse(0L);
  }

  @Override
  public long held(Budget budget) {
    return definite(() -> holds.balance(budget.counter())).map(Holds.Balance::held).orElse(0L);
  }

  @Override
  public void close() {
    quipu.close();
  }
}
