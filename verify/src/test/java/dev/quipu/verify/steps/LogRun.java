package dev.quipu.verify.steps;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.Reading;
import dev.quipu.Refusal;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.store.Outcome;
import dev.quipu.store.Store;
import dev.quipu.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** A counter that is summed up and pruned while it is used, and read strongly and eventually. */
abstract class LogRun<C extends Counters> extends SharedRun<LogRun.Both<C>> {
  static final String COUNTER = "counter";
  static final Duration LAG = Duration.ofSeconds(5); // of the world's eventual reads

  final List<Request> requests = new ArrayList<>();
  private final long repeatedNanos;

  /** The counter as a process has it. */
  record Both<C>(C strong, C eventual) {}

  /** A request, and what clients know of it. */
  static final class Request {
    final Add add;
    final long sentNanos;
    long ackedNanos = Long.MAX_VALUE;
    boolean isVoid; // it certainly has no effect
    boolean isCancelled; // and a client knows it
    boolean isCancelSent;
    final List<Long> amounts = new ArrayList<>(); // that it may count, from now on

    Request(Add add, long sentNanos) {
      this.add = add;
      this.sentNanos = sentNanos;
      amounts.add(add.delta());
    }

    boolean isAcked() {
      return ackedNanos < Long.MAX_VALUE;
    }

    long least() {
      return amounts.stream().mapToLong(Long::longValue).min().orElse(0);
    }

    long most() {
      return amounts.stream().mapToLong(Long::longValue).max().orElse(0);
    }
  }

  /** What a request may have counted during a reading. */
  private static final class Range {
    long low;
    long high;
  }

  /**
   * Creates a world.
   *
   * @param repeatedWithin how long requests are repeated; 0 if they have no ids
   */
  LogRun(World world, Duration sleepMax, Duration repeatedWithin, Function<Store, Both<C>> open) {
    super(world, sleepMax, open);
    this.repeatedNanos = repeatedWithin.toNanos();
  }

  /** Sums up, sweeps, prunes or edits. */
  abstract void maintain(Client<Both<C>> client);

  /** All that is stored and need not be is gone in the end. */
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
    } catch (StoreException e) {
      request.isVoid |= request.add.id() == null && e.outcome() == Outcome.NOT_APPLIED;
      throw e;
    }
    switch (result) {
      case AddResult.Applied applied -> {
        check(!wasAcked, "%s is applied twice", request.add);
        acked(request);
      }
      case AddResult.Replayed replayed -> acked(request);
      case AddResult.Conflict conflict -> check(false, "%s: %s", request.add, conflict);
      case AddResult.Refused refused ->
          check(
              refused.why() == Refusal.SEALED && request.isCancelSent && !wasAcked,
              "%s: %s",
              request.add,
              refused);
    }
  }

  private void acked(Request request) {
    check(!request.isCancelled, "%s counts after its cancellation", request.add);
    request.ackedNanos = Math.min(request.ackedNanos, nanos());
  }

  private void askOrCancel(Client<Both<C>> client, Request request, boolean isCancel) {
    boolean wasAcked = request.isAcked();
    boolean wasCancelled = request.isCancelled;
    request.isCancelSent |= isCancel;
    RequestId id = RequestId.of("request-" + requests.indexOf(request));
    C counters = client.own().strong;
    RequestOutcome outcome = isCancel ? counters.seal(COUNTER, id) : counters.outcome(COUNTER, id);
    switch (outcome) {
      case RequestOutcome.Applied applied -> acked(request);
      case RequestOutcome.Sealed sealed -> {
        check(!wasAcked && request.isCancelSent, "%s is cancelled", request.add);
        request.isCancelled = true;
      }
      case RequestOutcome.NotSeen none ->
          check(!wasAcked && !wasCancelled && !isCancel, "%s is not seen", request.add);
    }
  }

  /** An eventual reading is of a moment that may be as long ago as replicas are behind. */
  private void read(C counters, Duration behind) {
    long from = nanos() - behind.toNanos();
    Map<Request, Range> before = new HashMap<>();
    for (Request each : requests) {
      Range range = new Range();
      range.low = least(each, from);
      range.high = most(each, from);
      before.put(each, range);
    }
    Reading reading = counters.read(COUNTER).orElse(Reading.exact(0));
    long low = 0;
    long high = 0;
    for (Request each : requests) {
      Range range = before.getOrDefault(each, new Range());
      low += Math.min(range.low, least(each, from));
      high += Math.max(range.high, most(each, from));
    }
    boolean isOrdered = reading.low() <= reading.value() && reading.value() <= reading.high();
    check(
        isOrdered && reading.low() <= high && reading.high() >= low,
        "read %s, and the value was in %d..%d",
        reading,
        low,
        high);
  }

  /** What it counts at least, of all that it was from a moment until now. */
  private static long least(Request request, long fromNanos) {
    boolean isThere = request.ackedNanos < fromNanos;
    return request.isVoid || request.isCancelled ? 0 : isThere ? request.least() : min(request);
  }

  private static long min(Request request) {
    return Math.min(0, request.least());
  }

  private static long most(Request request, long fromNanos) {
    boolean isThere = request.ackedNanos < fromNanos;
    return request.isVoid || request.isCancelled
        ? 0
        : isThere ? request.most() : Math.max(0, request.most());
  }

  /** Another amount may count from now on; runs what asks for it. */
  final void change(Request request, long amount, Supplier<Boolean> edit) {
    List<Long> before = List.copyOf(request.amounts);
    request.amounts.add(amount);
    try {
      if (edit.get()) {
        afterLag(
            () -> request.amounts.removeAll(before.stream().filter(a -> a != amount).toList()));
      } else {
        request.amounts.remove(amount);
      }
    } catch (StoreException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        request.amounts.remove(amount);
      }
      throw e;
    }
  }

  private void afterLag(Runnable work) {
    world.scheduler.after(LAG, work);
  }

  @Override
  void settle(Client<Both<C>> client) {
    for (Request request : List.copyOf(requests)) {
      if (mayRepeat(request) && !request.isCancelled) {
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
    check(reading.low() == reading.high(), "at rest, and the value is %s", reading);
  }
}
