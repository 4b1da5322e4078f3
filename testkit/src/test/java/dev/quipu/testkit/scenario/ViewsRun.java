package dev.quipu.testkit.scenario;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Views of one page, delivered several times each, that are remembered forever or for a while. */
final class ViewsRun extends SharedRun<ViewCounter> {
  private static final String PAGE = "https://a.example/page";
  private static final Instant TIME = Instant.parse("2026-11-22T10:00:00Z");
  private static final int EVENTS = 6;
  static final Duration KEEP = Duration.ofMinutes(10);

  private final Optional<Duration> keep;
  private final long skewNanos;
  private final long lateNanos;
  private final List<Call> calls = new ArrayList<>();

  /** One delivery of an event. */
  private static final class Call {
    final int event;
    final long start;
    long end = Long.MAX_VALUE; // it may still count
    Optional<Boolean> counted = Optional.empty(); // if that is known

    Call(int event, long start) {
      this.event = event;
      this.start = start;
    }
  }

  ViewsRun(long seed, Optional<Duration> keep, LinkFaults faults, Duration skew) {
    super(
        new World(seed, faults, skew, World.Limit.NONE),
        keep.orElse(KEEP).multipliedBy(2),
        store ->
            new ViewCounter(store, keep.map(ViewOptions.EXACT::keeping).orElse(ViewOptions.EXACT)));
    this.keep = keep;
    this.skewNanos = skew.toNanos();
    this.lateNanos = faults.lateMax().toNanos();
  }

  @Override
  void operation(Client<ViewCounter> client) {
    int kind = random.nextInt(100);
    if (kind < 10) {
      read(client);
    } else if (kind < 20) {
      client.store().removeExpired(Duration.ofMinutes(1), 100);
    } else {
      add(client, random.nextInt(EVENTS));
    }
  }

  private static ViewEvent event(int number) {
    return new ViewEvent(PAGE, TIME.plusSeconds(number), "client");
  }

  private void add(Client<ViewCounter> client, int event) {
    Call call = new Call(event, nanos());
    calls.add(call);
    try {
      boolean isCounted = client.own().add(event(event));
      call.end = nanos();
      call.counted = Optional.of(isCounted);
      world.check(
          calls.stream().anyMatch(other -> isReason(other, call)),
          "event %d, %s, cannot be answered so",
          event,
          isCounted);
      if (isCounted) {
        calls.stream()
            .filter(other -> other != call && other.event == event)
            .filter(other -> other.counted.equals(Optional.of(true)))
            .forEach(
                other -> world.check(mayBothCount(other, call), "event %d counts twice", event));
      }
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        calls.remove(call);
      }
      throw e;
    }
  }

  /** Returns whether another call explains that this one did not count. */
  private boolean isReason(Call other, Call call) {
    if (call.counted.equals(Optional.of(true))) {
      return other == call;
    }
    boolean isKept =
        keep.isEmpty() || other.start + keep.get().toNanos() + 2 * skewNanos >= call.start;
    return other != call && other.event == call.event && mayCount(other) && isKept;
  }

  /** A late request of a call that found the marker counts if that marker has expired meanwhile. */
  private boolean mayCount(Call call) {
    return !call.counted.equals(Optional.of(false))
        || (keep.isPresent()
            && calls.stream()
                .filter(first -> first.event == call.event && first.start < call.start)
                .anyMatch(first ->
                    call.end + lateNanos >= first.start + keep.get().toNanos() - 2 * skewNanos));
  }

  private boolean mayBothCount(Call one, Call other) {
    Call first = one.start <= other.start ? one : other;
    Call last = first == one ? other : one;
    return keep.isPresent() && last.end >= first.start + keep.get().toNanos() - 2 * skewNanos;
  }

  private long sure() {
    return calls.stream().filter(call -> call.counted.equals(Optional.of(true))).count();
  }

  private long most() {
    return calls.stream().filter(this::mayCount).count();
  }

  private void read(Client<ViewCounter> client) {
    long least = sure();
    long count = client.own().count(PAGE).orElse(0);
    world.check(count >= least && count <= most(), "%d views, not %d to %d", count, least, most());
  }

  @Override
  void settle(Client<ViewCounter> client) {
    read(client);
    if (keep.isEmpty()) {
      for (int event = 0; event < EVENTS; event++) {
        add(client, event);
      }
      read(client);
      long count = client.own().count(PAGE).orElse(0);
      world.check(count == EVENTS, "%d views of %d events", count, EVENTS);
      world.check(count == client.own().count(PAGE, Optional.empty(), Optional.empty()), "markers");
      return;
    }
    sleep(client, KEEP.multipliedBy(3));
    client.store().removeExpired(Duration.ofMinutes(1), 1_000);
    int left = ScanDriver.of(world.store).scan(Scan.all("views/" + PAGE)).items().size();
    world.check(left <= 1, "%d items stay beside the number", left - 1);
    long before = client.own().count(PAGE).orElse(0);
    for (int event = 0; event < EVENTS; event++) {
      add(client, event);
    }
    long more = client.own().count(PAGE).orElse(0) - before;
    world.check(more == EVENTS, "%d of %d events counted again", more, EVENTS);
  }
}
