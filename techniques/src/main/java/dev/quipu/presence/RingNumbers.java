package dev.quipu.presence;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.store.AtomicOperations;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/** The numbers of {@link OnlineRing}, by room and bucket. */
final class RingNumbers {
  private static final int ROUNDS_MAX = 100;
  private static final int READS_MAX = 3;

  private final Store store;
  private final AtomicOperations operations;
  private final Window window;

  RingNumbers(Store store, Window window) {
    this.store = store;
    this.operations = store.operations();
    this.window = window;
  }

  Window window() {
    return window;
  }

  Instant now() {
    return Instant.ofEpochMilli(store.clock().epochMillis());
  }

  /** Returns whether markers that existed in the bucket may have expired by now. */
  boolean isLate(long bucket) {
    Instant end = window.start(bucket + 1).plus(window.resolution().dividedBy(2));
    return store.clock().epochMillis() >= end.toEpochMilli();
  }

  /** Counts a session in a bucket. */
  void count(String ring, long bucket) {
    count(ring + ":" + bucket);
  }

  /** Counts a session that may or may not have been counted in a bucket. */
  void countUncertainty(String ring, long bucket) {
    count(uncertainties(ring, bucket));
  }

  /** Adds 1 to a number that may not exist yet. */
  private void count(String key) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      if (operations.incr(key, 1).isPresent()) {
        return;
      }
      operations.add(key, "0", Optional.of(window.time(2 * window.buckets() + 1)));
    }
    throw new NotAppliedException(
        Reason.UNAVAILABLE, "the store loses values immediately after writing them");
  }

  /** Returns the number of sessions of a room. */
  Online online(String room) {
    String ring = ring(room);
    Online read;
    boolean isQuick;
    int reads = 0;
    do {
      long start = store.clock().nanoTime();
      read = read(ring, window.current(store.clock()));
      isQuick = isQuick(store.clock().nanoTime() - start);
    } while (!isQuick && ++reads < READS_MAX);
    return isQuick // else some numbers may have expired before they were read
        ? read
        : Online.incomplete(read.value(), read.from(), read.until());
  }

  private boolean isQuick(long nanos) {
    return nanos <= window.resolution().toNanos() / 2;
  }

  private Online read(String ring, long current) {
    int buckets = window.buckets();
    long oldest = current - 2L * buckets + 1;
    List<String> keys = new ArrayList<>();
    LongStream.range(oldest, current).forEach(bucket -> keys.add(ring + ":" + bucket));
    LongStream.range(oldest, current).forEach(bucket -> keys.add(uncertainties(ring, bucket)));
    List<Long> numbers = numbers(keys);
    int shown = 2 * buckets - 1;
    long value = sum(numbers.subList(buckets - 1, shown));
    long missing = sum(numbers.subList(0, buckets - 1)) + sum(numbers.subList(shown, 2 * shown));
    Instant from = window.start(current - buckets);
    Instant until = window.start(current);
    return store
            .intactSince()
            .isAfter(window.start(oldest)) // queried last, so that it covers all reads
        ? Online.incomplete(value, from, until)
        : new Online(value, value, value + missing, from, until, true);
  }

  private List<Long> numbers(List<String> keys) {
    return operations.getAll(keys).stream()
        .map(each -> each.map(value -> value.number().orElse(0)).orElse(0L))
        .toList();
  }

  private static long sum(List<Long> numbers) {
    return numbers.stream().mapToLong(Long::longValue).sum();
  }

  /** Returns the first part of the keys of a room. */
  String ring(String room) {
    return "online:" + Presence.shortName(room) + ":" + window.shape();
  }

  private static String uncertainties(String ring, long bucket) {
    return ring + ":" + bucket + ":uncertainties";
  }
}
