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
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Counts online sessions at most once per window, in a ring of numbers that expire. Thread-safe.
 *
 * <pre>{@code
 * ONLINE USERS IN A RING OF KEYS
 *
 * Problem. A page shows how many users are online: distinct sessions that were seen in the last
 * five minutes. There are too many hits to store each of them, and reading the number must cost no
 * more than a cache lookup.
 *
 * Stored. Time is divided into buckets of a minute (any window and any resolution are possible).
 * For each bucket there is the number of sessions that were counted in it, under a key that
 * contains the number of the bucket, so that a key that expires late is not mistaken for that of a
 * new bucket. For each session there is a marker: the bucket in which it was counted last, and
 * whether that is confirmed. For each bucket there is also a number of uncertainties. All of them
 * expire.
 *
 * Protocol of a hit in bucket B, with a window of N buckets.
 *   1. get the marker. If it confirms that the session was counted in one of the last N buckets
 *      including B, the hit is done.
 *   2. Store the marker "B, not sure", with add or cas. If another writer was faster, go to 1.
 *   3. If more than half a bucket has passed since the end of B, it is too late to count, since a
 *      marker may have expired before it was looked up: add 1 to the uncertainties of B instead.
 *      Otherwise incr the number of B; if it is missing, add 0 with an expiry, and incr again.
 *   4. Store the marker "B, sure", with cas.
 *   If the marker is of a later bucket than B, it was stored while this hit was delayed: the
 *   session is not counted in every window that ends with B. So 1 is added to the uncertainties of
 *   B as well.
 *   A marker that is not sure belongs to a hit that is in progress, or that crashed in step 3. A
 *   process that finds one does not count, since the other process may have counted: it adds 1 to
 *   the uncertainties of the bucket in the marker, and confirms the marker.
 *
 * Protocol of a reader in bucket K. Sum up the numbers of the last N buckets before K; bucket K
 * itself is still being filled. If that took longer than half a bucket, read again; after the third
 * such attempt, the result is incomplete.
 *
 * Why it is correct. A session is counted at most once in any N buckets, and only if it was seen,
 * so the sum is never above the actual number of sessions that were seen in these N buckets. It is
 * below that number if a session was seen in the window but was counted before it, less than N
 * buckets earlier; so the shortfall is at most the count of the N - 1 buckets before the window,
 * plus the uncertainties. A session that is seen in every bucket is counted in every window.
 *   With a single bucket (two keys: one is being filled, the other is read) no bucket precedes the
 *   window, so the number is exact, but describes a window that ended up to one window length ago.
 *   With more buckets, the number follows the actual one sooner and more smoothly.
 *
 *   A marker of bucket B expires no sooner than N + 1 buckets after the start of B, so a process
 *   that counts within a bucket and a half finds each marker that forbids it, provided that clocks
 *   differ by less than half a bucket.
 *
 *   A number expires 2N + 1 buckets after it was created, so the oldest number that a reader needs
 *   exists until the end of bucket K + 1: a reader that takes less than half a bucket finds it.
 *
 * Assumptions. The clocks of any two machines, and the clock by which the store expires items,
 * differ by less than half a bucket. Otherwise a reader may miss numbers that have expired, and a
 * session may be counted twice in a window. Pauses of processes and delays of writes do not matter:
 * a late write is counted as an uncertainty, or changes a number that is no longer read.
 *
 * Crash table.
 *   | crash after step | stored                       | then                                |
 *   | 1                | nothing                      | not counted; the next hit counts    |
 *   | 2                | "not sure"                   | the next hit adds an uncertainty    |
 *   | reply to 3 lost  | "not sure", perhaps a count  | the next hit adds an uncertainty    |
 *   | 3                | "not sure", a count          | the next hit adds an uncertainty    |
 *   | data loss        | fewer numbers, fewer markers | incomplete results, for two windows |
 *
 * With the marker in the session of the visitor (OnlineSessions) instead of the store, the caller
 * sends a token that it received with its last counted hit: the time of that hit, signed by the
 * server. Steps 2 and 4 are omitted, and 1 needs no round trip. The numbers of the ring are the
 * same, so both choices may be mixed. A session that loses its token, for example because a reply
 * was lost, is counted again: the number is then too high by the sessions that lost theirs. If the
 * outcome of an incr is unknown, 1 is added to the uncertainties and the session gets its token. A
 * token whose window has passed is that of a session to be counted; one that is malformed, changed,
 * of another room, or more than half a bucket in the future is rejected.
 *
 * Limits. Because the clocks of machines differ, a hit near the edge of a bucket may be counted in
 * the neighboring one. On a store that cannot report data loss, results are never complete.
 *
 * Cost. A hit takes one round trip. Once per window and session it takes five, and the first hit
 * that is counted in a bucket takes two more; on stores other than memcached, each cas takes one
 * more round trip. With the marker in the session, a hit takes no round trip, and one once per
 * window and session. A read takes one round trip on memcached; on other stores it takes one for
 * each of 4N - 2 keys.
 *
 * Source. "Atomic operations and counters in memcached", online counter.
 * }</pre>
 */
public final class OnlineRing implements Presence {
  private static final int ROUNDS_MAX = 100;
  private static final String SURE = "sure";

  private final Store store;
  private final AtomicOperations operations;
  private final Window window;
  private final RingNumbers numbers;
  private final RandomGenerator random;

  /** Creates a counter on a store with expiry, preferably a cache. */
  public OnlineRing(Store store, Window window) {
    this(store, window, Randomness.secure());
  }

  /** Creates a counter with the given source of randomness. */
  public OnlineRing(Store store, Window window, RandomGenerator random) {
    this.store = store;
    this.operations = store.operations();
    this.window = window;
    this.numbers = new RingNumbers(store, window);
    this.random = random;
  }

  /** The content of a marker. */
  private record Mark(long bucket, String word) {
    static Mark of(AtomicOperations.Value value) {
      String[] words = value.text().split(" ", 2);
      try {
        return new Mark(Long.parseLong(words[0]), words[1]);
      } catch (IndexOutOfBoundsException | NumberFormatException e) {
        throw new NotAppliedException(Reason.CORRUPT, "malformed session marker");
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
    String ring = numbers.ring(room);
    String key = "seen:" + Presence.shortName(room, client) + ":" + window.shape();
    long bucket = window.current(store.clock());
    Mark unsure = new Mark(bucket, RequestId.random(random).bits());
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Optional<AtomicOperations.Value> found = operations.get(key);
      Optional<Mark> mark = found.map(Mark::of);
      if (mark.isPresent() && isRecent(mark.get(), bucket)) {
        if (mark.get().bucket > bucket) {
          numbers.countUncertainty(ring, bucket);
        }
        if (mark.get().isSure()) {
          return;
        }
        numbers.countUncertainty(ring, mark.get().bucket);
        makeSure(key, found.get(), mark.get().bucket);
        return;
      }
      if (store(key, unsure, found)) {
        if (numbers.isLate(bucket)) {
          numbers.countUncertainty(ring, bucket);
        } else {
          countAndMakeSure(ring, key, unsure);
        }
        return;
      }
    }
    throw new NotAppliedException(Reason.THROTTLED, "gave up: contention on one session");
  }

  /**
   * Returns whether a session with this marker was counted within the window that ends with this
   * bucket.
   */
  private boolean isRecent(Mark mark, long bucket) {
    return bucket < mark.bucket + window.buckets();
  }

  /** Makes step 2 of the protocol; returns false if another writer was faster. */
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
    numbers.count(ring, unsure.bucket);
    Optional<AtomicOperations.Value> own =
        operations.get(key).filter(value -> Mark.of(value).equals(unsure));
    if (own.isPresent()) {
      makeSure(key, own.get(), unsure.bucket);
    }
  }

  /** Confirms a marker. Best effort: a marker that is not sure costs one uncertainty. */
  private void makeSure(String key, AtomicOperations.Value found, long bucket) {
    Optional<Duration> expiry = Optional.of(window.time(window.buckets() + 1));
    operations.cas(key, new Mark(bucket, SURE).text(), found.version(), expiry);
  }

  @Override
  public Online online(String room) {
    return numbers.online(room);
  }
}
