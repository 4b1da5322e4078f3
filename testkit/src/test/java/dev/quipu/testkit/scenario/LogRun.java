package dev.quipu.testkit.scenario;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/** A counter that is summarized and pruned while it is used, and read strongly and eventually. */
abstract class LogRun<C extends Counters> extends SharedRun<LogRun.Both<C>> {
  static final String COUNTER = "counter";
  static final Duration LAG = Duration.ofSeconds(5); // of the world's eventual reads

  final List<Request> requests = new ArrayList<>();
  private final long repeatedNanos;

  /** The counter as opened by a process. */
  record Both<C>(C strong, C eventual) {}

  /** A request, and what clients know about it. */
  static final class Request {
    final Add add;
    final long sentNanos;
    long ackedNanos = Long.MAX_VALUE;
    boolean isVoid; // it certainly has no effect
    boolean isCanceled; // and a client knows it
    boolean isCancelSent;
    private final List<Amount> amounts = new ArrayList<>();

    Request(Add add, long sentNanos) {
      this.add = add;
      this.sentNanos = sentNanos;
      amounts.add(new Amount(add.delta()));
    }

    boolean isAcked() {
      return ackedNanos < Long.MAX_VALUE;
    }

    LongStream since(long nanos) {
      return amounts.stream()
          .filter(each -> each.untilNanos >= nanos)
          .mapToLong(each -> each.value);
    }
  }

  /** The possible amounts of a request, until another amount is certain. */
  private static final class Amount {
    final long value;
    long untilNanos = Long.MAX_VALUE;

    Amount(long value) {
      this.value = value;
    }
  }

  /**
   * Creates a world.
   *
   * @param repeatedWithin maximum delay of repeats; 0 if requests have no ids
   */
  LogRun(World world, Duration sleepMax, Duration repeatedWithin, Function<Store, Both<C>> open) {
    super(world, sleepMax, open);
    this.repeatedNanos = repeatedWithin.toNanos();
  }

  /** Summarizes, sweeps, prunes or edits. */
  abstract void maintain(Client<Both<C>> client);

  /** Checks that everything unneeded is finally removed. */
  abstract void drain(Client<Both<C>> client);

  @Override
  void operation(Client<Both<C>> client) {
    int kind = random.nextInt(100);
    if (kind < 12) {
      read(client.own().strong, Duration.ZERO);
    } else if (kind < 22) {
      read(client.own().eventual, LAG);
    } else if (kind < 45) {
      maintain(client);
    } else {
      List<Request> known = requests.stream().filter(this::mayRepeat).toList();
      if (known.isEmpty() || kind < 75) {
        add(client, newRequest());
      } else if (kind < 93) {
        add(client, known.get(random.nextInt(known.size())));
      } else {
        askOrCancel(client, known.get(random.nextInt(known.size())), kind < 96);
      }
    }
  }

  final boolean mayRepeat(Request request) {
    return request.add.id() != null && nanos() < request.sentNanos + repeatedNanos;
  }

  private Request newRequest() {
    long delta = random.nextInt(4) == 0 ? -2 - random.nextInt(2) : 1 + random.nextInt(3);
    boolean hasId = repeatedNanos > 0 && random.nextInt(4) > 0;
    RequestId id = hasId ? RequestId.of("request-" + requests.size()) : null;
    Request request = new Request(new Add(COUNTER, delta, id), nanos());
    requests.add(request);
    return request;
  }

  private void add(Client<Both<C>> client, Request request) {
    boolean wasAcked = request.isAcked();
    AddResult result;
    try {
      result = client.own().strong.add(request.add);
    } catch (QuipuException e) {
      request.isVoid |= request.add.id() == null && e.outcome() == Outcome.NOT_APPLIED;
      throw e;
    }
    switch (result) {
      case AddResult.Applied applied -> {
        world.check(!wasAcked, "%s is applied twice", request.add);
        acked(request);
      }
      case AddResult.Replayed replayed -> acked(request);
      case AddResult.Conflict conflict -> world.check(false, "%s: %s", request.add, conflict);
      case AddResult.Rejected rejected ->
          world.check(
              rejected.why() == Rejection.CANCELED && request.isCancelSent && !wasAcked,
              "%s: %s",
              request.add,
              rejected);
    }
  }

  private void acked(Request request) {
    world.check(!request.isCanceled, "%s counts after its cancellation", request.add);
    request.ackedNanos = Math.min(request.ackedNanos, nanos());
  }

  private void askOrCancel(Client<Both<C>> client, Request request, boolean isCancel) {
    boolean wasAcked = request.isAcked();
    boolean wasCanceled = request.isCanceled;
    request.isCancelSent |= isCancel;
    RequestId id = RequestId.of("request-" + requests.indexOf(request));
    C counters = client.own().strong;
    RequestOutcome outcome =
        isCancel ? counters.cancel(COUNTER, id) : counters.outcome(COUNTER, id);
    switch (outcome) {
      case RequestOutcome.Applied applied -> acked(request);
      case RequestOutcome.Canceled canceled -> {
        world.check(!wasAcked && request.isCancelSent, "%s is canceled", request.add);
        request.isCanceled = true;
      }
      case RequestOutcome.NotSeen none ->
          world.check(!wasAcked && !wasCanceled && !isCancel, "%s is not seen", request.add);
    }
  }

  /** An eventual reading is of a moment that is at most the replication lag ago. */
  private void read(C counters, Duration behind) {
    long from = nanos() - behind.toNanos();
    Reading reading = counters.read(COUNTER).orElse(Reading.exact(0));
    long low = 0;
    long high = 0;
    for (Request each : requests) {
      if (!each.isVoid && !each.isCanceled) {
        boolean isThere = each.ackedNanos < from;
        LongSummaryStatistics all = each.since(from).summaryStatistics();
        low += isThere ? all.getMin() : Math.min(0, all.getMin());
        high += isThere ? all.getMax() : Math.max(0, all.getMax());
      }
    }
    boolean isOrdered = reading.low() <= reading.value() && reading.value() <= reading.high();
    world.check(
        isOrdered && reading.low() <= high && reading.high() >= low,
        "read %s, but the value was in %d..%d",
        reading,
        low,
        high);
  }

  /** Lets another amount count from now on; runs the request for it. */
  final void change(Request request, long amount, Supplier<Boolean> edit) {
    List<Amount> before = List.copyOf(request.amounts);
    Amount added = new Amount(amount);
    request.amounts.add(added);
    try {
      if (edit.get()) {
        before.forEach(each -> each.untilNanos = Math.min(each.untilNanos, nanos()));
      } else {
        request.amounts.remove(added);
      }
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        request.amounts.remove(added);
      }
      throw e;
    }
  }

  @Override
  void settle(Client<Both<C>> client) {
    for (Request request : List.copyOf(requests)) {
      if (mayRepeat(request) && !request.isCanceled) {
        add(client, request);
      }
    }
    sleep(client, LAG);
    checkAtRest(client);
    drain(client);
    checkAtRest(client);
  }

  private void checkAtRest(Client<Both<C>> client) {
    read(client.own().strong, Duration.ZERO);
    Reading reading = client.own().strong.read(COUNTER).orElse(Reading.exact(0));
    world.check(reading.low() == reading.high(), "at rest, but the value is %s", reading);
  }
}
