package dev.quipu.presence;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.store.AtomicOperations;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

/*
 * ONLINE USERS IN A RING OF KEYS
 *
 * Problem. A page shows how many are online: distinct sessions seen in the last five minutes. There
 * are too many hits to store them all, and the number must not cost more than a look at a cache.
 *
 * Stored. Time is cut into buckets of a minute (any window, any resolution). Per bucket a number of
 * sessions that were counted in it, under the bucket's own number, so that one that expires late is
 * not taken for a new one. Per session a mark: the bucket in which it was counted last, and whether
 * that is sure. Per bucket a number of uncertainties. All expire.
 *
 * Protocol of a hit in bucket B, of a window of N buckets.
 *   1. get the mark. The session was counted for sure in one of the last N buckets, B among them:
 *      nothing to do.
 *   2. Store the mark "B, not sure", by add or cas. Somebody was faster: go to 1.
 *   3. Half of a bucket after B, it is too late to count: a mark may have expired before it was
 *      looked for. Then 1 is added to the uncertainties of B instead. Else incr the number of B; if it is
 *      not there, add 0 with an expiry, and incr again.
 *   4. Store the mark "B, sure", by cas.
 *   A mark of a later bucket than B was left while this hit took its time: the session is not
 *   counted in any window that ends with B. So 1 is added to the uncertainties of B as well.
 *   A mark that is not sure was left by a hit that is under way, or died at 3. Whoever finds it
 *   does not count, since the other may have: it adds 1 to the uncertainties of the mark's bucket, and
 *   marks the session as sure.
 *
 * Protocol of a reader in bucket K. The numbers of the last N buckets before K, added up: K itself
 * is still being filled. If that took longer than half of a bucket, again; the third time, it is
 * not complete.
 *
 * Why it is right. A session is counted at most once in any N buckets, and only if it was there: so
 * the sum is never above the truth, which is the number of sessions seen in these N buckets. It is
 * below where a session was seen, but had been counted less than N buckets before, and that before
 * the window: so what is missing is at most what was counted in the N - 1 buckets before the
 * window, and the uncertainties. A session that is seen in every bucket is counted in every window.
 *   With one bucket only (two keys: one is filled, one is shown) nothing precedes the window, so
 *   the number is the truth; but it is the truth of a window that ended up to N minutes ago. More
 *   buckets follow sooner, and go up and down more smoothly.
 *
 *   A mark of bucket B expires no sooner than N + 1 buckets after B began, so whoever counts within
 *   a bucket and a half finds each mark that forbids it, by clocks that differ by less than half.
 *
 *   A number expires 2N + 1 buckets after it was begun, so the oldest that a reader needs is there
 * until K + 1 has passed: a reader that takes less than half of a bucket finds it, if it was there.
 *
 * Assumptions. The clocks of two machines, and the time by which the store expires, differ by less
 * than half of a bucket. Beyond that, a reader may miss numbers that expired, and a session may be
 * counted twice in a window. It makes no difference how long a process stands still, or how late a
 * write is: what is late is an uncertainty, or comes to a number that nobody reads any more.
 *
 * Crash table.
 *   | broken off after | stored                        | then                                  |
 *   | 1                | nothing                       | not counted; the next hit counts      |
 *   | 2                | "not sure"                    | the next hit adds an uncertainty             |
 *   | reply to 3 lost  | "not sure", perhaps a count   | the next hit adds an uncertainty             |
 *   | 3                | "not sure", a count           | the next hit adds an uncertainty             |
 *   | something is lost | fewer numbers, fewer marks   | told: not complete, for two windows   |
 *
 * What it does not promise. By how much the clocks of two machines differ, hits move between
 * buckets. A store that cannot tell whether it lost something is never complete.
 *
 * Cost. A hit: one round trip; once a window and session four. A reader: one on memcached, and
 * elsewhere one for each of 4N - 2 keys.
 *
 * Source. "Atomic operations and counters in memcached", online counter.
 */

/** Counts sessions once per window, in a ring of numbers that expire. Thread-safe. */
public final class OnlineRing implements Presence {
  private static final int ROUNDS_MAX = 100;
  private static final int READS_MAX = 3;
  private static final String SURE = "sure";

  private final Store store;
  private final AtomicOperations operations;
  private final Window window;
  private final RandomGenerator random;

  /** On a store that expires, at best a cache. */
  public OnlineRing(Store store, Window window) {
    this(store, window, Randomness.secure());
  }

  /** As the other, with the caller's chance. */
  public OnlineRing(Store store, Window window, RandomGenerator random) {
    this.store = store;
    this.operations = store.operations();
    this.window = window;
    this.random = random;
  }

  /** What a mark says. */
  private record Mark(long bucket, String word) {
    static Mark of(AtomicOperations.Value value) {
      String[] words = value.text().split(" ", 2);
      try {
        return new Mark(Long.parseLong(words[0]), words[1]);
      } catch (IndexOutOfBoundsException | NumberFormatException e) {
        throw new NotAppliedException(Reason.CORRUPT, "a mark of a session is not of Quipu");
      }
    }

    boolean isSure() {
      return word.equals(SURE);
    }

    String text() {
      return bucket + " " + word;
    }
  }

  @Override
  public void seen(String room, String client) {
    String ring = ring(room);
    String key = "seen:" + Presence.shortName(room, client) + ":" + window.shape();
    long bucket = window.current(store.clock());
    Mark unsure = new Mark(bucket, RequestId.random(random).bits());
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Optional<AtomicOperations.Value> found = operations.get(key);
      Optional<Mark> mark = found.map(Mark::of);
      if (mark.isPresent() && isRecent(mark.get(), bucket)) {
        if (mark.get().bucket > bucket) {
          count(uncertainties(ring, bucket));
        }
        if (mark.get().isSure()) {
          return;
        }
        count(uncertainties(ring, mark.get().bucket));
        makeSure(key, found.get(), mark.get().bucket);
        return;
      }
      if (store(key, unsure, found)) {
        if (isLate(bucket)) {
          count(uncertainties(ring, bucket));
        } else {
          countAndMakeSure(ring, key, unsure);
        }
        return;
      }
    }
    throw new NotAppliedException(Reason.THROTTLED, "others came first to one session");
  }

  /** Whether a session with this mark was counted within the window that ends with this bucket. */
  private boolean isRecent(Mark mark, long bucket) {
    return bucket < mark.bucket + window.buckets();
  }

  /** Whether marks that were there in the bucket may have expired by now. */
  private boolean isLate(long bucket) {
    Instant end = window.start(bucket + 1).plus(window.resolution().dividedBy(2));
    return store.clock().epochMillis() >= end.toEpochMilli();
  }

  /** Protocol 2; false if somebody was faster. */
  private boolean store(String key, Mark mark, Optional<AtomicOperations.Value> found) {
    Optional<Duration> expiry = Optional.of(window.time(window.buckets() + 1));
    try {
      return found.isEmpty()
          ? operations.add(key, mark.text(), expiry)
          : operations.cas(key, mark.text(), found.get().version(), expiry);
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        throw e;
      }
      return operations.get(key).map(Mark::of).equals(Optional.of(mark));
    }
  }

  private void countAndMakeSure(String ring, String key, Mark unsure) {
    count(ring + ":" + unsure.bucket);
    Optional<AtomicOperations.Value> own =
        operations.get(key).filter(value -> Mark.of(value).equals(unsure));
    if (own.isPresent()) {
      makeSure(key, own.get(), unsure.bucket);
    }
  }

  /** It makes no difference whether this is done: a mark that is not sure costs an uncertainty. */
  private void makeSure(String key, AtomicOperations.Value found, long bucket) {
    Optional<Duration> expiry = Optional.of(window.time(window.buckets() + 1));
    operations.cas(key, new Mark(bucket, SURE).text(), found.version(), expiry);
  }

  /** Adds 1 to a number that may not be there yet. */
  private void count(String key) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      if (operations.incr(key, 1).isPresent()) {
        return;
      }
      operations.add(key, "0", Optional.of(window.time(2 * window.buckets() + 1)));
    }
    throw new NotAppliedException(Reason.UNAVAILABLE, "the store loses what it is told at once");
  }

  @Override
  public Online online(String room) {
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
    return store.intactSince().isAfter(window.start(oldest)) // asked last: it covers what was read
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

  private String ring(String room) {
    return "online:" + Presence.shortName(room) + ":" + window.shape();
  }

  private static String uncertainties(String ring, long bucket) {
    return ring + ":" + bucket + ":uncertainties";
  }
}
