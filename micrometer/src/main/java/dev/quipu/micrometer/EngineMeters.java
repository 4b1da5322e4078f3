package dev.quipu.micrometer;

import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineStatistics;
import dev.quipu.engine.measure.EngineObserver;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/** The meters of an engine. None of them waits for its disk. */
final class EngineMeters implements EngineObserver {
  private static final double[] GROUP_SIZES = {1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000};

  private final Timer commits;
  private final DistributionSummary changes;
  private final Timer syncs;
  private final Timer checkpoints;
  private final Timer seals;

  private EngineMeters(MeterRegistry registry, Tags tags) {
    this.commits =
        Times.timer("quipu.engine.commits", "Commits of a group of calls, with their sync")
            .tags(tags)
            .register(registry);
    this.changes =
        DistributionSummary.builder("quipu.engine.commit.size")
            .description("Changes in a group of calls")
            .baseUnit("changes")
            .serviceLevelObjectives(GROUP_SIZES)
            .tags(tags)
            .register(registry);
    this.syncs =
        Times.timer("quipu.engine.syncs", "Syncs of the log to the disk")
            .tags(tags)
            .register(registry);
    this.checkpoints =
        Timer.builder("quipu.engine.checkpoints")
            .description("Writing of snapshots")
            .tags(tags)
            .register(registry);
    this.seals =
        Timer.builder("quipu.engine.seals")
            .description("Writing of request ids to files")
            .tags(tags)
            .register(registry);
  }

  @Override
  public void ended(Work work, long size, long nanos) {
    switch (work) {
      case GROUP -> {
        commits.record(nanos, TimeUnit.NANOSECONDS);
        changes.record((double) size);
      }
      case SYNC -> syncs.record(nanos, TimeUnit.NANOSECONDS);
      case CHECKPOINT -> checkpoints.record(nanos, TimeUnit.NANOSECONDS);
      case SEAL -> seals.record(nanos, TimeUnit.NANOSECONDS);
    }
  }

  /** Registers the meters, and measures the engine from now on. */
  static void bind(Engine engine, MeterRegistry registry, Tags tags) {
    engine.observe(new EngineMeters(registry, tags));
    Meters meters = new Meters(engine, registry, tags);
    meters.counter("log.written", "Log written", BaseUnits.BYTES, EngineStatistics::logBytes);
    meters.counter(
        "transactions", "Transactions that were applied", "", EngineStatistics::transactions);
    meters.counter("holds.expired", "Holds that expired", "", EngineStatistics::expiredHolds);
    meters.bytes("log.size", "Log segments on the disk", EngineMeters::segmentBytes);
    meters.bytes("log.replay", "Log that the next start reads", EngineStatistics::replayBytes);
    meters.numbers("counters", "Counters", EngineStatistics::counters);
    meters.numbers(
        "tombstones",
        "Removed counters whose request ids are remembered",
        EngineStatistics::tombstones);
    meters.numbers("items", "Items of the engine as a store", EngineStatistics::items);
    meters.numbers("holds", "Open holds", EngineStatistics::openHolds);
    meters.numbers("ids", "Remembered request ids", EngineStatistics::requestIds);
    meters.numbers("memory.ids", "Request ids in memory", EngineStatistics::requestIdsInMemory);
    meters.numbers(
        "memory.ids.max",
        "Request ids in memory above which they are sealed to files",
        EngineStatistics::requestIdsInMemoryMax);
    meters.numbers("id.files", "Files of request ids", EngineStatistics::idFiles);
    meters.register(
        "running",
        "Whether the engine runs (1), or has stopped on a failure (0)",
        "",
        each -> each.failure().isEmpty() ? 1 : 0);
    meters.register("snapshot.size", "Newest snapshot", BaseUnits.BYTES, EngineMeters::snapshot);
    meters.register(
        "disk.free",
        "Free space of the disk of the directory",
        BaseUnits.BYTES,
        EngineMeters::free);
    Budgets.register(
        registry,
        tags,
        "counters",
        engine,
        each -> each.latestStatistics().memoryBytes(),
        each -> each.latestStatistics().memoryBytesMax());
  }

  private static double segmentBytes(EngineStatistics statistics) {
    return (double) statistics.segments() * statistics.segmentBytes();
  }

  private static double snapshot(Engine engine) {
    try {
      return engine.snapshotBytes();
    } catch (IOException e) { // replaced by a newer one at this moment, or the disk fails
      return Double.NaN;
    }
  }

  private static double free(Engine engine) {
    try {
      return engine.usableBytes();
    } catch (IOException e) {
      return Double.NaN;
    }
  }

  /** Registers gauges and counters of an engine. */
  private record Meters(Engine engine, MeterRegistry registry, Tags tags) {
    void bytes(String name, String description, ToDoubleFunction<EngineStatistics> value) {
      register(
          name, description, BaseUnits.BYTES, each -> value.applyAsDouble(each.latestStatistics()));
    }

    void numbers(String name, String description, ToDoubleFunction<EngineStatistics> value) {
      register(name, description, "", each -> value.applyAsDouble(each.latestStatistics()));
    }

    void counter(
        String name, String description, String unit, ToDoubleFunction<EngineStatistics> value) {
      FunctionCounter.builder(
              "quipu.engine." + name, engine, each -> value.applyAsDouble(each.latestStatistics()))
          .description(description)
          .baseUnit(unit.isEmpty() ? null : unit)
          .tags(tags)
          .register(registry);
    }

    void register(String name, String description, String unit, ToDoubleFunction<Engine> value) {
      Gauge.builder("quipu.engine." + name, engine, value)
          .description(description)
          .baseUnit(unit.isEmpty() ? null : unit)
          .tags(tags)
          .register(registry);
    }
  }
}
