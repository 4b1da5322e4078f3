package dev.quipu.testkit.scenario;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Store;
import dev.quipu.simulation.steps.LinkFaults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One seed of one counter that several processes add to, with an oracle that knows all requests and
 * their results, and nothing about the technique.
 */
final class CounterRun {
  private static final String COUNTER = "counter";
  private static final int OPERATIONS = 220;
  private static final int EARLIER_MAX = 12;
  private static final Duration CALL_MAX = Duration.ofMinutes(10);
  private static final double REPEATED = 0.01; // writes that arrive twice

  /** Opens counters in a process. */
  interface Opener {
    Counters open(Store store, RandomGenerator random);
  }

  /** What is simulated: by default requests with ids, on a store with all capabilities. */
  static final class Subject {
    private final Opener opener;
    private boolean hasIds = true;
    private boolean cancels = true;
    private boolean hasOrder = true;
    private Bounds bounds = Bounds.none();
    private LinkFaults faults = LinkFaults.ALL.repeating(REPEATED);
    private Duration skewMax = Duration.ofMinutes(5);
    private @Nullable Duration repeatedWithin;
    private @Nullable Opener before;
    private @Nullable Consumer<Counters> more;
    private World.Limit limit = World.Limit.NONE;

    Subject(Opener opener) {
      this.opener = opener;
    }

    /** Sends requests once, without an id; no write arrives twice. */
    Subject withoutIds() {
      hasIds = false;
      cancels = false;
      faults = faults.repeating(0);
      return this;
    }

    /** Neither cancels requests nor reads their outcome. */
    Subject withoutCancellation() {
      cancels = false;
      return this;
    }

    /**
     * Allows a call to return "applied" for a request for which another call returned "replayed".
     */
    Subject withoutOrderOfAnswers() {
      hasOrder = false;
      return this;
    }

    /** Gives requests bounds, and deltas of both signs. */
    Subject within(Bounds all) {
      bounds = all;
      return this;
    }

    /** Uses other faults, and another maximum difference of a clock from the true time. */
    Subject under(LinkFaults others, Duration skew) {
      faults = others;
      skewMax = skew;
      return this;
    }

    /** Repeats requests for a limited time only. */
    Subject repeatedWithin(Duration window) {
      repeatedWithin = window;
      return this;
    }

    /** Lets one process use the counter in this way before. */
    Subject after(Opener other) {
      before = other;
      return this;
    }

    /** Adds concurrent actions of processes on the counter: growth, compaction. */
    Subject beside(Consumer<Counters> other) {
      more = other;
      return this;
    }

    /** Wraps the store with missing capabilities or a planted fault. */
    Subject on(World.Limit other) {
      limit = other;
      return this;
    }
  }

  /** One logical request, and what clients know about it. */
  private static final class Request {
    final int number;
    final long delta;
    final Bounds bounds;
    final long firstNanos;
    boolean isSent;
    boolean isApplied; // and a client knows it
    boolean wasFirst; // a call returned that it applied it
    boolean isCancelSent;
    boolean isCanceled; // and a client knows it

    Request(int number, long delta, Bounds bounds, long firstNanos) {
      this.number = number;
      this.firstNanos = firstNanos;
      this.delta = delta;
      this.bounds = bounds;
    }

    Add add(boolean hasId) {
      return new Add(COUNTER, delta, bounds, hasId ? id() : null);
    }

    RequestId id() {
      return RequestId.of("request-" + number);
    }

    @Override
    public String toString() {
      return "request-%d (%+d)".formatted(number, delta);
    }
  }

  /** The possible values during a call. */
  private record Range(long low, long high) {}

  private final Subject subject;
  private final World world;
  private final RandomGenerator random;
  private final List<Request> requests = new ArrayList<>();
  private int operations;

  private CounterRun(Subject subject, long seed) {
    this.subject = subject;
    this.world = new World(seed, subject.faults, subject.skewMax, subject.limit);
    this.random = world.random;
  }

  /** Runs a seed; returns the violations. */
  static List<String> run(Subject subject, long seed) {
    CounterRun run = new CounterRun(subject, seed);
    return run.world.checked(run::run);
  }

  private void run() {
    Opener before = subject.before;
    if (before != null) {
      Counters[] current = new Counters[1];
      int operationsBefore = random.nextInt(EARLIER_MAX);
      world.process(
          1,
          store -> current[0] = before.open(store, random),
          () -> client(current[0], operationsBefore));
      world.run();
    }
    int processes = 2 + random.nextInt(2);
    for (int i = 0; i < processes; i++) {
      Counters[] counters = new Counters[1];
      world.process(
          2 + random.nextInt(2),
          store -> counters[0] = subject.opener.open(store, random),
          () -> client(counters[0], OPERATIONS));
    }
    world.run();
    if (world.violations.isEmpty()) {
      world.calmly(store -> settle(subject.opener.open(store, random)));
    }
  }

  private void client(Counters own, int operationsMax) {
    while (operations < operationsMax && world.violations.isEmpty()) {
      operations++;
      long start = world.scheduler.nowNanos();
      operation(own, operationsMax);
      long nanos = world.scheduler.nowNanos() - start;
      if (nanos > CALL_MAX.toNanos()) {
        world.violation("a call took %s", Duration.ofNanos(nanos));
      }
    }
  }

  private void operation(Counters counters, int operationsMax) {
    int kind = random.nextInt(100);
    Consumer<Counters> more = subject.more;
    Optional<Request> known =
        requests.isEmpty()
            ? Optional.empty()
            : Optional.of(requests.get(random.nextInt(requests.size()))).filter(this::mayRepeat);
    if (kind < 20) {
      read(counters);
    } else if (kind < 24 && more != null && operationsMax == OPERATIONS) {
      World.quietly(() -> more.accept(counters));
    } else if (!subject.hasIds || known.isEmpty() || kind < 60) {
      add(counters, newRequest());
    } else if (kind < 85 || !subject.cancels) {
      add(counters, known.get());
    } else if (kind < 93) {
      cancel(counters, known.get());
    } else {
      ask(counters, known.get());
    }
  }

  private boolean mayRepeat(Request request) {
    Duration window = subject.repeatedWithin;
    return window == null || request.firstNanos + window.toNanos() > world.scheduler.nowNanos();
  }

  private Request newRequest() {
    boolean isBounded = !subject.bounds.isNone();
    long size = 1 + random.nextLong(5);
    long delta = isBounded && random.nextBoolean() ? -size : size;
    Request request =
        new Request(requests.size(), delta, subject.bounds, world.scheduler.nowNanos());
    requests.add(request);
    return request;
  }

  /**
   * The oracle's knowledge at the beginning of a call.
   *
   * @param sum sum of all acknowledged requests
   * @param decided acknowledged requests, and those with an acknowledged cancellation
   */
  private record Known(long sum, Set<Request> decided) {}

  private Known known() {
    long sum = 0;
    Set<Request> decided = new HashSet<>();
    for (Request each : requests) {
      sum += each.isApplied ? each.delta : 0;
      if (each.isApplied || each.isCanceled) {
        decided.add(each);
      }
    }
    return new Known(sum, decided);
  }

  /** Returns the possible values between a moment and now. */
  private Range range(Known before) {
    long low = before.sum;
    long high = before.sum;
    for (Request each : requests) {
      if (each.isSent && !before.decided.contains(each)) {
        low += Math.min(0, each.delta);
        high += Math.max(0, each.delta);
      }
    }
    return new Range(low, high);
  }

  private void add(Counters counters, Request request) {
    Known before = known();
    boolean wasApplied = request.isApplied;
    boolean wasCanceled = request.isCanceled;
    request.isSent = true;
    AddResult result;
    try {
      result = counters.add(request.add(subject.hasIds));
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED && !subject.hasIds) {
        request.isSent = false; // once, and not at all
      }
      return;
    }
    switch (result) {
      case AddResult.Applied applied -> {
        world.check(!request.wasFirst, "%s applied twice", request);
        world.check(
            !wasApplied || !subject.hasOrder, "%s applied after it was acknowledged", request);
        request.wasFirst = true;
        applied(request, wasCanceled, applied.added());
      }
      case AddResult.Replayed replayed -> applied(request, wasCanceled, replayed.added());
      case AddResult.Conflict conflict -> world.violation("%s: %s", request, conflict);
      case AddResult.Rejected rejected -> {
        world.check(!wasApplied, "%s was applied, now %s", request, rejected);
        if (rejected.why() == Rejection.CANCELED) {
          world.check(request.isCancelSent, "%s is canceled, but nobody requested that", request);
        } else {
          Range range = range(before);
          long least = range.low - Math.min(0, request.delta);
          long most = range.high - Math.max(0, request.delta);
          boolean isJustified =
              request.delta < 0
                  ? least + request.delta < request.bounds.floor()
                  : most + request.delta > request.bounds.ceiling();
          world.check(isJustified, "%s: %s, but the value was in %s", request, rejected, range);
          if (!subject.hasIds) {
            request.isSent = false;
          }
        }
      }
    }
  }

  private void applied(Request request, boolean wasCanceled, long added) {
    world.check(!wasCanceled, "%s is acknowledged after its cancellation was", request);
    world.check(added == request.delta, "%s added %d", request, added);
    request.isApplied = true;
  }

  private void cancel(Counters counters, Request request) {
    boolean wasApplied = request.isApplied;
    request.isCancelSent = true;
    World.quietly(() -> {
      switch (counters.cancel(COUNTER, request.id())) {
        case RequestOutcome.Canceled canceled -> {
          world.check(!wasApplied, "%s was acknowledged and is canceled", request);
          request.isCanceled = true;
        }
        case RequestOutcome.Applied applied -> {
          world.check(request.isSent, "%s was never sent and is applied", request);
          applied(request, false, applied.added());
        }
        case RequestOutcome.NotSeen none -> world.violation("canceled, not seen: %s", request);
      }
    });
  }

  private void ask(Counters counters, Request request) {
    boolean wasApplied = request.isApplied;
    boolean wasCanceled = request.isCanceled;
    World.quietly(() -> {
      switch (counters.outcome(COUNTER, request.id())) {
        case RequestOutcome.Canceled canceled ->
            world.check(request.isCancelSent && !wasApplied, "%s is canceled", request);
        case RequestOutcome.Applied applied -> applied(request, wasCanceled, applied.added());
        case RequestOutcome.NotSeen none ->
            world.check(!wasApplied && !wasCanceled, "%s is known and not seen", request);
      }
    });
  }

  private void read(Counters counters) {
    Known before = known();
    World.quietly(() -> {
      Reading reading = counters.read(COUNTER).orElse(Reading.exact(0));
      Range range = range(before);
      world.check(
          reading.low() <= range.high && reading.high() >= range.low,
          "read %s, but the value was in %s",
          reading,
          range);
    });
  }

  /** No more faults, and nothing in progress: all requests must reach a final state. */
  private void settle(Counters counters) {
    long sum = 0;
    long low = 0; // of requests whose outcome stays unknown
    long high = 0;
    for (Request request : List.copyOf(requests)) {
      if (!request.isSent) {
        continue;
      }
      boolean isKnown = subject.hasIds && mayRepeat(request);
      if (isKnown) {
        resolve(counters, request);
      }
      if (request.isApplied) {
        sum += request.delta;
      } else if (!isKnown && !request.isCanceled) {
        low += Math.min(0, request.delta);
        high += Math.max(0, request.delta);
      }
    }
    Reading reading = counters.read(COUNTER).orElse(Reading.exact(0));
    boolean isExact = reading.low() == reading.high() && reading.value() == reading.low();
    world.check(isExact, "at rest, but the value is %s", reading);
    world.check(
        sum + low <= reading.value() && reading.value() <= sum + high,
        "the value is %s, the requests add up to %d, and unknown ones to %d to %d",
        reading,
        sum,
        low,
        high);
    world.check(
        reading.value() >= subject.bounds.floor() && reading.value() <= subject.bounds.ceiling(),
        "the value is %s",
        reading);
  }

  private void resolve(Counters counters, Request request) {
    boolean wasApplied = request.isApplied;
    boolean wasCanceled = request.isCanceled;
    if (subject.cancels && random.nextBoolean()) {
      cancel(counters, request);
    } else {
      add(counters, request);
    }
    world.check(!(wasApplied && !request.isApplied), "%s is gone", request);
    world.check(!(wasCanceled && request.isApplied), "%s was canceled and is applied", request);
  }
}
