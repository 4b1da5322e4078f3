package dev.quipu.testkit.scenario;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.region.RegionLeases;
import dev.quipu.simulation.steps.SimProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * One seed of one counter that several regions count, with an oracle that knows all requests and
 * their results. Regions are cut off, lost, retired, and restored from backups; successors are lost
 * too; and two regions may retire each other.
 */
final class RegionsRun {
  private static final int OPERATIONS = 220;
  private static final int PIECES_MAX = 6; // maximum delta of a request
  private static final int SETTLES_MAX = 400;
  private static final Duration CALL_MAX = Duration.ofMinutes(10);

  /** Maximum pauses of a client between two requests: one is drawn, for runs of many minutes. */
  private static final int[] PACES = {2, 10, 20, 40}; // seconds

  /** Kinds of disturbances. */
  enum Kind {
    /** Regions are cut off from each other for a while. */
    PARTITIONS,
    /** Some regions are lost, or cut off for a long time, and retired. */
    RETIREMENT,
    /** One region is restored from a backup, and then retired. */
    RESTORE
  }

  private final Kind kind;
  private final Bounds bounds;
  private final RegionWorld world;
  private final RandomGenerator random;
  private final RegionsOperator operator;
  private final Duration pace;
  private final List<RegionRequest> requests = new ArrayList<>();
  private int operations;

  private RegionsRun(Kind kind, Bounds bounds, long seed) {
    this.kind = kind;
    this.world = new RegionWorld(seed, kind == Kind.PARTITIONS ? 3 : 3 + (int) (seed % 2), bounds);
    this.random = world.random;
    this.bounds = bounds;
    this.pace =
        Duration.ofSeconds(PACES[kind == Kind.PARTITIONS ? 0 : random.nextInt(PACES.length)]);
    this.operator = new RegionsOperator(world, this::isOver);
  }

  /** Runs a seed; returns the violations. */
  static List<String> run(Kind kind, Bounds bounds, long seed) {
    RegionsRun run = new RegionsRun(kind, bounds, seed);
    return run.world.checked(run::run);
  }

  private void run() {
    for (int region = 0; region < world.regions(); region++) {
      int home = region;
      for (int i = 0; i < 2; i++) {
        world.process(home, process -> clients(process, home));
      }
    }
    SimProcess own = world.beside(); // in no region, and never killed
    own.start(() -> operator.disturb(own, kind));
    world.run();
    if (world.violations.isEmpty()) {
      settle();
    }
  }

  private void clients(RegionWorld.Region process, int home) {
    process.startKeeper(() -> isOver());
    for (int i = 0; i < 2; i++) {
      process.start(() -> {
        while (!isOver() && world.violations.isEmpty()) {
          operation(process, home);
          process.pause(pace);
        }
      });
    }
  }

  private boolean isOver() {
    return operations >= OPERATIONS && (operator.isDisturbed || kind == Kind.PARTITIONS);
  }

  private void operation(RegionWorld.Region process, int home) {
    operations++;
    long start = world.nowNanos();
    int what = random.nextInt(100);
    Optional<RegionRequest> known =
        requests.isEmpty()
            ? Optional.empty()
            : Optional.of(requests.get(random.nextInt(requests.size())));
    if (what < 20) {
      read(process);
    } else if (what < 60 || known.isEmpty()) {
      add(process, home, newRequest(home));
    } else if (what < 85) {
      add(process, home, known.get());
    } else if (what < 93) {
      cancel(process, known.get());
    } else {
      ask(process, known.get());
    }
    Duration took = Duration.ofNanos(world.nowNanos() - start);
    world.check(took.compareTo(CALL_MAX) <= 0, "a call took %s", took);
  }

  private RegionRequest newRequest(int home) {
    long size = 1L + random.nextInt(PIECES_MAX);
    RequestId id = RequestId.of(world.name(home) + "/" + requests.size());
    RegionRequest request = new RegionRequest(id, home, random.nextBoolean() ? size : -size);
    requests.add(request);
    return request;
  }

  /** A region whose replica was restored may forget what was counted since the backup. */
  private boolean isUnpromised(RegionRequest request) {
    return request.home == operator.restored;
  }

  private void add(RegionWorld.Region process, int region, RegionRequest request) {
    boolean wasApplied = request.isApplied;
    boolean wasCanceled = request.isCanceled;
    long start = world.nowNanos();
    boolean wasAway = world.isLost(request.home) && region != request.home;
    request.isSent = true;
    AddResult result;
    try {
      result = process.counters().add(new Add(RegionWorld.COUNTER, request.delta, request.id));
    } catch (QuipuException e) {
      return;
    }
    if (isUnpromised(request)) {
      world.check(
          !(result instanceof AddResult.Applied)
              || start < operator.restoredNanos + RegionWorld.NOTICED.toNanos(),
          "%s applied in a replica that was restored",
          request);
      request.isApplied |= !(result instanceof AddResult.Rejected);
      return;
    }
    switch (result) {
      case AddResult.Applied applied -> {
        world.check(!wasApplied, "%s applied after it was acknowledged", request);
        world.check(!wasAway, "%s applied though its region is lost", request);
        applied(request, wasCanceled, applied.added());
      }
      case AddResult.Replayed replayed -> applied(request, wasCanceled, replayed.added());
      case AddResult.Conflict conflict -> world.violation("%s: %s", request, conflict);
      case AddResult.Rejected rejected -> {
        world.check(!wasApplied, "%s was applied, now %s", request, rejected);
        world.check(
            rejected.why() != Rejection.CANCELED || request.isCancelSent,
            "%s is canceled, but nobody requested that",
            request);
      }
    }
  }

  private void applied(RegionRequest request, boolean wasCanceled, long added) {
    world.check(!wasCanceled, "%s is acknowledged after its cancellation was", request);
    world.check(added == request.delta, "%s added %d", request, added);
    request.isApplied = true;
  }

  private void cancel(RegionWorld.Region process, RegionRequest request) {
    boolean wasApplied = request.isApplied;
    request.isCancelSent = true;
    RequestOutcome outcome;
    try {
      outcome = process.counters().cancel(RegionWorld.COUNTER, request.id);
    } catch (QuipuException e) {
      return;
    }
    if (isUnpromised(request)) {
      return;
    }
    switch (outcome) {
      case RequestOutcome.Canceled canceled -> {
        world.check(!wasApplied, "%s was acknowledged and is canceled", request);
        request.isCanceled = true;
      }
      case RequestOutcome.Applied applied -> applied(request, false, applied.added());
      case RequestOutcome.NotSeen none -> world.violation("canceled, not seen: %s", request);
    }
  }

  private void ask(RegionWorld.Region process, RegionRequest request) {
    boolean wasApplied = request.isApplied;
    boolean wasCanceled = request.isCanceled;
    RequestOutcome outcome;
    try {
      outcome = process.counters().outcome(RegionWorld.COUNTER, request.id);
    } catch (QuipuException e) {
      return;
    }
    if (isUnpromised(request)) {
      return;
    }
    switch (outcome) {
      case RequestOutcome.Canceled canceled ->
          world.check(request.isCancelSent && !wasApplied, "%s is canceled", request);
      case RequestOutcome.Applied applied -> applied(request, wasCanceled, applied.added());
      case RequestOutcome.NotSeen none ->
          world.check(!wasApplied && !wasCanceled, "%s is known and not seen", request);
    }
  }

  /** Returns the possible sums of a call, request by request. */
  private long[] range(Set<RegionRequest> decided, long sum) {
    long[] range = {sum, sum};
    for (RegionRequest each : requests) {
      if (each.isSent && !decided.contains(each)) {
        range[0] += Math.min(0, each.delta);
        range[1] += Math.max(0, each.delta);
      }
    }
    return range;
  }

  private void read(RegionWorld.Region process) {
    long sum = 0;
    Set<RegionRequest> decided = new HashSet<>();
    for (RegionRequest each : requests) {
      sum += each.isApplied ? each.delta : 0;
      if (each.isApplied || each.isCanceled) {
        decided.add(each);
      }
    }
    long start = world.nowNanos();
    Reading reading;
    try {
      reading = process.counters().read(RegionWorld.COUNTER).orElse(Reading.exact(0));
    } catch (QuipuException e) {
      return;
    }
    boolean isAfter = start >= operator.restoredNanos;
    boolean isDuring = !isAfter && world.nowNanos() >= operator.restoredNanos;
    if (isDuring || (isAfter && start - operator.restoredNanos < RegionWorld.NOTICED.toNanos())) {
      return;
    }
    long[] range = range(decided, sum);
    world.check(
        reading.low() <= range[1] && reading.high() >= range[0],
        "read %s, but the value was in %d..%d",
        reading,
        range[0],
        range[1]);
    world.check(
        isWithin(reading) || !reading.uncertainties().isEmpty(),
        "read %s beyond the bounds",
        reading);
  }

  /** Except for rights that a restored replica had again, and others had by then. */
  private boolean isWithin(Reading reading) {
    long twice = operator.twiceMax();
    return bounds.isNone()
        || (bounds.floor() - twice <= reading.value()
            && reading.value() <= bounds.ceiling() + twice);
  }

  /** No more faults, except permanent losses: all requests must reach a final state. */
  private void settle() {
    world.calm();
    if (operator.areEqual) {
      findRetired();
    }
    List<Integer> left = new ArrayList<>();
    for (int region = 0; region < world.regions(); region++) {
      if (!operator.gone.contains(region)) {
        left.add(region);
      }
    }
    int[] ready = new int[1];
    boolean[] isDone = new boolean[1];
    for (int region : left) {
      world.process(
          region,
          process -> {
            process.startKeeper(() -> isDone[0]);
            process.start(() -> {
              while (!process.leases().renewIfDue() && operator.gone.isEmpty()) {
                process.pause(Duration.ofSeconds(5));
              }
              ready[0]++;
              if (region == left.getFirst()) {
                while (ready[0] < left.size()) {
                  process.pause(Duration.ofSeconds(5));
                }
                try {
                  settle(process);
                } finally {
                  isDone[0] = true;
                }
              }
            });
          });
    }
    world.run();
  }

  private void settle(RegionWorld.Region process) {
    Set<String> destroyed = new HashSet<>();
    if (operator.gone.size() > 1) {
      operator.gone.forEach(region -> destroyed.add(world.name(region))); // too few remain to agree
    }
    for (int attempt = 0; !isRetired(process, destroyed); attempt++) {
      process.pause(Duration.ofSeconds(20));
      if (attempt > SETTLES_MAX) {
        for (int region : operator.gone) {
          process.counters().retire(world.name(region), destroyed); // states the reason
        }
      }
    }
    for (int attempt = 0; attempt < SETTLES_MAX && !renews(process); attempt++) {
      process.pause(Duration.ofSeconds(20));
    }
    for (int region : operator.gone) {
      process.counters().acceptLoss(world.name(region));
    }
    world.table.settle();
    long sum = 0;
    long least = 0;
    long most = 0;
    for (RegionRequest request : List.copyOf(requests)) {
      if (operator.gone.contains(request.home)) {
        if (operator.hasLost || request.isSent) {
          least += Math.min(0, request.delta);
          most += Math.max(0, request.delta);
        }
      } else if (request.isSent) {
        world.check(resolve(process, request), "%s cannot be resolved", request);
        sum += request.isApplied ? request.delta : 0;
      }
    }
    Reading reading = process.counters().read(RegionWorld.COUNTER).orElse(Reading.exact(0));
    world.check(
        reading.uncertainties().isEmpty() && isWithin(reading),
        "at rest, but the value is %s",
        reading);
    world.check(
        sum + least <= reading.value() && reading.value() <= sum + most,
        "the value is %s, the requests add up to %d and %d..%d of regions that are operator.gone",
        reading,
        sum,
        least,
        most);
    if (!operator.hasLost) {
      world.check(
          reading.value() == world.counted(requests.stream().map(each -> each.id).toList()),
          "the value is %s, and markers add up to %d",
          reading,
          world.counted(requests.stream().map(each -> each.id).toList()));
    }
    drain(process, reading.value());
  }

  private void findRetired() {
    world.process(
        0,
        process ->
            process.start(() -> {
              for (RegionLeases.Status status : process.leases().status()) {
                if (status.successor().isPresent()) {
                  operator.gone.add(world.number(status.region()));
                }
              }
            }));
    world.run();
    world.check(operator.gone.size() < 2, "two regions have retired each other");
  }

  private boolean isRetired(RegionWorld.Region process, Set<String> destroyed) {
    boolean all = true;
    for (int region : operator.gone) {
      all &=
          operator.retire(
              process, region, destroyed); // a later one may be what an earlier one lacks
    }
    return all;
  }

  private static boolean renews(RegionWorld.Region process) {
    try {
      return process.leases().renew();
    } catch (QuipuException e) {
      return false;
    }
  }

  /** Returns whether the outcome of a request is finally certain. */
  private boolean resolve(RegionWorld.Region process, RegionRequest request) {
    boolean wasApplied = request.isApplied;
    boolean wasCanceled = request.isCanceled;
    if (random.nextBoolean()) {
      cancel(process, request);
    } else {
      add(process, process.number(), request);
    }
    if (operator.gone.contains(request.home)) {
      return true;
    }
    world.check(!wasCanceled || !request.isApplied, "%s was canceled and is applied", request);
    return !wasApplied || request.isApplied;
  }

  /**
   * Checks that all rights exist, and none twice except those that a restored replica gave away
   * again.
   */
  private void drain(RegionWorld.Region process, long value) {
    if (bounds.isNone()) {
      return;
    }
    long left = value;
    for (long to : new long[] {bounds.floor(), bounds.ceiling()}) {
      if (to != left) {
        AddResult all = addOne(process, to - left);
        world.check(all instanceof AddResult.Applied, "from %d to %d: %s", left, to, all);
      }
      long beyond = 1 + operator.twiceMax();
      AddResult more = addOne(process, to == bounds.floor() ? -beyond : beyond);
      world.check(more instanceof AddResult.Rejected, "%d beyond %d: %s", beyond, to, more);
      left = to;
    }
  }

  private static AddResult addOne(RegionWorld.Region process, long delta) {
    return process.counters().add(new Add(RegionWorld.COUNTER, delta, null));
  }
}
