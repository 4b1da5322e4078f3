package dev.quipu.testkit.scenario;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.HoldReading;
import dev.quipu.HoldReading.State;
import dev.quipu.HoldRequest;
import dev.quipu.HoldRequest.Excess;
import dev.quipu.HoldRequest.Late;
import dev.quipu.HoldResult;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.simulation.steps.SimProcess;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.technique.MarkerItem;
import dev.quipu.transaction.StoredHolds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One seed of holds: their clients are killed, repeat what others have asked for, and settle late;
 * sweepers are paused for longer than holds live; the clocks of all processes jump.
 */
final class HoldRun {
  private static final List<String> COUNTERS = List.of("day", "month", "team");
  private static final long FUNDS = 20;
  private static final int OPERATIONS = 250;
  private static final int AMOUNT_MAX = 6;
  private static final Duration TTL_MAX = Duration.ofMinutes(3);
  private static final Duration SKEW = Duration.ofMinutes(2);
  private static final Bounds NOT_NEGATIVE = Bounds.atLeast(0);

  private final HoldLedger ledger = new HoldLedger();
  private final MemoryDriver memory = new MemoryDriver();
  private final World world;
  private final List<HoldRequest> requests = new ArrayList<>();
  private final Map<RequestId, HoldLedger.Asked> asked = new HashMap<>();
  private int operations;
  private boolean isOver;

  private HoldRun(long seed) {
    world =
        new World(
            seed, LinkFaults.ALL.repeating(0.01), SKEW, (driver, time) -> ledger.over(memory));
    ledger.record(memory, world.scheduler::nowNanos);
  }

  /** Runs a seed; returns the violations. */
  static List<String> run(long seed) {
    HoldRun run = new HoldRun(seed);
    return run.world.checked(run::run);
  }

  private void run() {
    for (String counter : COUNTERS) {
      memory.write(
          new Write.Update(
              new Key("counter/" + counter, "value"),
              List.of(new Change.Add(Item.VALUE, FUNDS)),
              Condition.always()));
      ledger.watch(counter);
    }
    for (int i = 0; i < 3; i++) {
      StoredHolds[] holds = new StoredHolds[1];
      SimProcess[] self = new SimProcess[1];
      boolean isSweeper = i == 2;
      world.process(
          isSweeper ? 1 : 3,
          store -> {
            holds[0] = open(store);
            self[0] = (SimProcess) store.clock();
          },
          () -> {
            if (isSweeper) {
              sweep(holds[0], self[0]);
            } else {
              client(holds[0], self[0]);
            }
          });
    }
    world.run();
    world.calmly(this::settle);
  }

  private StoredHolds open(Store store) {
    return new StoredHolds(new MarkerItem(store, world.random), store, world.random);
  }

  // ---- processes

  private void sweep(StoredHolds holds, SimProcess self) {
    while (operations < OPERATIONS && world.violations.isEmpty()) {
      World.quietly(holds::releaseExpired);
      jump(self);
      self.sleep(world.scheduler.upTo(Duration.ofSeconds(30)));
    }
  }

  private void jump(SimProcess self) {
    if (world.random.nextInt(20) == 0) {
      self.skew(world.scheduler.upTo(SKEW.multipliedBy(2)).minus(SKEW));
    }
  }

  private void client(StoredHolds holds, SimProcess self) {
    while (operations++ < OPERATIONS && world.violations.isEmpty()) {
      int kind = world.random.nextInt(100);
      World.quietly(() -> {
        if (kind < 40 || requests.isEmpty()) {
          place(holds, newRequest());
        } else {
          step(holds, requests.get(world.random.nextInt(requests.size())), kind);
        }
      });
      jump(self);
      self.sleep(world.scheduler.upTo(Duration.ofSeconds(10)));
    }
  }

  private HoldRequest newRequest() {
    Map<String, Long> amounts = new TreeMap<>();
    for (int i = 0; i < 1 + world.random.nextInt(2); i++) {
      String counter = COUNTERS.get(world.random.nextInt(COUNTERS.size()));
      amounts.put(counter, 1 + world.random.nextLong(AMOUNT_MAX));
    }
    List<Add> adds = new ArrayList<>();
    amounts.forEach((counter, amount) -> adds.add(new Add(counter, -amount, NOT_NEGATIVE, null)));
    RequestId id = RequestId.of("hold-" + requests.size());
    long millis = HoldRequest.TTL_MIN.toMillis() + world.random.nextLong(TTL_MAX.toMillis());
    Late late = world.random.nextBoolean() ? Late.APPLY : Late.REJECT;
    Excess excess = world.random.nextBoolean() ? Excess.ALLOW : Excess.REJECT;
    HoldRequest request = new HoldRequest(id, adds, Duration.ofMillis(millis), late, excess);
    requests.add(request);
    asked.put(id, new HoldLedger.Asked(id, amounts, late == Late.APPLY));
    return request;
  }

  private HoldLedger.Asked asked(HoldRequest request) {
    HoldLedger.Asked known = asked.get(request.id());
    if (known == null) {
      throw new IllegalStateException("never asked for: " + request.id());
    }
    return known;
  }

  private void step(StoredHolds holds, HoldRequest request, int kind) {
    boolean wasPlaced = asked(request).placedFirst > 0;
    if (kind < 55) {
      place(holds, request);
    } else if (kind < 75) {
      settleOnce(holds, request, wasPlaced);
    } else if (kind < 85) {
      known(request, wasPlaced, holds.release(request.id()), null, State.RELEASED);
    } else if (kind < 95) {
      Duration ttl = Duration.ofSeconds(1 + world.random.nextInt(100));
      known(request, wasPlaced, holds.extend(request.id(), ttl), null, State.OPEN);
    } else {
      holds.find(request.id()).ifPresent(found -> read(request, found));
    }
  }

  private void place(StoredHolds holds, HoldRequest request) {
    long start = world.scheduler.nowNanos();
    HoldResult result = holds.place(request);
    if (result instanceof HoldResult.Rejected rejected) {
      long amount = amount(request, rejected.counter());
      long lowest = ledger.lowestSince(rejected.counter(), start);
      world.check(
          lowest < amount,
          "%s of %d on %s was rejected, and there were always %d",
          request.id(),
          amount,
          rejected.counter(),
          lowest);
      return;
    }
    known(request, false, result, null, State.OPEN);
    if (result instanceof HoldResult.Done done && !done.isReplayed()) {
      world.check(++asked(request).placedFirst == 1, "%s was placed twice", request.id());
    }
  }

  private static long amount(HoldRequest request, String counter) {
    return request.adds().stream()
        .filter(add -> add.counter().equals(counter))
        .mapToLong(add -> -add.delta())
        .sum();
  }

  /** Settles for one of two amounts, so that repeats differ sometimes. */
  private void settleOnce(StoredHolds holds, HoldRequest request, boolean wasPlaced) {
    Map<String, Long> kept = new TreeMap<>();
    boolean isMore = world.random.nextInt(4) == 0;
    for (Add add : request.adds()) {
      kept.put(add.counter(), isMore ? add.delta() - 1 : (add.delta() + 1) / 2);
    }
    long[] deltas = request.adds().stream().mapToLong(add -> kept.get(add.counter())).toArray();
    long start = world.scheduler.nowNanos();
    HoldResult result = holds.settle(request.id(), Settlement.of(kept));
    switch (result) {
      case HoldResult.Exceeded exceeded ->
          world.check(
              isMore && request.excess() == Excess.REJECT, "%s: %s", request.id(), exceeded);
      case HoldResult.Rejected rejected -> {
        long most = amount(request, rejected.counter()) + 1;
        world.check(
            ledger.lowestSince(rejected.counter(), start) < most,
            "the settlement of %s on %s was rejected, and there was enough",
            request.id(),
            rejected.counter());
      }
      default -> known(request, wasPlaced, result, deltas, State.SETTLED);
    }
  }

  /** Checks the answer to a call against all earlier ones. */
  private void known(
      HoldRequest request,
      boolean wasPlaced,
      HoldResult result,
      long @Nullable [] kept,
      State expected) {
    switch (result) {
      case HoldResult.Done done -> {
        State state = done.hold().state();
        boolean isPlacement = expected == State.OPEN; // or an extension
        world.check(
            state == expected || (isPlacement && done.isReplayed()),
            "%s is %s, not %s",
            request.id(),
            state,
            expected);
        if (expected == State.SETTLED) {
          ended(request, State.SETTLED, kept);
        }
        read(request, done.hold());
      }
      case HoldResult.Closed closed -> read(request, closed.hold());
      case HoldResult.NotFound missing ->
          world.check(!wasPlaced, "%s was placed and is not found", request.id());
      default -> world.violation("%s: %s", request.id(), result);
    }
  }

  private void read(HoldRequest request, HoldReading hold) {
    if (hold.state() == State.OPEN) {
      return;
    }
    long @Nullable [] kept =
        hold.state() == State.SETTLED
            ? hold.counters().stream().mapToLong(part -> part.settled().orElseThrow()).toArray()
            : null;
    ended(request, hold.state(), kept);
  }

  private void ended(HoldRequest request, State state, long @Nullable [] kept) {
    String contradiction = asked(request).endedAs(state, kept, !isOver);
    world.check(contradiction == null, "%s", String.valueOf(contradiction));
  }

  // ---- in the end

  /** After all holds have expired nothing is held, and what was spent is what callers settled. */
  private void settle(Store store) {
    StoredHolds holds = open(store);
    ((SimProcess) store.clock()).sleep(TTL_MAX.plus(SKEW.multipliedBy(2)));
    holds.releaseExpired();
    isOver = true;
    for (String counter : COUNTERS) {
      world.check(ledger.number(counter, "held") == 0, "%s still holds", counter);
      world.check(ledger.number(counter, "holds") == 0, "%s has open holds", counter);
      world.check(holds.list(counter, null, 10).isEmpty(), "%s lists holds", counter);
      Scan entries = Scan.all("holds/counter/" + counter);
      world.check(memory.scan(entries).items().isEmpty(), "%s has entries", counter);
    }
    Map<String, Long> spent = new TreeMap<>();
    for (HoldRequest request : requests) {
      holds.find(request.id()).ifPresent(found -> read(request, found));
      HoldLedger.Asked end = asked(request);
      world.check(end.placedFirst == 0 || end.ended != null, "%s has not ended", request.id());
      for (int i = 0; end.kept != null && i < end.kept.length; i++) {
        spent.merge(request.adds().get(i).counter(), end.kept[i], Long::sum);
      }
    }
    for (String counter : COUNTERS) {
      long expected = FUNDS + spent.getOrDefault(counter, 0L);
      world.check(
          ledger.value(counter) == expected,
          "%s is %d, and callers settled %d of %d",
          counter,
          ledger.value(counter),
          FUNDS - expected,
          FUNDS);
    }
    world.check(ledger.lowest() >= 0, "a counter was overspent: %d", ledger.lowest());
  }
}
