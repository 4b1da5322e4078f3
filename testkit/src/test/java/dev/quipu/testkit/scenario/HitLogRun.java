package dev.quipu.testkit.scenario;

import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A hit log that is rolled up, swept and edited while it is used. */
final class HitLogRun extends LogRun<HitLog> {
  private static final Duration SETTLE = Duration.ofMinutes(6);
  private static final Duration WINDOW = Duration.ofMinutes(20);
  static final HitLogOptions OPTIONS =
      HitLogOptions.DEFAULT.settling(SETTLE).keeping(WINDOW).summarizingAt(10);

  private final Duration idle;
  private final int busy; // operations before all are idle
  private int operations;
  private long idleUntil;
  private final Set<Request> edited = new HashSet<>(); // one edit of a hit at a time

  HitLogRun(long seed, LinkFaults faults, Duration skew) {
    super(
        new World(seed, faults, skew, World.Limit.NONE),
        SETTLE,
        WINDOW.minus(skew.multipliedBy(2)).minus(SETTLE),
        store ->
            new Both<>(
                new HitLog(store, OPTIONS),
                new HitLog(store, OPTIONS.reading(Consistency.EVENTUAL))));
    this.busy = OPERATIONS / 2 + random.nextInt(OPERATIONS / 2);
    this.idle = seed % 2 == 0 ? WINDOW.multipliedBy(2) : Duration.ZERO;
  }

  /** Pauses all clients: the next roll-up then passes hits that may be swept immediately. */
  @Override
  void rest(Client<Both<HitLog>> client) {
    if (operations++ == busy) {
      idleUntil = nanos() + idle.toNanos();
    }
    if (nanos() < idleUntil) {
      sleep(client, Duration.ofNanos(idleUntil - nanos()));
    }
  }

  @Override
  void maintain(Client<Both<HitLog>> client) {
    HitLog hits = client.own().strong();
    switch (random.nextInt(5)) {
      case 0 -> hits.rollUp(COUNTER);
      case 1 -> hits.sweep(COUNTER);
      case 2, 3 -> hits.rollUpDue();
      default -> edit(client, hits);
    }
  }

  private void edit(Client<Both<HitLog>> client, HitLog hits) {
    Instant now = client.now();
    List<HitLog.Hit> all = hits.hits(COUNTER, now.minus(WINDOW), now);
    if (all.isEmpty()) {
      return;
    }
    HitLog.Hit hit = all.get(random.nextInt(all.size()));
    Optional<Request> request =
        requests.stream()
            .filter(each -> each.add.id() != null && each.add.id().bits().equals(hit.id()))
            .filter(each -> each.isAcked() && !edited.contains(each))
            .findFirst();
    if (request.isEmpty()) {
      return;
    }
    edited.add(request.get());
    long amount = random.nextLong(-3, 8);
    try {
      change(request.get(), amount, () -> hits.edit(COUNTER, hit, amount));
    } finally {
      edited.remove(request.get()); // not if the process is killed: then it stays unknown
    }
  }

  @Override
  void drain(Client<Both<HitLog>> client) {
    long rounds = WINDOW.dividedBy(SETTLE) + 8;
    for (long i = 0; i < rounds; i++) {
      sleep(client, SETTLE);
      client.own().strong().rollUpDue();
    }
    for (String partition : List.of("hits/" + COUNTER, "amounts/" + COUNTER, "hits-due")) {
      int left = ScanDriver.of(world.store).scan(Scan.all(partition)).items().size();
      world.check(left == 0, "%d items stay in %s", left, partition);
    }
  }
}
