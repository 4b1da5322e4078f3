package dev.quipu.testkit.scenario;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.region.RegionalCollection;
import dev.quipu.simulation.steps.SimProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * One seed of a collection of changes that several regions write and merge, with an oracle that
 * knows all requests and their results. Requests are repeated in any region, and regions are cut
 * off.
 */
final class CollectionRun {
  private static final int OPERATIONS = 220;
  private static final int REGIONS = 3;
  private static final int[] PACES = {10, 120, 480}; // maximum seconds between two operations
  private static final Duration REPEATED = Duration.ofMinutes(10); // no operations after this
  private static final Duration WINDOW =
      Duration.ofMinutes(25); // and the maximum delay of a repeat
  private static final Duration CALL_MAX = Duration.ofMinutes(10);
  private static final int MERGES_MAX = 60;

  private final RegionWorld world;
  private final RandomGenerator random;
  private final Duration pace;
  private final List<Change> changes = new ArrayList<>();
  private int operations;

  /** A request, and what clients know about it. */
  private static final class Change {
    final Add add;
    final long sentNanos;
    boolean isAcked;
    boolean isVoid; // it certainly has no effect

    Change(Add add, long sentNanos) {
      this.add = add;
      this.sentNanos = sentNanos;
    }
  }

  private CollectionRun(long seed) {
    this.world = new RegionWorld(seed, REGIONS, Bounds.none());
    this.random = world.random;
    this.pace = Duration.ofSeconds(PACES[random.nextInt(PACES.length)]);
  }

  /** Runs a seed; returns the violations. */
  static List<String> run(long seed) {
    CollectionRun run = new CollectionRun(seed);
    return run.world.checked(run::run);
  }

  private void run() {
    for (int region = 0; region < REGIONS; region++) {
      for (int i = 0; i < 2; i++) {
        world.process(region, this::clients);
      }
    }
    SimProcess weather = world.beside();
    weather.start(() -> {
      while (!isOver()) {
        world.cutOff(random.nextInt(REGIONS));
        weather.sleep(Duration.ofSeconds(random.nextInt(120)));
        world.heal();
        weather.sleep(Duration.ofSeconds(random.nextInt(120)));
      }
    });
    world.run();
    if (world.violations.isEmpty()) {
      world.calm();
      world.process(0, process -> process.start(() -> settle(process, collection(process))));
      world.run();
    }
  }

  private boolean isOver() {
    return operations >= OPERATIONS || !world.violations.isEmpty();
  }

  private RegionalCollection collection(RegionWorld.Region process) {
    return new RegionalCollection(process.regions(), random);
  }

  private void clients(RegionWorld.Region process) {
    RegionalCollection collection = collection(process);
    for (int i = 0; i < 2; i++) {
      process.start(() -> {
        while (!isOver()) {
          operation(collection);
          process.pause(pace);
        }
      });
    }
  }

  private void operation(RegionalCollection collection) {
    operations++;
    long start = world.nowNanos();
    try {
      int what = random.nextInt(100);
      List<Change> known = changes.stream().filter(this::mayRepeat).toList();
      if (what < 15) {
        read(collection);
      } else if (what < 35) {
        collection.merge(RegionWorld.COUNTER, WINDOW);
      } else if (what < 65 || known.isEmpty()) {
        add(collection, newChange());
      } else if (what < 92) {
        add(collection, known.get(random.nextInt(known.size())));
      } else {
        ask(collection, known.get(random.nextInt(known.size())));
      }
    } catch (QuipuException e) {
      // the outcome is unknown, and the oracle does not need it
    }
    Duration took = Duration.ofNanos(world.nowNanos() - start);
    world.check(took.compareTo(CALL_MAX) <= 0, "a call took %s", took);
  }

  private boolean mayRepeat(Change change) {
    return change.add.id() != null && world.nowNanos() < change.sentNanos + REPEATED.toNanos();
  }

  private Change newChange() {
    long size = 1L + random.nextInt(6);
    RequestId id = random.nextInt(4) == 0 ? null : RequestId.of("request-" + changes.size());
    long delta = random.nextBoolean() ? size : -size;
    Change change = new Change(new Add(RegionWorld.COUNTER, delta, id), world.nowNanos());
    changes.add(change);
    return change;
  }

  private void add(RegionalCollection collection, Change change) {
    AddResult result;
    try {
      result = collection.add(change.add);
    } catch (QuipuException e) {
      change.isVoid |= change.add.id() == null && e.outcome() == Outcome.NOT_APPLIED;
      throw e;
    }
    boolean isThere = result instanceof AddResult.Applied || result instanceof AddResult.Replayed;
    world.check(isThere, "%s: %s", change.add, result);
    change.isAcked = true;
  }

  private void ask(RegionalCollection collection, Change change) {
    boolean wasAcked = change.isAcked;
    RequestOutcome outcome =
        collection.outcome(RegionWorld.COUNTER, Optional.ofNullable(change.add.id()).orElseThrow());
    if (outcome instanceof RequestOutcome.Applied applied) {
      world.check(applied.added() == change.add.delta(), "%s: %s", change.add, applied);
      change.isAcked = true;
    } else {
      world.check(!wasAcked, "%s is not seen", change.add);
    }
  }

  private void read(RegionalCollection collection) {
    Set<Change> decided = changes.stream().filter(each -> each.isAcked).collect(Collectors.toSet());
    long sum = decided.stream().mapToLong(each -> each.add.delta()).sum();
    Reading reading = collection.read(RegionWorld.COUNTER).orElse(Reading.exact(0));
    long low = sum;
    long high = sum;
    for (Change each : changes) {
      if (!decided.contains(each) && !each.isVoid) {
        low += Math.min(0, each.add.delta());
        high += Math.max(0, each.add.delta());
      }
    }
    world.check(
        reading.low() <= high && reading.high() >= low,
        "read %s, and the value was in %d..%d",
        reading,
        low,
        high);
  }

  /** Checks that everything known counts, here and everywhere, and is merged into sums. */
  private void settle(RegionWorld.Region process, RegionalCollection collection) {
    for (Change change : List.copyOf(changes)) {
      if (mayRepeat(change)) {
        add(collection, change);
      }
    }
    process.sleep(WINDOW);
    world.table.settle();
    checkAtRest(collection);
    int left = 1;
    for (int merge = 0; merge < MERGES_MAX && left > 0; merge++) {
      collection.merge(RegionWorld.COUNTER, WINDOW);
      world.table.settle();
      checkAtRest(collection);
      left = world.items("change/");
    }
    world.check(left == 0, "%d changes are not merged", left);
  }

  private void checkAtRest(RegionalCollection collection) {
    read(collection);
    Reading reading = collection.read(RegionWorld.COUNTER).orElse(Reading.exact(0));
    world.check(reading.uncertainties().isEmpty(), "at rest, but the value is %s", reading);
    long here = collection.readHere(RegionWorld.COUNTER).orElse(0L);
    world.check(here == reading.value(), "%d here, and %s everywhere", here, reading);
  }
}
