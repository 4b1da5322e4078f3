package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.time.Randomness;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import software.amazon.awssdk.services.dynamodb.model.Record;

/**
 * Delivers the records of a stream worse than DynamoDB does. Each shard is split several times, and
 * the first records of a child are the last ones of its parent once more. Children are delivered
 * before their parents; only the records of one item keep their order within a shard. A batch is
 * repeated after a failure, from the first failed record on, after a crash of the function, and
 * because a shard is read again from an earlier position.
 */
final class ReshardedStream {
  private static final int GENERATIONS = 4; // 2, 4, 8 and 16 shards
  private static final int OVERLAP = 20;
  private static final int BATCH_MAX = 100;
  private static final double CRASHED = 0.05;
  private static final double REPLAYED = 0.15;
  private static final int REWIND_MAX = BATCH_MAX;

  private final List<Position> shards = new ArrayList<>(); // that are not being delivered now
  private final int shardCount;
  private final long seed;
  private final LongAdder deliveries = new LongAdder();
  private final LongAdder replays = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder crashes = new LongAdder();

  /** The function: returns the sequence numbers of failed records; empty if it crashed. */
  interface Function {
    Optional<Set<String>> invoke(List<Record> batch) throws Exception;
  }

  /** What is left of a shard. */
  private record Position(List<Record> records, int next) {}

  ReshardedStream(List<Record> records, long seed) {
    this.seed = seed;
    List<List<Record>> before = List.of();
    for (int generation = 0; generation < GENERATIONS; generation++) {
      int count = 2 << generation;
      List<List<Record>> now = new ArrayList<>();
      for (int shard = 0; shard < count; shard++) {
        List<Record> parent = before.isEmpty() ? List.of() : before.get(shard / 2);
        List<Record> child = new ArrayList<>();
        now.add(child);
        for (Record each : parent.subList(Math.max(0, parent.size() - OVERLAP), parent.size())) {
          if (shard(each, count) == shard) {
            child.add(each);
          }
        }
      }
      int from = (int) ((long) records.size() * generation / GENERATIONS);
      int until = (int) ((long) records.size() * (generation + 1) / GENERATIONS);
      for (Record each : records.subList(from, until)) {
        now.get(shard(each, count)).add(each);
      }
      now.forEach(shard -> shards.add(new Position(shard, 0)));
      before = now;
    }
    shardCount = shards.size();
    Collections.shuffle(shards, Randomness.seeded(seed));
  }

  /** Returns the number of the shard by the highest bits of a hash: a split divides by the next. */
  private static int shard(Record record, int count) {
    int bits = record.dynamodb().keys().toString().hashCode() * 0x9E3779B9;
    return (int) ((Integer.toUnsignedLong(bits) * count) >>> 32);
  }

  /** Delivers all shards, in random order, and as many at a time as there are workers. */
  void deliverTo(Function function, int workers) throws Exception {
    try (ExecutorService executor = Executors.newFixedThreadPool(workers)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < workers; i++) {
        RandomGenerator random = Randomness.seeded(seed + i);
        running.add(
            executor.submit(() -> {
              deliver(function, random);
              return null;
            }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
  }

  private void deliver(Function function, RandomGenerator random) throws Exception {
    for (Optional<Position> at = take(random); at.isPresent(); at = take(random)) {
      int next = after(at.get(), function, random);
      if (next < at.get().records.size()) {
        synchronized (this) {
          shards.add(new Position(at.get().records, next));
        }
      }
    }
  }

  private synchronized Optional<Position> take(RandomGenerator random) {
    return shards.isEmpty()
        ? Optional.empty()
        : Optional.of(shards.remove(random.nextInt(shards.size())));
  }

  private int after(Position at, Function function, RandomGenerator random) throws Exception {
    int until = Math.min(at.records.size(), at.next + 1 + random.nextInt(BATCH_MAX));
    List<Record> batch = at.records.subList(at.next, until);
    deliveries.increment();
    Optional<Set<String>> failed = function.invoke(batch);
    if (failed.isEmpty() || random.nextDouble() < CRASHED) {
      crashes.increment();
      return at.next;
    }
    for (int i = 0; i < batch.size(); i++) {
      if (failed.get().contains(batch.get(i).dynamodb().sequenceNumber())) {
        failures.increment();
        return at.next + i;
      }
    }
    assertTrue(failed.get().isEmpty(), "a failure of a record that was not delivered");
    if (random.nextDouble() < REPLAYED) {
      replays.increment();
      return Math.max(0, at.next - random.nextInt(REWIND_MAX));
    }
    return until;
  }

  long replays() {
    return replays.sum();
  }

  long failures() {
    return failures.sum();
  }

  @Override
  public String toString() {
    return "%d shards of %d generations, %d batches, %d replays, %d crashes, %d partial failures"
        .formatted(
            shardCount,
            GENERATIONS,
            deliveries.sum(),
            replays.sum(),
            crashes.sum(),
            failures.sum());
  }
}
