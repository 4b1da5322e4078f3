package dev.quipu.testkit.scenario;

import dev.quipu.Counters;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.display.CacheFirst;
import dev.quipu.display.DisplayCounters;
import dev.quipu.display.DisplayReading;
import dev.quipu.display.DurableFirst;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.simulation.steps.SimProcess;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.technique.MarkerItem;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Views of one page, shown from a cache that is lost now and then. */
final class DisplayRun extends SharedRun<DisplayRun.Process> {
  private static final String PAGE = "page";
  private static final int UNFLUSHED_MAX = 5;
  static final Duration AGE = Duration.ofSeconds(20);
  private static final Duration SLEEP = Duration.ofMinutes(1);

  private final boolean isCacheFirst;
  private final long skewNanos;
  private final LosingCache memory;
  private final List<View> views = new ArrayList<>();
  private int losses;

  /** One view. */
  private static final class View {
    long answered = Long.MAX_VALUE;
  }

  /** The state of a process. */
  record Process(DisplayCounters shown, Optional<CacheFirst> cacheFirst, Counters durable) {}

  /** Loses all its data, or is unreachable for a while. */
  private static final class LosingCache extends ForwardingDriver {
    private MemoryDriver memory = new MemoryDriver();
    private boolean isAway;

    void lose() {
      memory = new MemoryDriver();
    }

    @Override
    protected StoreDriver driver() {
      if (isAway) {
        throw new NotAppliedException(Reason.UNAVAILABLE, "simulated: the cache is unreachable");
      }
      return memory;
    }

    @Override
    public StoreProfile profile() {
      return memory.profile();
    }

    @Override
    public Instant intactSince() {
      return Instant.MAX; // not known
    }
  }

  DisplayRun(long seed, boolean isCacheFirst, LinkFaults faults, Duration skew) {
    this(
        new World(seed, faults, skew, World.Limit.NONE),
        isCacheFirst,
        faults,
        skew,
        new LosingCache());
  }

  private DisplayRun(
      World world, boolean isCacheFirst, LinkFaults faults, Duration skew, LosingCache memory) {
    super(world, SLEEP, store -> open(world, store, isCacheFirst, faults, memory));
    this.isCacheFirst = isCacheFirst;
    this.skewNanos = skew.toNanos();
    this.memory = memory;
  }

  private static Process open(
      World world, Store durable, boolean isCacheFirst, LinkFaults faults, LosingCache memory) {
    SimProcess process = (SimProcess) durable.clock();
    Store cache = world.store(process, memory, faults.repeating(0));
    Counters counters = new MarkerItem(durable, world.random);
    if (isCacheFirst) {
      CacheFirst shown =
          new CacheFirst(cache.operations(), durable, counters, UNFLUSHED_MAX, world.random);
      return new Process(shown, Optional.of(shown), counters);
    }
    DurableFirst shown = new DurableFirst(cache.operations(), counters, process, AGE, world.random);
    return new Process(shown, Optional.empty(), counters);
  }

  @Override
  void operation(Client<Process> client) {
    int kind = random.nextInt(100);
    if (kind < 55) {
      view(client);
    } else if (kind < 88) {
      read(client);
    } else if (kind < 96) {
      client.own().cacheFirst.ifPresent(CacheFirst::writeBack);
    } else if (kind < 98) {
      memory.isAway = true;
      world.scheduler.after(world.scheduler.upTo(SLEEP), () -> memory.isAway = false);
    } else {
      memory.lose();
      losses++;
    }
  }

  private void view(Client<Process> client) {
    View view = new View();
    views.add(view);
    try {
      client.own().shown.view(PAGE, Optional.empty());
      view.answered = nanos();
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        views.remove(view);
      }
      throw e;
    }
  }

  private long answered(long before) {
    return views.stream().filter(view -> view.answered < before).count();
  }

  private DisplayReading read(Client<Process> client) {
    long start = nanos() - (isCacheFirst ? 0 : AGE.toNanos() + 2 * skewNanos);
    DisplayReading reading =
        client.own().shown.read(PAGE).orElse(new DisplayReading(0, 0, 0, client.now()));
    long least = answered(start);
    boolean isOrdered = reading.low() <= reading.value() && reading.value() <= reading.high();
    world.check(
        isOrdered && reading.low() <= views.size() && reading.high() >= least,
        "%s, and it was in %d..%d",
        reading,
        least,
        views.size());
    return reading;
  }

  @Override
  void settle(Client<Process> client) {
    sleep(client, AGE.plusNanos(2 * skewNanos));
    for (int i = 0; i < 3; i++) {
      client.own().cacheFirst.ifPresent(CacheFirst::writeBack);
    }
    DisplayReading reading = read(client);
    long durably = client.own().durable.read(PAGE).map(Reading::value).orElse(0L);
    long answered = answered(Long.MAX_VALUE);
    world.check(
        durably <= views.size() && durably >= answered - (long) UNFLUSHED_MAX * losses,
        "%d views are durable, of %d to %d, after %d losses",
        durably,
        answered,
        views.size(),
        losses);
    world.check(isCacheFirst || durably >= answered, "%d of %d are durable", durably, answered);
    world.check(
        isCacheFirst || reading.value() == durably, "%s, and %d are durable", reading, durably);
  }
}
